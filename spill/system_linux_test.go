package spill

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/spillway-db/spillway/internal/sys"
)

// These tests meet the real system: small devices, limits of the process,
// files that somebody damages, kill -9. What would damage the test process is
// done in a child, which is the test binary with childVar set.

const childVar, dirVar = "SPILL_TEST_CHILD", "SPILL_TEST_DIR"

var children = map[string]func(dir string){}

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childVar)]; child != nil {
		child(os.Getenv(dirVar))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func childCmd(name, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+name, dirVar+"="+dir)
	return cmd
}

// runChild runs a child to its end; it panics if something is wrong.
func runChild(t *testing.T, name string) {
	out, err := childCmd(name, t.TempDir()).CombinedOutput()
	require.NoError(t, err, string(out))
}

// mount mounts a tmpfs, which only root may.
func mount(t *testing.T, bytes int) string {
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes))
	if err != nil {
		t.Skipf("cannot mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, 0)) })
	return dir
}

func freeBytes(t *testing.T, dir string) int64 {
	d, err := sys.OS().Stat(dir)
	require.NoError(t, err)
	return d.Free
}

// onDisk makes a pool on the real system, whatever the build.
func onDisk(t *testing.T, o Options) *Pool {
	if o.FS == nil {
		o.FS = sys.OS()
	}
	p, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func TestAFullDeviceIsAnErrorAndNeverAFault(t *testing.T) {
	dir := mount(t, 5*mib+64*kib)
	for _, fs := range []sys.FS{sys.OS(), sys.Named()} {
		free := freeBytes(t, dir)
		p := onDisk(t, Options{Dirs: []string{dir}, FS: fs})
		var held []Extent
		for {
			e, err := p.Acquire(64 * kib)
			if err != nil {
				require.ErrorIs(t, err, ErrNoSpace)
				require.ErrorIs(t, err, unix.ENOSPC)
				require.ErrorContains(t, err, dir)
				break
			}
			fillBytes(e.Bytes(), 7)
			held = append(held, e)
		}
		require.Greater(t, len(held), 70, "nearly all of it was had")
		settled(t, p, func(s Stats) bool { return s.Used == free-freeBytes(t, dir) })
		for _, e := range held {
			require.Equal(t, byte(7), e.Bytes()[100])
			p.Release(e)
		}
		require.NoError(t, p.Trim())
		require.Equal(t, free, freeBytes(t, dir))
		require.NoError(t, p.Close())
	}
}

func fillBytes(mem []byte, b byte) {
	for i := range mem {
		mem[i] = b
	}
}

func TestAFailedAllocateLeavesTheDeviceAsItWas(t *testing.T) {
	dir := mount(t, 3*mib)
	free := freeBytes(t, dir)
	p := onDisk(t, Options{Dirs: []string{dir}})
	_, err := p.Acquire(4 * mib)
	require.ErrorIs(t, err, ErrNoSpace)
	require.Equal(t, free, freeBytes(t, dir))
	require.Zero(t, p.Stats().Files)
}

func TestTheReserveOfARealDevice(t *testing.T) {
	dir := mount(t, 6*mib)
	p := onDisk(t, Options{Dirs: []string{dir}, Reserve: 4 * mib})
	e := acquire(t, p, mib)
	_, err := p.Acquire(2 * mib)
	require.ErrorIs(t, err, ErrReserve)
	require.GreaterOrEqual(t, freeBytes(t, dir), int64(4*mib))
	p.Release(e)
}

func TestTheNextDirectoryWhenOneIsFull(t *testing.T) {
	small, large := mount(t, 2*mib), t.TempDir()
	p := onDisk(t, Options{Dirs: []string{small, large}})
	require.NoError(t, p.Prewarm(context.Background(), 4*mib))
	require.NoError(t, p.Trim())
}

// files are the temporary files that this process has open in dir.
func files(t *testing.T, dir string) (out []string) {
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, fd := range fds {
		link := filepath.Join("/proc/self/fd", fd.Name())
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, dir+"/") {
			out = append(out, link)
		}
	}
	return out
}

func store(p *Pool, e Extent, b byte) (err error) {
	defer sys.Recover(&err, p, debug.SetPanicOnFault(true))
	fillBytes(e.Bytes(), b)
	return nil
}

func TestATruncatedFileIsAnErrorAndIsSetAside(t *testing.T) {
	dir := t.TempDir()
	p := onDisk(t, Options{Dirs: []string{dir}, FileSize: mib, Rest: Off})
	e, other := acquire(t, p, MinExtent), acquire(t, p, MinExtent)
	require.NoError(t, store(p, e, 1))
	settled(t, p, func(Stats) bool { return p.space.Ready(MinExtent) })
	require.Len(t, files(t, dir), 1)
	require.NoError(t, os.Truncate(files(t, dir)[0], 0))
	require.ErrorIs(t, store(p, e, 2), sys.ErrFault)
	st := p.Stats()
	require.EqualValues(t, 1, st.Faults)
	require.Equal(t, 1, st.BadFiles)
	require.Zero(t, st.Idle)
	p.Release(e)
	f := acquire(t, p, MinExtent)
	require.NoError(t, store(p, f, 3), "the others get good memory")
	p.Release(other)
	require.Zero(t, p.Stats().BadFiles)
	p.Release(f)
}

func TestATruncatedFileIsNotMadeLongerAgain(t *testing.T) {
	dir := t.TempDir()
	p := onDisk(t, Options{Dirs: []string{dir}, FileSize: mib})
	e := acquire(t, p, MinExtent)
	settled(t, p, func(Stats) bool { return p.space.Ready(MinExtent) })
	require.NoError(t, os.Truncate(files(t, dir)[0], 0))
	f := acquire(t, p, mib/2) // cold, and out of reach
	require.NoError(t, store(p, f, 3))
	require.Equal(t, 1, p.Stats().BadFiles)
	require.ErrorIs(t, store(p, e, 2), sys.ErrFault)
	p.Release(e)
	p.Release(f)
}

func TestAHolePunchedOnAFullDeviceIsAnError(t *testing.T) {
	dir := mount(t, 2*mib)
	p := onDisk(t, Options{Dirs: []string{dir}, FileSize: mib, Limit: mib})
	e := acquire(t, p, mib)
	f, err := os.OpenFile(files(t, dir)[0], os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, mib/2))
	require.NoError(t, f.Close())
	filler, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, filler.Close())
	require.ErrorIs(t, store(p, e, 1), sys.ErrFault)
	p.Release(e)
	require.Zero(t, p.Stats().Files)
}

