package allocator

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// tiers are the ways to have an arena of a few hundred KiB on one tier.
var tiers = []struct {
	name string
	tier Tier
	l    Limits
}{
	{"ram", RAM, Limits{}},
	{"mmap", Mmap, Limits{RAM: Disabled}},
	{"disk", Disk, Limits{RAM: Disabled, Mmap: Disabled}},
}

// roomy has place for them.
var roomy = Options{MaxRAM: 8 * mib, MaxMmap: 8 * mib, MaxDisk: 8 * mib}

func onEachTier(t *testing.T, f func(t *testing.T, tier Tier, x *table)) {
	for _, c := range tiers {
		t.Run(c.name, func(t *testing.T) {
			_, x := lone(t, roomy, c.l)
			f(t, c.tier, x)
		})
	}
}

func TestIDs(t *testing.T) {
	id := ID(maxBlocks-1, MaxBlock-8)
	require.Less(t, uint64(id), uint64(1)<<48)
	block, at := id.Place()
	require.Equal(t, maxBlocks-1, block)
	require.Equal(t, MaxBlock-8, at)
	require.Equal(t, RowID(0), ID(0, 0))
}

// TestSizesOfBlocks: small at first, then a sixteenth of the table.
func TestSizesOfBlocks(t *testing.T) {
	_, x := lone(t, Options{MaxRAM: 64 * mib, MaxMmap: off, MaxDisk: off}, Limits{})
	for range 3000 {
		require.NoError(t, x.Arena.addBlock())
		if x.Arena.size > 16*mib {
			break
		}
	}
	sum := int64(0)
	for i, b := range x.Arena.block[1:] {
		switch want := []uint32{4, 4, 8, 16}; {
		case i < len(want):
			require.Equal(t, want[i]*kib, b.size)
		case sum < 256*kib:
			require.Equal(t, uint32(16*kib), b.size)
		default:
			require.LessOrEqual(t, int64(b.size)*16, sum)
			require.Greater(t, int64(b.size)*32, sum)
		}
		sum += int64(b.size)
	}
}

// TestSizesArePowersOfTwo, also after a limit has cut a block short.
func TestSizesArePowersOfTwo(t *testing.T) {
	var a Arena
	for a.size = 0; a.size < mib; a.size += Page {
		n, least := a.nextSize(), a.leastSize()
		require.Zero(t, n&(n-1))
		require.Zero(t, least&(least-1))
		require.True(t, Page <= least && least <= n && n <= MaxBlock)
	}
}

// TestPiecesStayInTheirPage, and a zero header marks what is left of one.
func TestPiecesStayInTheirPage(t *testing.T) {
	onEachTier(t, func(t *testing.T, tier Tier, x *table) {
		var pin Pin
		defer pin.Unpin()
		for i := range 300 {
			id, err := x.Arena.Append(row(i, 2008))
			require.NoError(t, err)
			_, at := id.Place()
			require.Equal(t, at/DiskPage, (at+2008-1)/DiskPage)
			require.True(t, x.Arena.Holds(id))
			require.Less(t, id, x.Arena.End())
		}
		for no := 1; no <= x.Arena.Blocks(); no++ {
			for page := 0; page*DiskPage < x.Arena.Used(no); page++ {
				mem, err := x.Arena.ReadPage(no, page, &pin)
				require.NoError(t, err)
				at := 0
				used := min(DiskPage, x.Arena.Used(no)-page*DiskPage)
				for at+2008 <= used {
					require.Equal(t, byte(2008/8), mem[at])
					at += 2008
				}
				if at < used {
					require.Zero(t, mem[at], "the end of the page")
				}
			}
		}
		require.Equal(t, x.Arena.size, x.held(tier))
	})
}

func TestLargestPieces(t *testing.T) {
	onEachTier(t, func(t *testing.T, _ Tier, x *table) {
		var ids []RowID
		for i := range 50 {
			id, err := x.Arena.Append(row(i, MaxPiece))
			require.NoError(t, err)
			ids = append(ids, id)
		}
		var pin Pin
		for i, id := range ids {
			mem, err := x.Arena.Read(id, &pin)
			require.NoError(t, err)
			require.Equal(t, row(i, MaxPiece), mem[:MaxPiece])
			_, onDisk := x.Arena.OnDisk(id)
			require.Equal(t, x.Has(Disk), onDisk)
		}
		pin.Unpin()
		if x.Has(RAM) {
			require.Equal(t, int64(50*MaxPiece), x.Arena.size-int64(len(x.Arena.mem[x.Arena.cur])-x.Arena.off), "without a gap")
		}
	})
}

