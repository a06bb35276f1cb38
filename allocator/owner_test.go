package allocator

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOwnersNest(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: mib, MaxMmap: off, MaxDisk: off})
	session := newOwner(t, a, Limits{})
	query, err := a.NewOwner("query", session, Limits{})
	require.NoError(t, err)
	require.Equal(t, "session/query", query.Path())
	x := newTable(t, query, Limits{})
	x.fill(t, 8*kib)
	require.Equal(t, int64(8*kib), session.Used(RAM))
	require.Equal(t, int64(8*kib), query.Used(RAM))
	require.Same(t, session, a.Root().Child())
	require.Same(t, query, session.Child())
	require.Equal(t, Lock(x), query.Table())
	require.Nil(t, session.Table())
	x.Free()
	require.Zero(t, session.Used(RAM))
	require.Equal(t, int64(8*kib), session.Peak(RAM))
	require.Nil(t, query.Table())
}

func TestSealedOwner(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: mib, MaxMmap: off, MaxDisk: off})
	o := newOwner(t, a, Limits{})
	x := newTable(t, o, Limits{})
	x.fill(t, 4*kib)
	o.Seal()
	_, err := a.NewOwner("query", o, Limits{})
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, new(Space).Init(o, "t2", Limits{}, nil), ErrClosed)
	x.Free()
	require.Zero(t, o.idleBytes(), "a sealed owner keeps nothing")
	o.Remove()
	o.Remove()
	require.Nil(t, a.Root().Child())
}

func TestRemoveAnyChild(t *testing.T) {
	for gone := range 3 {
		a, _ := open(t, Options{MaxRAM: mib, MaxMmap: off, MaxDisk: off})
		var all []*Owner
		for range 3 {
			all = append(all, newOwner(t, a, Limits{}))
		}
		all[gone].Seal()
		all[gone].Remove()
		seen := map[*Owner]bool{}
		for o := a.root.child; o != nil; o = o.next {
			seen[o] = true
		}
		for i, o := range all {
			require.Equal(t, i != gone, seen[o])
		}
	}
}

// TestIdleBlocks: an owner keeps a few small blocks and no more, and whoever is
// at the limit gets them.
func TestIdleBlocks(t *testing.T) {
	a, fs := open(t, Options{MaxRAM: 256 * kib, MaxMmap: off, MaxDisk: off})
	o := newOwner(t, a, Limits{})
	for range 3 {
		x := newTable(t, o, Limits{})
		x.fill(t, 128*kib)
		x.Free()
		require.LessOrEqual(t, o.idleBytes(), int64(112*kib))
		require.Equal(t, int64(1), a.keepers.n.Load())
		require.Equal(t, a.Stats().RAM, a.Stats().Idle)
	}
	before := fs.Calls()
	x := newTable(t, o, Limits{})
	x.fill(t, 128*kib)
	require.Zero(t, fs.Calls().Sub(before).Total(), "system calls")
	x.Free()

	big := newTable(t, newOwner(t, a, Limits{}), Limits{})
	var b Block
	require.NoError(t, big.take(&b, 256*kib, 256*kib))
	require.Zero(t, o.idleBytes())
	require.Zero(t, a.keepers.n.Load())
	big.give(b, Rows)
	big.Free()
}

func TestRemovedOwnerIsNoKeeper(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: mib, MaxMmap: off, MaxDisk: off})
	for range 100 {
		o := newOwner(t, a, Limits{})
		x := newTable(t, o, Limits{})
		x.fill(t, 4*kib)
		x.Free()
		o.Seal()
		o.Remove()
	}
	require.Zero(t, a.keepers.n.Load())
	require.Nil(t, a.keepers.first)
}

func TestLimitsOfOwnersAndTables(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: mib, MaxMmap: off, MaxDisk: off})
	session := newOwner(t, a, Limits{RAM: 24 * kib})
	query, err := a.NewOwner("query", session, Limits{RAM: 16 * kib})
	require.NoError(t, err)
	x, y, z := newTable(t, query, Limits{RAM: 8 * kib}), newTable(t, query, Limits{}), newTable(t, session, Limits{})
	refuses := func(s *table, kind error, level string, used int64) {
		t.Helper()
		var b Block
		err := s.take(&b, Page, Page)
		require.ErrorIs(t, err, kind)
		var e *LimitError
		require.ErrorAs(t, err, &e)
		require.Equal(t, level, e.Level)
		require.Equal(t, used, e.Used)
		require.Equal(t, used, e.Limit)
	}
	x.fill(t, 8*kib)
	refuses(x, ErrTableLimit, "t1", 8*kib)
	y.fill(t, 8*kib)
	refuses(y, ErrOwnerLimit, "query", 16*kib)
	z.fill(t, 8*kib)
	refuses(z, ErrOwnerLimit, "session", 24*kib)
	require.Equal(t, int64(24*kib), session.Peak(RAM))
	require.Equal(t, int64(16*kib), query.Peak(RAM))

	query.SetLimits(Limits{RAM: 20 * kib})
	refuses(y, ErrOwnerLimit, "session", 24*kib)
	x.SetLimits(Limits{RAM: Disabled})
	refuses2 := x.take(new(Block), Page, Page)
	require.ErrorIs(t, refuses2, ErrTableLimit)
	session.SetLimits(Limits{RAM: Unlimited})
	y.fill(t, 4*kib)
	for _, s := range []*table{x, y, z} {
		s.Free()
	}
	require.Zero(t, session.Used(RAM))
	require.Zero(t, query.Used(RAM))
}

// TestSessionsComeAndGo has owners made, used, flushed and removed at the same
// time.
func TestSessionsComeAndGo(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: 256 * kib, MaxMmap: mib, MaxDisk: mib})
	var wg sync.WaitGroup
	for k := range 6 {
		wg.Go(func() {
			for i := range 60 {
				o, err := a.NewOwner("s", a.Root(), Limits{})
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					x := new(table)
					if err := x.Init(o, "t", Limits{}, x); err != nil {
						t.Error(err)
						return
					}
					x.mu.Lock()
					for range (i + k) % 40 {
						if _, err := x.Arena.Append(row(i, kib)); err != nil {
							t.Error(err)
						}
					}
					if mem, err := x.AllocIndex(8 * kib); err == nil {
						x.FreeIndex(mem)
					}
					x.Free()
				}
				a.Stats()
				o.Seal()
				o.Remove()
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, a.Stats().RAMPeak, int64(256*kib))
	require.Nil(t, a.Root().Child())
}
