package allocator

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

// TestTiersInTheirOrder: RAM to the reserve, then mapped files, then disk; what
// does not fit becomes smaller first; and of the RAM half of the reserve at the
// very end.
func TestTiersInTheirOrder(t *testing.T) {
	a, x := lone(t, Options{MaxRAM: 256 * kib, MaxMmap: 128 * kib, MaxDisk: 64 * kib}, Limits{})
	ids := x.fill(t, 300*kib)
	// 256 - 32 for two frames - 32 for buffers
	require.Equal(t, int64(192*kib), x.held(RAM))
	require.NotZero(t, x.held(Mmap))
	require.Zero(t, x.held(Disk))
	st := x.Stats(nil)
	require.Contains(t, st.Reached[Mmap].Reason, "RAM limit reached: engine has 224.0 KiB in use of 256.0 KiB in ram")
	require.Equal(t, int64(1), a.Stats().ReachedMmap)

	ids = append(ids, x.more(t, len(ids), 84*kib)...)
	require.Equal(t, [3]int64{192 * kib, 128 * kib, 64 * kib}, [3]int64{x.held(RAM), x.held(Mmap), x.held(Disk)})
	require.Contains(t, x.Stats(nil).Reached[Disk].Reason, "mmap limit reached")
	ids = append(ids, x.more(t, len(ids), 16*kib)...)
	require.Equal(t, int64(208*kib), x.held(RAM))
	_, err := x.Arena.Append(row(0, kib))
	require.ErrorIs(t, err, ErrDiskLimit)
	require.NotErrorIs(t, err, ErrMmapLimit)
	x.check(t, ids)
	s := a.Stats()
	require.LessOrEqual(t, s.RAM, int64(256*kib)) // the cache takes what is left
	require.Equal(t, int64(128*kib), s.Pool.Used)
	require.Equal(t, int64(64*kib), s.Disk.Bytes)
	require.Positive(t, s.Count.HitEngine)
	require.Positive(t, s.Count.HitMmap)
	require.Positive(t, s.Count.HitDisk)
	require.Equal(t, int64(1), s.ReachedDisk)
}

// more goes on where fill ended.
func (t *table) more(tb testing.TB, from, n int) (ids []RowID) {
	tb.Helper()
	for i := from; i < from+n/kib; i++ {
		id, err := t.Arena.Append(row(i, kib))
		require.NoError(tb, err)
		ids = append(ids, id)
	}
	return ids
}

// TestErrorsNameWhoRefused, and the largest holders.
func TestErrorsNameWhoRefused(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: 64 * kib, MaxMmap: off, MaxDisk: off})
	o := newOwner(t, a, Limits{})
	var all []*table
	for _, n := range []int{4, 8, 16, 24} {
		x := newTable(t, o, Limits{})
		x.acct.name = map[int]string{4: "small", 8: "medium", 16: "large", 24: "huge"}[n]
		x.fill(t, n*kib)
		all = append(all, x)
	}
	require.NoError(t, a.ChargeHeap(4*kib))
	_, err := all[0].Arena.Append(row(1, 4*kib))
	var e *LimitError
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, ErrRAMLimit)
	require.Equal(t, "allocator: RAM limit reached: engine: ram limit 65536 B, in use 65536 B, asked for 4096 B; "+
		"most have huge of session (32768 B), large of session (16384 B), medium of session (8192 B)", err.Error())
	require.Len(t, e.Holders, 3)
	a.RefundHeap(4 * kib)
	for _, x := range all {
		x.Free()
	}
}

