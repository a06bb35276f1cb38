package spill

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/spillway-db/spillway/internal/sys"
)

// loop makes a file system of its own in a file and mounts it. It skips where
// that is not allowed or the tools are missing.
func loop(t *testing.T, bytes int64, mkfs string, args ...string) string {
	image := filepath.Join(t.TempDir(), "image")
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	require.NoError(t, os.Truncate(image, bytes))
	if out, err := exec.Command(mkfs, append(args, image)...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v %s", mkfs, err, out)
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount %s: %v %s", mkfs, err, out)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, 0)) })
	return dir
}

// On every file system a mapping that was handed out can be written again and
// again while the device is full, though the kernel has written it back.
func TestExtentsStayWritableOnAFullDevice(t *testing.T) {
	for _, c := range []struct {
		fs, how string
		bytes   int64
		args    []string
	}{
		{"ext4", "allocated", 32 * mib, []string{"-q"}},
		{"xfs", "allocated", 320 * mib, []string{"-q"}},
		{"btrfs", "allocated, copy-on-write off", 48 * mib, []string{"-q", "--mixed"}},
	} {
		t.Run(c.fs, func(t *testing.T) {
			dir := loop(t, c.bytes, "mkfs."+c.fs, c.args...)
			p := onDisk(t, Options{Dirs: []string{dir}})
			require.NoError(t, p.Prewarm(context.Background(), mib))
			e := acquire(t, p, 256*kib) // a full btrfs needs 10 ms a page
			st := p.Stats().Dirs[0]
			require.Equal(t, []string{c.fs, c.how}, []string{st.Type, st.How})
			fillUp(t, dir)
			_, err := p.Acquire(MaxExtent)
			require.ErrorIs(t, err, ErrNoSpace)
			for b := range byte(3) {
				require.NoError(t, store(p, e, b))
				syncDir(t, dir)
			}
			p.Release(e)
			require.NoError(t, p.Close())
		})
	}
}

// syncDir has the file system of dir write everything back.
func syncDir(t *testing.T, dir string) {
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, unix.Syncfs(int(d.Fd())))
}

// fillUp leaves dir's device without a free block.
func fillUp(t *testing.T, dir string) {
	f, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	defer f.Close()
	end := int64(0)
	for step := int64(256 * mib); step >= 64*kib; step /= 2 {
		for unix.Fallocate(int(f.Fd()), 0, end, step) == nil {
			end += step
		}
	}
	_, err = f.Seek(end, 0)
	for err == nil {
		_, err = f.Write(make([]byte, 4*kib))
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	_ = f.Sync()
}

// ext4 keeps what a failed fallocate got; the pool gives it back.
func TestAFailedAllocateOnExt4GivesItsPartBack(t *testing.T) {
	dir := loop(t, 16*mib, "mkfs.ext4", "-q", "-b", "4096")
	p := onDisk(t, Options{Dirs: []string{dir}})
	e := acquire(t, p, mib)
	settled(t, p, func(Stats) bool { return p.space.Ready(mib) })
	require.NoError(t, p.SetLimit(Off))
	filler, err := sys.OS().OpenTemp(dir)
	require.NoError(t, err)
	require.NoError(t, filler.Allocate(0, freeBytes(t, dir)-3*mib))
	free := freeBytes(t, dir)
	_, err = p.Acquire(8 * mib)
	require.ErrorIs(t, err, ErrNoSpace)
	require.InDelta(t, free, freeBytes(t, dir), 64*kib, "but for metadata")
	require.EqualValues(t, 2*mib, p.Stats().Used)
	require.NoError(t, filler.Close())
	p.Release(e)
}
