package allocator

import (
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

// TestIndexComesBeforeRows: cold rows of the same table move, never the block
// that the end lies in.
func TestIndexComesBeforeRows(t *testing.T) {
	for _, tier := range []Tier{Mmap, Disk} {
		o := Options{MaxRAM: 256 * kib, MaxMmap: off, MaxDisk: mib}
		if tier == Mmap {
			o.MaxMmap, o.MaxDisk = mib, off
		}
		a, x := lone(t, o, Limits{})
		ids := x.fill(t, 128*kib)
		require.Zero(t, x.held(tier))
		var index [][]byte
		for {
			mem, err := x.AllocIndex(16 * kib)
			require.NoError(t, err)
			require.Equal(t, make([]byte, 16*kib), mem)
			mem[0] = 1
			index = append(index, mem)
			if x.Stats(nil).Bytes[RAM].Rows == int64(x.Arena.block[x.Arena.cur].held) {
				break
			}
		}
		require.Equal(t, RAM, x.Arena.block[x.Arena.cur].tier)
		require.Equal(t, int64(16*kib*len(index)), x.Stats(nil).Bytes[RAM].Index)
		require.Equal(t, tier == Mmap, x.Mapped())
		require.True(t, x.Has(tier))
		x.check(t, ids)
		require.LessOrEqual(t, a.Stats().RAM, int64(256*kib))
		x.check(t, append(ids, x.more(t, len(ids), 64*kib)...))
		for _, mem := range index {
			x.FreeIndex(mem)
		}
	}
}

// TestIndexGoesToMappedFiles when no rows are left to move, and spills by
// itself where there are none.
func TestIndexGoesToMappedFiles(t *testing.T) {
	_, x := lone(t, Options{MaxRAM: 64 * kib, MaxMmap: 64 * kib, MaxDisk: mib}, Limits{})
	var index [][]byte
	for {
		mem, err := x.AllocIndex(8 * kib)
		if err != nil {
			require.ErrorIs(t, err, ErrMmapLimit)
			require.NotContains(t, err.Error(), "most have")
			break
		}
		index = append(index, mem)
	}
	st := x.Stats(nil)
	require.Equal(t, int64(24*kib), st.Bytes[RAM].Index)
	require.Equal(t, int64(64*kib), st.Bytes[Mmap].Index, "16 KiB for each 8 of them")
	require.Len(t, index, 3+4)
	for _, mem := range index {
		x.FreeIndex(mem)
	}
}

// TestIdleTablesGiveWay, busy ones and those without a lock do not, and tables
// that cannot move are passed over.
func TestIdleTablesGiveWay(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: mib, MaxMmap: 4 * mib, MaxDisk: off})
	o := newOwner(t, a, Limits{})
	idle := newTable(t, o, Limits{})
	busy := newTable(t, o, Limits{})
	stuck := newTable(t, newOwner(t, a, Limits{Mmap: Disabled}), Limits{})
	var none Space
	require.NoError(t, none.Init(o, "none", Limits{}, nil))
	require.NoError(t, none.take(new(Block), 16*kib, 16*kib))
	tables := []*table{idle, busy, stuck}
	var rows [3][]RowID
	for i, x := range tables {
		rows[i] = x.fill(t, 192*kib)
	}
	busy.mu.Lock()
	x := newTable(t, o, Limits{})
	var index [][]byte
	for x.held(Mmap) == 0 {
		mem, err := x.AllocIndex(16 * kib)
		require.NoError(t, err)
		index = append(index, mem)
	}
	require.LessOrEqual(t, idle.held(RAM), int64(16*kib), "all but the block at the end")
	require.True(t, idle.Mapped())
	require.Zero(t, busy.held(Mmap))
	require.Zero(t, stuck.held(Mmap))
	busy.mu.Unlock()
	for i, x := range tables {
		require.True(t, x.mu.TryLock(), "nobody holds a table for good")
		x.check(t, rows[i])
		x.Free()
	}
	for _, mem := range index {
		x.FreeIndex(mem)
	}
	x.Free()
	none.give(Block{tier: RAM, size: 16 * kib, held: 16 * kib, ram: none.lastPiece(t, a)}, Rows)
	none.Free()
}

// lastPiece finds the one piece that is held.
func (s *Space) lastPiece(t *testing.T, a *Allocator) piece {
	t.Helper()
	for _, c := range a.ram.chunks() {
		for off := 0; off < len(c.mem); off += 16 * kib {
			if !c.cold.Take(off, 14) && !c.hot.Take(off, 14) {
				return piece{c, uint32(off), 16 * kib}
			}
		}
	}
	t.Fatal("none is held")
	return piece{}
}

// TestSmallTablesStayInRAM while a large one, which is at work, has the rest.
func TestSmallTablesStayInRAM(t *testing.T) {
	for _, tier := range []Tier{Mmap, Disk} {
		o := Options{MaxRAM: 2 * mib, MaxMmap: off, MaxDisk: 8 * mib}
		if tier == Mmap {
			o.MaxMmap, o.MaxDisk = 8*mib, off
		}
		a, fs := open(t, o)
		giant := newTable(t, newOwner(t, a, Limits{}), Limits{})
		giant.mu.Lock()
		giant.fill(t, 4*mib)
		require.NotZero(t, giant.held(tier))
		session := newOwner(t, a, Limits{})
		small := func() {
			x := newTable(t, session, Limits{})
			x.fill(t, 8*kib)
			mem, err := x.AllocIndex(4 * kib)
			require.NoError(t, err)
			require.Zero(t, x.held(tier))
			x.FreeIndex(mem)
			x.Free()
		}
		small()
		before := fs.Calls()
		for range 50 {
			small()
			giant.Arena.tail.Unpin()
		}
		if tier == Disk { // the pool's worker may still prepare an extent
			require.Zero(t, fs.Calls().Sub(before)[sys.OpWrite])
		}
		giant.Free()
	}
}

