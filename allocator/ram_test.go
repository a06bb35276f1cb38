package allocator

import (
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

// newRAM makes a ram of that limit, which is closed, and empty, at the end.
func newRAM(t *testing.T, limit int64) (*ram, *sys.Faulty) {
	fs := sys.NewFaulty(sys.OS()) // these tests map too much for the heap
	r := &ram{fs: fs}
	r.budget.limit.Store(limit)
	t.Cleanup(func() {
		require.NoError(t, r.close())
		require.Zero(t, r.budget.used.Load())
		_, mappings := fs.Live()
		require.Zero(t, mappings)
	})
	return r, fs
}

func (r *ram) mustTake(t *testing.T, n int) piece {
	t.Helper()
	p, _, err := r.take(n)
	require.NoError(t, err)
	return p
}

func TestRAMIsUsedAgain(t *testing.T) {
	r, fs := newRAM(t, mib)
	p := r.mustTake(t, 16*kib)
	p.bytes()[0] = 1
	r.give(p)
	before := fs.Calls().Total()
	for range 100 {
		q, fresh, err := r.take(16 * kib)
		require.NoError(t, err)
		require.False(t, fresh)
		require.Equal(t, p, q)
		r.give(q)
	}
	require.Equal(t, before, fs.Calls().Total(), "system calls")
	require.Equal(t, int64(16*kib), r.budget.used.Load())
	require.Equal(t, int64(16*kib), r.idle.Load())
}

func TestRAMLimitIsExact(t *testing.T) {
	r, _ := newRAM(t, 64*kib)
	var held []piece
	for range 16 {
		held = append(held, r.mustTake(t, Page))
	}
	_, _, err := r.take(Page)
	require.Equal(t, errRAMFull, err)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _, _ = r.take(Page) }))
	require.Equal(t, int64(64*kib), r.budget.used.Load())
	for _, p := range held {
		r.give(p)
	}
	require.Equal(t, int64(64*kib), r.idle.Load())
}

// TestRAMChangesShape: idle pieces that are too small are given back to the
// kernel before the limit refuses, and nothing more than is needed.
func TestRAMChangesShape(t *testing.T) {
	r, _ := newRAM(t, 64*kib)
	var held []piece
	for range 16 {
		held = append(held, r.mustTake(t, Page))
	}
	for i, p := range held {
		if i%2 == 0 { // so that no two of them are buddies
			r.give(p)
		}
	}
	p := r.mustTake(t, 16*kib)
	require.Equal(t, int64(16*kib), r.idle.Load())
	require.Equal(t, int64(64*kib), r.budget.used.Load())
	_, _, err := r.take(32 * kib)
	require.Equal(t, errRAMFull, err)
	r.give(p)
	for i, p := range held {
		if i%2 == 1 {
			r.give(p)
		}
	}
}

func TestChargeTakesNoMoreThanItNeeds(t *testing.T) {
	r, _ := newRAM(t, 8*mib)
	r.give(r.mustTake(t, 8*mib))
	require.True(t, r.charge(10*kib))
	require.Equal(t, int64(8*mib-16*kib), r.idle.Load())
	r.budget.give(10 * kib)
	require.False(t, r.charge(9*mib))
}

// TestKernelTakesNothingBack is what happens under mlockall.
func TestKernelTakesNothingBack(t *testing.T) {
	r, fs := newRAM(t, 64*kib)
	p, q := r.mustTake(t, 32*kib), r.mustTake(t, 32*kib)
	r.give(p)
	fs.FailAll(sys.OpAdvise, syscall.EINVAL)
	require.False(t, r.charge(4*kib))
	require.Equal(t, int64(64*kib), r.budget.used.Load())
	require.Equal(t, int64(32*kib), r.idle.Load())
	r.give(r.mustTake(t, 32*kib))
	fs.Heal()
	require.True(t, r.charge(4*kib))
	r.budget.give(4 * kib)
	r.give(q)
}

func TestAddressSpaceIsShort(t *testing.T) {
	r, fs := newRAM(t, 1<<40)
	fs.FailAt(sys.OpAnon, 1, syscall.ENOMEM)
	p := r.mustTake(t, mib)
	require.Len(t, p.chunk.mem, minChunk/2)
	fs.FailAll(sys.OpAnon, syscall.ENOMEM)
	var held []piece
	for {
		q, _, err := r.take(8 * mib)
		if err != nil {
			require.ErrorIs(t, err, syscall.ENOMEM)
			break
		}
		held = append(held, q)
	}
	require.Len(t, held, 3) // of 32 MiB, in which 1 MiB is held
	require.Equal(t, int64(25*mib), r.budget.used.Load()-r.idle.Load())
	for _, q := range append(held, p) {
		r.give(q)
	}
}

func TestChunksAreFew(t *testing.T) {
	r, _ := newRAM(t, 1<<40)
	var held []piece
	for range 20 * minChunk / MaxBlock {
		held = append(held, r.mustTake(t, MaxBlock))
	}
	require.LessOrEqual(t, len(r.chunks()), 14)
	for _, p := range held {
		got, ok := r.pieceAt(p.bytes())
		require.True(t, ok)
		require.Equal(t, p, got)
		r.give(p)
	}
	_, ok := r.pieceAt(make([]byte, 8))
	require.False(t, ok)
}

