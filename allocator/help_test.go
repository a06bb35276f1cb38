package allocator

import (
	"encoding/binary"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	off = -1 // no such tier
)

// open makes an Allocator over a Faulty of the build's default system, and
// checks at the end that nothing was left.
func open(t *testing.T, o Options) (*Allocator, *sys.Faulty) {
	t.Helper()
	fs := sys.NewFaulty(sys.Default())
	o.FS, o.Dirs = fs, []string{t.TempDir()}
	before := runtime.NumGoroutine()
	a, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		fs.Heal()
		require.NoError(t, a.Close())
		noneLeft(t, a, fs)
		for i := 0; runtime.NumGoroutine() > before; i++ {
			require.Less(t, i, 1000, "goroutines are left")
			time.Sleep(time.Millisecond)
		}
	})
	return a, fs
}

// noneLeft checks that every counter of a closed Allocator is zero.
func noneLeft(t *testing.T, a *Allocator, fs *sys.Faulty) {
	t.Helper()
	s := a.Stats()
	require.Zero(t, s.RAM)
	require.Zero(t, s.Idle)
	require.Zero(t, s.Cache)
	require.Zero(t, s.Heap)
	require.Equal(t, [numTiers]int64{}, s.Tables)
	require.Equal(t, [numTiers]TierBytes{}, s.Bytes)
	require.Zero(t, s.Pool.Used)
	require.Zero(t, s.Disk.Bytes)
	require.Equal(t, s.Count.Taken(), s.Count.Freed)
	files, mappings := fs.Live()
	require.Zero(t, files)
	require.Zero(t, mappings)
}

// table is a Space with the lock of a table.
type table struct {
	Space
	mu sync.Mutex
}

func (t *table) TryLock() bool { return t.mu.TryLock() }
func (t *table) Unlock()       { t.mu.Unlock() }

func newOwner(t *testing.T, a *Allocator, l Limits) *Owner {
	t.Helper()
	o, err := a.NewOwner("session", a.Root(), l)
	require.NoError(t, err)
	return o
}

func newTable(t *testing.T, o *Owner, l Limits) *table {
	t.Helper()
	x := new(table)
	require.NoError(t, x.Init(o, "t1", l, x))
	return x
}

// lone is an Allocator with one table, which is freed at the end.
func lone(t *testing.T, o Options, l Limits) (*Allocator, *table) {
	t.Helper()
	a, _ := open(t, o)
	x := newTable(t, newOwner(t, a, Limits{}), l)
	t.Cleanup(x.Free)
	return a, x
}

// row makes n bytes that tell where they came from. The first 2 are the length
// in units of 8, so that no row looks like the end of a page.
func row(seed, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(seed*31 + i)
	}
	binary.LittleEndian.PutUint16(p, uint16(n/8))
	return p
}

// fill appends n bytes in rows of 1 KiB.
func (t *table) fill(tb testing.TB, n int) (ids []RowID) {
	tb.Helper()
	for i := 0; i*kib < n; i++ {
		id, err := t.Arena.Append(row(i, kib))
		require.NoError(tb, err)
		ids = append(ids, id)
	}
	return ids
}

// check reads the rows that fill has appended.
func (t *table) check(tb testing.TB, ids []RowID) {
	tb.Helper()
	var pin Pin
	defer pin.Unpin()
	for i, id := range ids {
		mem, err := t.Arena.Read(id, &pin)
		require.NoError(tb, err)
		require.Equal(tb, row(i, kib), mem[:kib])
	}
}

func (t *table) held(tier Tier) int64 { return t.Stats(nil).Bytes[tier].Total() }