// TestCausesPassThrough: each cause that a lower tier may have is told apart.
func TestCausesPassThrough(t *testing.T) {
	for _, c := range []struct {
		op   sys.Op
		err  syscall.Errno
		want error
	}{
		{sys.OpAllocate, syscall.ENOSPC, ErrNoSpace},
		{sys.OpAllocate, syscall.EDQUOT, ErrQuota},
		{sys.OpAllocate, syscall.EFBIG, ErrFileSize},
		{sys.OpOpen, syscall.EMFILE, ErrTooManyFiles},
		{sys.OpOpen, syscall.EROFS, ErrDir},
		{sys.OpMap, syscall.ENOMEM, ErrTooManyMaps},
		{sys.OpAllocate, syscall.EIO, ErrIO},
	} {
		for _, tier := range []Tier{Mmap, Disk} {
			if tier == Disk && c.op == sys.OpMap {
				continue
			}
			o := Options{MaxRAM: 64 * kib, MaxMmap: off, MaxDisk: mib}
			if tier == Mmap {
				o.MaxMmap, o.MaxDisk = mib, off
			}
			a, fs := open(t, o)
			x := newTable(t, newOwner(t, a, Limits{}), Limits{RAM: Disabled})
			fs.FailAll(c.op, c.err)
			_, err := x.Arena.Append(row(1, kib))
			require.ErrorIs(t, err, c.want)
			require.ErrorIs(t, err, c.err, "the errno")
			var e *LimitError
			require.ErrorAs(t, err, &e)
			require.Equal(t, tier, e.Tier)
			require.True(t, strings.Contains(err.Error(), "/"), "no directory in %v", err)
			x.Free()
		}
	}
}

func TestReserveOfTheDevice(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: 64 * kib, MaxMmap: mib, MaxDisk: mib, Reserve: 1 << 62})
	x := newTable(t, newOwner(t, a, Limits{}), Limits{RAM: Disabled})
	_, err := x.Arena.Append(row(1, kib))
	require.ErrorIs(t, err, ErrReserve)
	x.Free()
}

// TestNextTierWhereOneIsOutOfOrder: no failure of a tier is an error while
// there is a lower one.
func TestNextTierWhereOneIsOutOfOrder(t *testing.T) {
	for _, op := range []sys.Op{sys.OpMap, sys.OpAnon} {
		a, fs := open(t, Options{MaxRAM: 64 * kib, MaxMmap: mib, MaxDisk: mib})
		x := newTable(t, newOwner(t, a, Limits{}), Limits{})
		if op == sys.OpMap {
			x.SetLimits(Limits{RAM: Disabled})
		}
		fs.FailAll(op, syscall.ENOMEM)
		x.check(t, x.fill(t, 40*kib))
		x.Free()
	}
}

func TestAskingForNonsense(t *testing.T) {
	_, x := lone(t, Options{MaxRAM: mib, MaxMmap: mib, MaxDisk: mib}, Limits{})
	for _, n := range []int{0, 8, Page + 1, 3 * Page, 2 * MaxBlock} {
		_, err := x.AllocIndex(n)
		require.ErrorIs(t, err, ErrSize)
	}
	require.ErrorIs(t, x.ChargeHeap(1<<30), ErrRAMLimit)
}

func TestOpenRefuses(t *testing.T) {
	_, err := Open(Options{MaxRAM: MinRAM - 1})
	require.ErrorIs(t, err, ErrRAMLimit)
	_, err = Open(Options{MaxRAM: MinRAM, MaxMmap: 1, Dirs: []string{""}})
	require.Error(t, err)
	fs := sys.NewFaulty(sys.Default())
	fs.FailAll(sys.OpAnon, syscall.ENOMEM)
	_, err = Open(Options{MaxRAM: MinRAM, MaxMmap: 1, MaxDisk: 1, FS: fs})
	require.Error(t, err)
	files, mappings := fs.Live()
	require.Zero(t, files+mappings)
}

func TestNoTier(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: MinRAM, MaxMmap: off, MaxDisk: off})
	require.ErrorIs(t, a.SetMaxMmap(1), ErrNoTier)
	require.ErrorIs(t, a.SetMaxDisk(1), ErrNoTier)
	require.ErrorIs(t, a.SetMaxRAM(1), ErrRAMLimit)
	require.False(t, a.HasDisk())
	x := newTable(t, newOwner(t, a, Limits{}), Limits{})
	require.False(t, x.MayMap())
	require.False(t, x.Faulted(0))
	_, err := x.AllocPages(1)
	require.ErrorIs(t, err, ErrNoTier)
	x.Free()
}