func TestMappingsStayOutOfDumpsAndChildren(t *testing.T) {
	p := onDisk(t, Options{Dirs: []string{t.TempDir()}, NoDump: true, NoFork: true})
	e := acquire(t, p, mib)
	flags := vmFlags(t, fmt.Sprintf("%x-", address(e.Bytes())))
	require.Contains(t, flags, "dd") // VM_DONTDUMP, proc(5)
	require.Contains(t, flags, "dc") // VM_DONTCOPY
	p.Release(e)
}

// vmFlags are those of the mapping that starts at prefix in smaps.
func vmFlags(t *testing.T, prefix string) []string {
	f, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer f.Close()
	found := false
	for s := bufio.NewScanner(f); s.Scan(); {
		found = found || strings.HasPrefix(s.Text(), prefix)
		if flags, ok := strings.CutPrefix(s.Text(), "VmFlags:"); ok && found {
			return strings.Fields(flags)
		}
	}
	require.Fail(t, "no such mapping")
	return nil
}

func TestDirectoriesThatCannotBeUsed(t *testing.T) {
	gone := t.TempDir()
	p := onDisk(t, Options{Dirs: []string{gone}, FileSize: mib})
	e := acquire(t, p, mib)
	require.NoError(t, os.Remove(gone))
	f, err := p.Acquire(mib)
	if err == nil { // the worker had made one more
		p.Release(f)
		f = acquire(t, p, mib)
		_, err = p.Acquire(mib)
		p.Release(f)
	}
	require.ErrorIs(t, err, ErrDir)
	require.ErrorIs(t, err, unix.ENOENT)
	require.NoError(t, store(p, e, 1), "what is open stays usable")
	p.Release(e)
	require.NoError(t, p.Close())

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = onDisk(t, Options{Dirs: []string{file}}).Acquire(mib)
	require.ErrorIs(t, err, ErrDir)
}

func init() {
	children["fsize"] = func(dir string) {
		check(unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 3 * mib, Max: 3 * mib}))
		p := must(Open(Options{FS: sys.OS(), Dirs: []string{dir}}))
		var held []Extent
		for range 10 {
			held = append(held, must(p.Acquire(mib)))
			fillBytes(held[len(held)-1].Bytes(), 1)
		}
		_, err := p.Acquire(4 * mib)
		expect(err, ErrFileSize, unix.EFBIG)
		for _, e := range held {
			p.Release(e)
		}
		check(p.Close())
	}
	children["nofile"] = func(dir string) {
		p := must(Open(Options{FS: sys.OS(), Dirs: []string{dir}, FileSize: mib}))
		check(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 12, Max: 12}))
		var held []Extent
		for {
			e, err := p.Acquire(mib)
			if err != nil {
				expect(err, ErrTooManyFiles, unix.EMFILE)
				break
			}
			held = append(held, e)
		}
		for _, e := range held {
			p.Release(e)
		}
		check(p.Close())
	}
	children["kill"] = func(dir string) { spillForever(sys.OS(), dir) }
	children["kill-named"] = func(dir string) { spillForever(sys.Named(), dir) }
}

func expect(err error, targets ...error) {
	for _, target := range targets {
		if !errors.Is(err, target) {
			panic(fmt.Sprintf("%v is not %v", err, target))
		}
	}
}

func TestTheFileSizeLimitOfTheProcess(t *testing.T) { runChild(t, "fsize") }

func TestTooManyFiles(t *testing.T) { runChild(t, "nofile") }

// spillForever makes and drops files until it is killed.
func spillForever(fs sys.FS, dir string) {
	fmt.Println("ready")
	for {
		p := must(Open(Options{FS: fs, Dirs: []string{dir}, FileSize: mib}))
		for range 3 {
			fillBytes(must(p.Acquire(mib)).Bytes(), 1)
		}
		p.Release(must(p.Acquire(mib)))
		check(p.Close())
	}
}

// Killed at any moment, a process leaves no space taken, and no name but the
// one of the moment between making a file and unlinking it, which the next
// process sweeps.
func TestKillLeavesNothing(t *testing.T) {
	for name, next := range map[string]func() sys.FS{"kill": sys.OS, "kill-named": sys.Named} {
		dir := mount(t, 64*mib)
		free := freeBytes(t, dir)
		for range 10 {
			killChild(t, name, dir)
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.LessOrEqual(t, len(entries), 1)
			p := onDisk(t, Options{FS: next(), Dirs: []string{dir}, FileSize: mib})
			p.Release(acquire(t, p, mib))
			require.NoError(t, p.Close())
			entries, err = os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, entries)
			require.Equal(t, free, freeBytes(t, dir))
		}
	}
}

func killChild(t *testing.T, name, dir string) {
	cmd := childCmd(name, dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	for freeBytes(t, dir) > 62*mib { // it is at work
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
}
