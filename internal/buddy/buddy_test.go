package buddy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/invariants"
)

// full makes a space of which everything is free.
func full(size, min, max int) *Space {
	s := New(size, min, max)
	s.Add(0, size)
	return s
}

func pieces(s *Space) (out [][2]int) {
	for off, order := range s.All() {
		out = append(out, [2]int{off, order})
	}
	return out
}

func alloc(t *testing.T, s *Space, order int) int {
	off, ok := s.Alloc(order)
	require.True(t, ok)
	return off
}

func TestOrder(t *testing.T) {
	for n, order := range map[int]int{1: 0, 2: 1, 3: 2, 4096: 12, 4097: 13, 8 << 20: 23} {
		require.Equal(t, order, Order(n), n)
	}
}

func TestASpaceStartsInUse(t *testing.T) {
	s := New(1<<16, 12, 16)
	require.Equal(t, 1<<16, s.Size())
	require.Zero(t, s.FreeBytes())
	require.Equal(t, -1, s.Largest())
	_, ok := s.Alloc(12)
	require.False(t, ok)
	_, ok = s.Peek(12)
	require.False(t, ok)
	require.Empty(t, pieces(s))
}

func TestAddCutsIntoTheLargestAlignedPieces(t *testing.T) {
	s := New(13<<12, 12, 14)
	s.Add(1<<12, 12<<12)
	require.Equal(t, 12<<12, s.FreeBytes())
	require.Equal(t, [][2]int{{4 << 12, 14}, {8 << 12, 14}, {2 << 12, 13}, {1 << 12, 12}, {12 << 12, 12}}, pieces(s))
	require.Equal(t, 14, s.Largest())
	s.Add(0, 1<<12)
	require.Equal(t, [][2]int{{0, 14}, {4 << 12, 14}, {8 << 12, 14}, {12 << 12, 12}}, pieces(s))
}

func TestAllocSplitsAndFreeJoins(t *testing.T) {
	s := full(1<<16, 12, 16)
	require.Equal(t, 0, alloc(t, s, 12))
	require.Equal(t, [][2]int{{1 << 15, 15}, {1 << 14, 14}, {1 << 13, 13}, {1 << 12, 12}}, pieces(s))
	require.Equal(t, 1<<12, alloc(t, s, 12))
	require.Equal(t, 1<<14, alloc(t, s, 14))
	s.Free(0, 12)
	s.Free(1<<14, 14)
	s.Free(1<<12, 12)
	require.Equal(t, [][2]int{{0, 16}}, pieces(s))
}

func TestOrdersOutsideTheRangeAreRefused(t *testing.T) {
	s := full(1<<16, 12, 14)
	require.Len(t, pieces(s), 4, "pieces do not join beyond the largest order")
	for _, order := range []int{11, 15, 40} {
		_, ok := s.Alloc(order)
		require.False(t, ok)
	}
}

func TestTheLowestIsTakenFirstThenTheLastFreed(t *testing.T) {
	s := full(8<<12, 12, 15)
	for i := range 8 {
		require.Equal(t, i<<12, alloc(t, s, 12))
	}
	for _, i := range []int{0, 5, 2} { // no two are buddies
		s.Free(i<<12, 12)
	}
	for _, i := range []int{2, 5, 0} {
		off, ok := s.Peek(12)
		require.True(t, ok)
		require.Equal(t, i<<12, off)
		require.Equal(t, i<<12, alloc(t, s, 12))
	}
}

func TestTakeFindsAPieceInALargerOne(t *testing.T) {
	s := full(8<<12, 12, 15)
	require.True(t, s.Take(5<<12, 12))
	require.False(t, s.Take(5<<12, 12))
	require.False(t, s.Take(4<<12, 14))
	require.Equal(t, [][2]int{{0, 14}, {6 << 12, 13}, {4 << 12, 12}}, pieces(s))
	require.True(t, s.Take(0, 13))
	require.Equal(t, [][2]int{{2 << 12, 13}, {6 << 12, 13}, {4 << 12, 12}}, pieces(s))
}

func TestDoubleFreeIsFound(t *testing.T) {
	if !invariants.Enabled {
		return
	}
	s := full(8<<12, 12, 15)
	off := alloc(t, s, 13)
	s.Free(off, 13)
	require.Panics(t, func() { s.Free(off, 13) })
	require.Panics(t, func() { s.Free(off, 12) }, "a part of it")
	require.Equal(t, 0, alloc(t, s, 12))
	require.Panics(t, func() { s.Free(0, 13) }, "more than it")
	require.Panics(t, func() { s.Free(100, 12) }, "off the grid")
	require.Panics(t, func() { s.Free(8<<12, 12) }, "beyond the end")
	require.Panics(t, func() { s.Free(0, 11) }, "too small an order")
}

// model knows of each smallest unit whether it is free.
type model struct {
	free []bool
	unit int
}

func (m *model) set(off, order int, free bool) {
	for i := off / m.unit; i < (off+1<<order)/m.unit; i++ {
		if m.free[i] == free {
			panic(fmt.Sprintf("unit %d is already so", i))
		}
		m.free[i] = free
	}
}