func TestSmallLimitMapsLittle(t *testing.T) {
	r, _ := newRAM(t, 12*mib)
	r.give(r.mustTake(t, Page))
	require.Len(t, r.chunks()[0].mem, 16*mib)
}

// adviceFS notes which spans have been advised.
type adviceFS struct {
	sys.FS
	said []sys.Advice
	size []int
}

func (fs *adviceFS) Advise(mem []byte, a sys.Advice) error {
	fs.said, fs.size = append(fs.said, a), append(fs.size, len(mem))
	return fs.FS.Advise(mem, a)
}

// TestHugePages: a huge page is asked for under what is charged whole, and no
// part of it is given back before the kernel has forgotten it.
func TestHugePages(t *testing.T) {
	r, fs := newRAM(t, 1<<30)
	advice := &adviceFS{FS: fs}
	r.fs = advice
	require.True(t, r.charge(hugeFrom)) // elsewhere
	r.rest.Store(-1 << 40)              // however slow they are
	small := r.mustTake(t, Page)
	require.Equal(t, []sys.Advice{sys.NoHuge, sys.Huge, sys.Populate, sys.Populate}, advice.said)
	require.Equal(t, []int{64 * mib, hugePage, Page, hugePage}, advice.size)
	require.Equal(t, int64(hugeFrom+hugePage), r.budget.used.Load())
	advice.said, advice.size = nil, nil

	r.budget.limit.Store(hugeFrom + hugePage - 2*Page)
	r.trim()
	require.Equal(t, []sys.Advice{sys.NoHuge, sys.Release}, advice.said)
	require.Equal(t, []int{hugePage, 2 * Page}, advice.size)
	r.budget.limit.Store(MinRAM)
	r.trim()
	require.Equal(t, int64(hugeFrom+Page), r.budget.used.Load())
	require.NotContains(t, small.chunk.huge, true)
	r.give(small)
	r.budget.give(hugeFrom)
}

// TestHugePagesRest after one that was slow, and come back.
func TestHugePagesRest(t *testing.T) {
	r, _ := newRAM(t, 1<<30)
	require.False(t, r.mayEnlarge())
	require.True(t, r.charge(hugeFrom))
	require.True(t, r.mayEnlarge())
	r.rest.Store(hugeRest)
	n := 0
	for ; !r.mayEnlarge(); n++ {
		require.Equal(t, warmStep, r.step(Page)) // asks once more
	}
	require.Equal(t, hugeRest/2, n)
	require.Equal(t, hugePage, r.step(Page))
	r.budget.give(hugeFrom)
}

func TestRAMClosed(t *testing.T) {
	r, _ := newRAM(t, mib)
	require.NoError(t, r.close())
	_, _, err := r.take(Page)
	require.ErrorIs(t, err, ErrClosed)
	require.False(t, errors.Is(err, errRAMFull))
}

// TestRAMModel takes and gives at random. Whatever is held is apart from all
// else that is held, and the counters are sums over it.
func TestRAMModel(t *testing.T) {
	const limit = 3 * mib
	r, fs := newRAM(t, limit)
	rnd := rand.New(rand.NewPCG(1, 2))
	type holding struct {
		p    piece
		mark byte
	}
	var held []holding
	var heap, sum int64
	for i := range 20000 {
		switch k := rnd.IntN(10); {
		case k < 5:
			p, _, err := r.take(Page << rnd.IntN(10))
			if err != nil {
				require.Equal(t, errRAMFull, err)
				continue
			}
			h := holding{p, byte(i)}
			p.bytes()[0], p.bytes()[p.size-1] = h.mark, h.mark
			held, sum = append(held, h), sum+int64(p.size)
		case k < 8 && len(held) > 0:
			at := rnd.IntN(len(held))
			h := held[at]
			require.Equal(t, h.mark, h.p.bytes()[0])
			require.Equal(t, h.mark, h.p.bytes()[h.p.size-1])
			r.give(h.p)
			held[at], sum = held[len(held)-1], sum-int64(h.p.size)
			held = held[:len(held)-1]
		case k == 8 && r.charge(1000):
			heap += 1000
		case k == 9:
			r.budget.give(heap)
			heap = 0
			r.budget.limit.Store(limit - rnd.Int64N(mib))
			r.trim()
			require.True(t, r.idle.Load() == 0 || r.budget.room() >= 0)
		}
		require.Equal(t, sum+heap, r.budget.used.Load()-r.idle.Load())
		require.LessOrEqual(t, r.budget.used.Load(), int64(limit))
	}
	require.LessOrEqual(t, r.budget.highest(), int64(limit))
	require.NotZero(t, fs.Calls()[sys.OpAdvise])
	for _, h := range held {
		r.give(h.p)
	}
	r.budget.give(heap)
}