// TestAfterClose: whoever missed the end gets an error.
func TestAfterClose(t *testing.T) {
	fs := sys.NewFaulty(sys.Default())
	a, err := Open(Options{MaxRAM: mib, MaxMmap: mib, MaxDisk: mib, FS: fs, Dirs: []string{t.TempDir()}})
	require.NoError(t, err)
	x := newTable(t, newOwner(t, a, Limits{}), Limits{})
	require.NoError(t, a.Close())
	_, err = x.Arena.Append(row(1, kib))
	require.True(t, errors.Is(err, ErrClosed), err)
	x.Free()
	noneLeft(t, a, fs)
}

// TestLimitsMove while the engine runs.
func TestLimitsMove(t *testing.T) {
	a, x := lone(t, Options{MaxRAM: 256 * kib, MaxMmap: 0, MaxDisk: 0}, Limits{})
	_, err := x.Arena.Append(row(1, kib))
	require.NoError(t, err)
	x.SetLimits(Limits{RAM: 4 * kib})
	x.fill(t, 3*kib)
	_, err = x.Arena.Append(row(1, kib))
	require.ErrorIs(t, err, ErrDiskLimit)
	require.NoError(t, a.SetMaxMmap(16*kib))
	x.fill(t, 16*kib)
	require.Equal(t, int64(16*kib), x.held(Mmap))
	require.NoError(t, a.SetMaxDisk(16*kib))
	x.fill(t, 16*kib)
	require.Equal(t, int64(16*kib), x.held(Disk))
	require.NoError(t, a.SetMaxMmap(0))
	require.NoError(t, a.SetMaxDisk(0))
	_, err = x.Arena.Append(row(1, kib))
	require.ErrorIs(t, err, ErrDiskLimit)
	require.Equal(t, int64(16*kib), x.held(Mmap), "what is in use stays")
}

// TestRAMIsTakenAway: idle memory, the cache and the rows of idle tables make
// place, in this order.
func TestRAMIsTakenAway(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: 2 * mib, MaxMmap: off, MaxDisk: 8 * mib})
	o := newOwner(t, a, Limits{})
	onDisk, idle, busy := newTable(t, o, Limits{RAM: Disabled}), newTable(t, o, Limits{}), newTable(t, o, Limits{})
	cached := onDisk.fill(t, 512*kib)
	require.Greater(t, a.cache.Load(), int64(256*kib))
	rows := idle.fill(t, 256*kib)
	kept := busy.fill(t, 256*kib)
	was := [2]int64{idle.held(RAM), busy.held(RAM)}
	busy.mu.Lock()

	require.NoError(t, a.SetMaxRAM(mib))
	require.LessOrEqual(t, a.Stats().RAM, int64(mib))
	require.Equal(t, was, [2]int64{idle.held(RAM), busy.held(RAM)})
	require.NoError(t, a.SetMaxRAM(512*kib))
	require.LessOrEqual(t, a.Stats().RAM, int64(512*kib))
	require.Less(t, idle.held(RAM), was[0])
	require.Equal(t, was[1], busy.held(RAM))
	require.NoError(t, a.SetMaxRAM(MinRAM))
	require.Greater(t, a.Stats().RAM, int64(MinRAM), "a busy table keeps its rows")
	require.Equal(t, was[1], busy.held(RAM))
	busy.mu.Unlock()
	require.NoError(t, a.SetMaxRAM(128*kib))
	require.LessOrEqual(t, a.Stats().RAM, int64(128*kib))

	onDisk.check(t, cached)
	idle.check(t, rows)
	busy.check(t, kept)
	for _, x := range []*table{onDisk, idle, busy} {
		x.Free()
	}
}
