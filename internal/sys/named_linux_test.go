package sys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func countMappings(t *testing.T) int {
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return strings.Count(string(maps), "\n")
}

func names(t *testing.T, dir string) (out []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestNeitherWayOfMakingAFileLeavesAName(t *testing.T) {
	dir := t.TempDir()
	for _, fs := range []FS{OS(), Named()} {
		f, err := fs.OpenTemp(dir)
		require.NoError(t, err)
		require.Empty(t, names(t, dir))
		fd := f.(*linuxFile).fd
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		require.NoError(t, err)
		require.NotZero(t, flags&unix.FD_CLOEXEC)
		var st unix.Stat_t
		require.NoError(t, unix.Fstat(fd, &st))
		require.EqualValues(t, 0o600, st.Mode&0o777)
		require.Zero(t, st.Nlink)
		require.NoError(t, f.Close())
	}
}

// proc refuses O_TMPFILE, and files too: the fallback is tried and its error
// comes out.
func TestRefusedTmpfileFallsBack(t *testing.T) {
	_, err := OS().OpenTemp("/proc")
	require.ErrorIs(t, err, unix.ENOENT)
	require.True(t, tmpfileRefused(unix.EISDIR))
	require.True(t, tmpfileRefused(unix.EOPNOTSUPP))
	require.True(t, tmpfileRefused(unix.EINVAL))
	require.False(t, tmpfileRefused(unix.ENOSPC))
	require.False(t, tmpfileRefused(nil))
}

func TestTheFirstNamedFileSweeps(t *testing.T) {
	dir := t.TempDir()
	fs := Named()
	require.NoError(t, os.WriteFile(filepath.Join(dir, tempName()), nil, 0o600))
	f, err := fs.OpenTemp(dir)
	require.NoError(t, err)
	require.Empty(t, names(t, dir))
	require.NoError(t, f.Close())
}

func TestInterruptedCallsAreRepeated(t *testing.T) {
	calls := 0
	require.Equal(t, unix.ENOSPC, retry(func() error {
		if calls++; calls < 4 {
			return unix.EINTR
		}
		return unix.ENOSPC
	}))
	require.Equal(t, 4, calls)
}

func TestSweepTakesDeadNamesOnly(t *testing.T) {
	dir := t.TempDir()
	touch := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	dead, living := tempName(), tempName()
	touch(dead)
	held, err := os.Open(touch(living))
	require.NoError(t, err)
	defer held.Close()
	require.NoError(t, lock(int(held.Fd())))
	touch("spillway-0123.tmp")
	touch("other")
	link := tempName()
	require.NoError(t, os.Symlink(filepath.Join(dir, "other"), filepath.Join(dir, link)))
	sweep(dir)
	require.ElementsMatch(t, []string{living, "spillway-0123.tmp", "other", link}, names(t, dir))
	require.NoError(t, held.Close())
	sweep(dir)
	require.ElementsMatch(t, []string{"spillway-0123.tmp", "other", link}, names(t, dir))
}