// TestOwnersLimitMovesNoOthers: who is short because of his own limit moves his
// own rows.
func TestOwnersLimitMovesNoOthers(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: mib, MaxMmap: 4 * mib, MaxDisk: off})
	other := newTable(t, newOwner(t, a, Limits{}), Limits{})
	other.fill(t, 128*kib)
	x := newTable(t, newOwner(t, a, Limits{RAM: 32 * kib}), Limits{})
	x.fill(t, 24*kib)
	mem, err := x.AllocIndex(16 * kib)
	require.NoError(t, err)
	require.NotZero(t, x.held(Mmap))
	require.Zero(t, other.held(Mmap))
	x.FreeIndex(mem)
	x.Free()
	other.Free()
}

// TestUnusedBlocksGoFirst, without being written anywhere.
func TestUnusedBlocksGoFirst(t *testing.T) {
	_, x := lone(t, Options{MaxRAM: 256 * kib, MaxMmap: mib, MaxDisk: mib}, Limits{})
	x.fill(t, 128*kib)
	x.Arena.Reset()
	ids := x.fill(t, 20*kib)
	for range 6 {
		mem, err := x.AllocIndex(16 * kib)
		require.NoError(t, err)
		defer x.FreeIndex(mem)
	}
	require.Zero(t, x.Stats(nil).Count.Spilled)
	x.check(t, append(ids, x.more(t, len(ids), 300*kib)...))
}

// TestMovedBlocksAreFoundAgain: what was dropped behind the end and taken anew
// can move like any other.
func TestMovedBlocksAreFoundAgain(t *testing.T) {
	_, x := lone(t, Options{MaxRAM: 256 * kib, MaxMmap: 4 * mib, MaxDisk: off}, Limits{})
	for range 3 {
		ids := x.fill(t, 128*kib)
		for {
			n, err := x.Arena.moveDown()
			require.NoError(t, err)
			if n == 0 {
				break
			}
		}
		require.Equal(t, int64(x.Arena.block[x.Arena.cur].held), x.held(RAM))
		x.check(t, ids)
		x.Arena.Reset()
		for x.Arena.dropUnused() != 0 {
		}
	}
}

// TestNothingCanMove: the tier below is out of order.
func TestNothingCanMove(t *testing.T) {
	for _, mapped := range []bool{true, false} {
		o := Options{MaxRAM: 128 * kib, MaxMmap: off, MaxDisk: mib}
		if mapped {
			o.MaxMmap, o.MaxDisk = mib, off
		}
		a, fs := open(t, o)
		x := newTable(t, newOwner(t, a, Limits{}), Limits{})
		ids := x.fill(t, 48*kib)
		fs.FailAll(sys.OpAllocate, syscall.ENOSPC)
		fs.FailAll(sys.OpWrite, syscall.ENOSPC)
		var index [][]byte
		for {
			mem, err := x.AllocIndex(8 * kib)
			if err != nil {
				break
			}
			index = append(index, mem)
		}
		require.NotEmpty(t, index)
		require.Error(t, x.ChargeHeap(64*kib))
		x.check(t, ids)
		fs.Heal()
		require.NoError(t, x.ChargeHeap(32*kib))
		require.NotZero(t, x.held(Mmap)+x.held(Disk))
		x.check(t, ids)
		a.RefundHeap(32 * kib)
		for _, mem := range index {
			x.FreeIndex(mem)
		}
		x.Free()
	}
}

// TestWriteFailsWhileMoving: the block stays where it was.
func TestWriteFailsWhileMoving(t *testing.T) {
	a, fs := open(t, Options{MaxRAM: 128 * kib, MaxMmap: off, MaxDisk: mib})
	x := newTable(t, newOwner(t, a, Limits{}), Limits{})
	ids := x.fill(t, 48*kib)
	fs.FailAll(sys.OpWrite, syscall.EIO)
	n, err := x.Arena.moveDown()
	require.ErrorIs(t, err, syscall.EIO)
	require.Zero(t, n)
	require.Zero(t, x.held(Disk))
	fs.Heal()
	n, err = x.Arena.moveDown()
	require.NoError(t, err)
	require.Equal(t, 4*kib, n)
	require.Equal(t, int64(16*kib), x.held(Disk))
	x.check(t, ids)
	x.Free()
}

// TestTwoTablesWant each other's memory, and neither waits for it.
func TestTwoTablesWant(t *testing.T) {
	a, _ := open(t, Options{MaxRAM: 256 * kib, MaxMmap: 8 * mib, MaxDisk: 8 * mib})
	o := newOwner(t, a, Limits{})
	var wg sync.WaitGroup
	for range 2 {
		x := newTable(t, o, Limits{})
		wg.Go(func() {
			var index [][]byte
			var ids []RowID
			for i := range 400 {
				x.mu.Lock()
				id, err := x.Arena.Append(row(i, kib))
				if err != nil {
					t.Error(err)
				}
				ids = append(ids, id)
				if mem, err := x.AllocIndex(4 * kib); err == nil {
					index = append(index, mem)
				}
				if len(index) > 20 {
					x.FreeIndex(index[0])
					index = index[1:]
				}
				x.mu.Unlock()
			}
			x.mu.Lock()
			x.check(t, ids)
			for _, mem := range index {
				x.FreeIndex(mem)
			}
			x.Free()
		})
	}
	wg.Wait()
	require.LessOrEqual(t, a.Stats().RAMPeak, int64(256*kib))
}