func (m *model) all(off, order int) bool {
	for i := off / m.unit; i < (off+1<<order)/m.unit; i++ {
		if i >= len(m.free) || !m.free[i] {
			return false
		}
	}
	return true
}

func (m *model) bytes() (n int) {
	for _, f := range m.free {
		if f {
			n += m.unit
		}
	}
	return n
}

// possible says whether an aligned piece of that order is free.
func (m *model) possible(order int) bool {
	for off := 0; off < len(m.free)*m.unit; off += 1 << order {
		if m.all(off, order) {
			return true
		}
	}
	return false
}

func TestRandomOperationsAgreeWithAModel(t *testing.T) {
	for _, c := range []struct{ size, min, max int }{
		{64 << 12, 12, 18}, {61 << 12, 12, 15}, {1 << 12, 12, 12}, {5000 << 4, 4, 16},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) { runModel(t, c.size, c.min, c.max) })
	}
}

func runModel(t *testing.T, size, min, max int) {
	r := rand.New(rand.NewPCG(uint64(size), 1))
	s := New(size, min, max)
	m := &model{free: make([]bool, size>>min), unit: 1 << min}
	s.Add(0, size)
	for i := range m.free {
		m.free[i] = true
	}
	var held [][2]int
	for step := range 4000 {
		order := min + r.IntN(max-min+1)
		switch k := r.IntN(10); {
		case k < 5:
			want, peeked := s.Peek(order)
			off, ok := s.Alloc(order)
			require.Equal(t, m.possible(order), ok)
			require.Equal(t, ok, peeked)
			if ok {
				require.Equal(t, want, off)
				m.set(off, order, false)
				held = append(held, [2]int{off, order})
			}
		case k < 9 && len(held) > 0:
			i := r.IntN(len(held))
			s.Free(held[i][0], held[i][1])
			m.set(held[i][0], held[i][1], true)
			held = append(held[:i], held[i+1:]...)
		case k == 9:
			off := r.IntN(size>>min) << min &^ (1<<order - 1)
			ok := s.Take(off, order)
			require.Equal(t, m.all(off, order), ok)
			if ok {
				m.set(off, order, false)
				held = append(held, [2]int{off, order})
			}
		}
		require.Equal(t, m.bytes(), s.FreeBytes())
		if step%16 == 0 {
			checkPieces(t, s, m)
		}
	}
	for _, h := range held {
		s.Free(h[0], h[1])
	}
	fresh := full(size, min, max)
	require.Equal(t, pieces(fresh), pieces(s), "everything joined again")
}

// checkPieces compares the free pieces with the model, and finds buddies that
// should have been joined.
func checkPieces(t *testing.T, s *Space, m *model) {
	sum, largest := 0, -1
	seen := map[[2]int]bool{}
	for _, p := range pieces(s) {
		off, order := p[0], p[1]
		require.True(t, m.all(off, order))
		require.False(t, order < s.max && seen[[2]int{off ^ 1<<order, order}])
		seen[p] = true
		sum += 1 << order
		largest = max(largest, order)
	}
	require.Equal(t, m.bytes(), sum)
	require.Equal(t, largest, s.Largest())
}

func TestAllStopsWhenAsked(t *testing.T) {
	s := full(8<<12, 12, 13)
	n := 0
	for range s.All() {
		if n++; n == 2 {
			break
		}
	}
	require.Equal(t, 2, n)
}

func TestNothingIsAllocatedOnTheGoHeap(t *testing.T) {
	s := full(64<<20, 12, 26)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		a, _ := s.Alloc(12)
		b, _ := s.Alloc(20)
		s.Free(a, 12)
		s.Free(b, 20)
	}))
}

func BenchmarkAllocFree(b *testing.B) {
	b.Run("impl=split/n=64MiB", func(b *testing.B) {
		s := full(64<<20, 12, 26)
		for b.Loop() {
			off, _ := s.Alloc(12)
			s.Free(off, 12)
		}
	})
	b.Run("impl=hot/n=64MiB", func(b *testing.B) {
		s := full(64<<20, 12, 26)
		s.Take(4096, 12) // the buddy is in use: no splits
		for b.Loop() {
			off, _ := s.Alloc(12)
			s.Free(off, 12)
		}
	})
	b.Run("impl=random/n=64MiB", func(b *testing.B) {
		s := full(64<<20, 12, 26)
		r := rand.New(rand.NewPCG(1, 2))
		var held []int
		for b.Loop() {
			if off, ok := s.Alloc(12); ok && len(held) < 8192 {
				held = append(held, off)
				continue
			} else if ok {
				s.Free(off, 12)
			}
			i := r.IntN(len(held))
			s.Free(held[i], 12)
			held[i] = held[len(held)-1]
			held = held[:len(held)-1]
		}
	})
	b.Run("impl=new/n=64MiB", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			full(64<<20, 12, 26)
		}
	})
}