func TestWriteInPlace(t *testing.T) {
	onEachTier(t, func(t *testing.T, _ Tier, x *table) {
		ids := x.fill(t, 64*kib)
		var pin Pin
		for i, id := range ids {
			mem, err := x.Arena.Write(id, 8, &pin)
			require.NoError(t, err)
			require.Equal(t, 8, cap(mem))
			mem[7] = byte(200 + i)
		}
		pin.Unpin()
		for i, id := range ids {
			mem, err := x.Arena.Read(id, &pin)
			require.NoError(t, err)
			require.Equal(t, byte(200+i), mem[7])
			require.Equal(t, row(i, kib)[8:], mem[8:kib])
		}
		pin.Unpin()
	})
}

// TestNoThrash: around the end of a block, at each offset, appending and
// releasing takes at most one block; so does emptying and filling again.
func TestNoThrash(t *testing.T) {
	onEachTier(t, func(t *testing.T, _ Tier, x *table) {
		edge := 16 * kib // the end of the third block of RAM, the first below
		piece := row(1, 64)
		for fill := edge - 256; fill <= edge; fill += 8 {
			x.Arena.Reset()
			for at := 0; at < fill; {
				n := min(fill-at, 1000)
				_, err := x.Arena.Append(row(1, n))
				require.NoError(t, err)
				at += n
			}
			before := x.Stats(nil).Count.Taken()
			for range 50 {
				m := x.Arena.Mark()
				id, err := x.Arena.Append(piece)
				require.NoError(t, err)
				require.True(t, x.Arena.Holds(id))
				x.Arena.Release(m)
				require.False(t, x.Arena.Holds(id))
			}
			require.LessOrEqual(t, x.Stats(nil).Count.Taken()-before, int64(1), "%d bytes", fill)
		}
		before := x.Stats(nil).Count.Taken()
		for range 20 {
			x.Arena.Reset()
			x.fill(t, edge)
		}
		require.LessOrEqual(t, x.Stats(nil).Count.Taken()-before, int64(1))
	})
}

// TestTwoTablesAtTheLimit alternate around the global limit, one appending and
// the other releasing what it has.
func TestTwoTablesAtTheLimit(t *testing.T) {
	a, fs := open(t, Options{MaxRAM: 256 * kib, MaxMmap: mib, MaxDisk: off})
	o := newOwner(t, a, Limits{})
	x, y := newTable(t, o, Limits{}), newTable(t, o, Limits{})
	x.fill(t, 120*kib)
	y.fill(t, 120*kib)
	mx, my := x.Arena.Mark(), y.Arena.Mark()
	for range 4 { // what it takes to get over the edge
		x.fill(t, 40*kib)
		y.fill(t, 40*kib)
		x.Arena.Release(mx)
		y.Arena.Release(my)
	}
	before, calls := a.Stats().Count.Taken(), fs.Calls().Total()
	for range 100 {
		x.fill(t, 40*kib)
		y.fill(t, 40*kib)
		x.Arena.Release(mx)
		y.Arena.Release(my)
	}
	require.Equal(t, before, a.Stats().Count.Taken())
	require.Less(t, fs.Calls().Total()-calls, int64(100), "the pool makes something ready, once")
	x.Free()
	y.Free()
}

// TestDroppedBlocks of a table that is read once.
func TestDroppedBlocks(t *testing.T) {
	onEachTier(t, func(t *testing.T, tier Tier, x *table) {
		ids := x.fill(t, 200*kib)
		for no := 1; no <= x.Arena.Blocks(); no++ {
			x.Arena.Drop(no)
			x.Arena.Drop(no)
			for _, id := range ids {
				block, _ := id.Place()
				require.Equal(t, block > no, x.Arena.Holds(id))
			}
		}
		require.Zero(t, x.held(tier))
		require.Zero(t, x.Arena.size)
		n, err := x.Arena.moveDown()
		require.NoError(t, err)
		require.Zero(t, n)
		x.Arena.Reset()
		x.check(t, x.fill(t, 100*kib))
		x.Arena.Drop(1)
	})
}

// TestSteadyState: no allocation and no system call while blocks are reused.
func TestSteadyState(t *testing.T) {
	a, fs := open(t, Options{MaxRAM: mib, MaxMmap: mib, MaxDisk: mib})
	o := newOwner(t, a, Limits{})
	x := new(table)
	piece := row(1, 56)
	cycle := func() {
		x.Space = Space{}
		if err := x.Init(o, "t", Limits{}, x); err != nil {
			t.Fatal(err)
		}
		for range 120 {
			_, _ = x.Arena.Append(piece)
		}
		mem, err := x.AllocIndex(4 * kib)
		if err != nil {
			t.Fatal(err)
		}
		x.FreeIndex(mem)
		x.Free()
	}
	cycle()
	before := fs.Calls().Total()
	require.Zero(t, testing.AllocsPerRun(200, cycle))
	require.Equal(t, before, fs.Calls().Total())
}
