//go:build !race

package allocator

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

// filesFS remembers the files that it made, so that a test can truncate them
// under their mappings.
type filesFS struct {
	sys.FS
	mu    sync.Mutex
	files []sys.File
}

func (fs *filesFS) OpenTemp(dir string) (sys.File, error) {
	f, err := fs.FS.OpenTemp(dir)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err == nil {
		fs.files = append(fs.files, f)
	}
	return f, err
}

func (fs *filesFS) truncate(t *testing.T) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.files {
		require.NoError(t, f.Truncate(0))
	}
	fs.files = nil
}

// TestFilesAreTruncated by somebody while their extents are idle: whoever gets
// one next gets another, in a new file, and rows stay where they were.
func TestFilesAreTruncated(t *testing.T) {
	fs := &filesFS{FS: sys.OS()}
	a, err := Open(Options{MaxRAM: 256 * kib, MaxMmap: 8 * mib, MaxDisk: off, FS: fs, Dirs: []string{t.TempDir()}})
	require.NoError(t, err)
	o := newOwner(t, a, Limits{})
	x := newTable(t, o, Limits{})
	y := newTable(t, o, Limits{RAM: Disabled})
	y.fill(t, 512*kib)
	y.Free()
	ids := x.fill(t, 128*kib)
	require.Zero(t, x.held(Mmap))

	fs.truncate(t)
	_, err = x.Arena.moveDown()
	require.ErrorIs(t, err, sys.ErrFault)
	require.Zero(t, x.held(Mmap))
	x.check(t, ids)
	n, err := x.Arena.moveDown()
	require.NoError(t, err, "in another file")
	require.NotZero(t, n)

	z := newTable(t, newOwner(t, a, Limits{RAM: Disabled}), Limits{})
	mem, err := z.AllocIndex(64 * kib)
	require.NoError(t, err)
	z.FreeIndex(mem)
	fs.truncate(t)
	mem, err = z.AllocIndex(64 * kib)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 64*kib), mem)
	z.FreeIndex(mem)
	require.NotZero(t, a.Stats().Pool.Faults)
	for _, s := range []*table{x, z} {
		s.Free()
	}
	require.NoError(t, a.Close())
}
