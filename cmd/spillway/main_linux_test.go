package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestExitNoSpace(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	defer func() { require.NoError(t, unix.Unmount(dir, 0)) }()
	r := run(t, with(quick, "--max-ram", "4MiB", "--dir", dir)...)
	require.Equal(t, 4, r.code, r.stderr)
	require.Contains(t, r.stderr, "fill and map a file of 4194304 bytes in "+dir)
	require.Contains(t, r.stderr, "is in RAM (tmpfs)")
	require.Empty(t, r.stdout)
	r = run(t, "union", "--mode", "disk", "--count", "1", "--spill-ram", "128KiB", "--dir", dir)
	require.Equal(t, 4, r.code, r.stderr)
	require.Contains(t, r.stderr, "disk: union: temptable: insert row ")
	require.Contains(t, r.stderr, "reserve of free disk space reached in "+dir)
	var st unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &st))
	require.Equal(t, st.Blocks, st.Bfree, "space is lost")
}
