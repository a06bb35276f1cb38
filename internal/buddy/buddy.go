package buddy

import (
	"fmt"
	"iter"
	"math/bits"

	"github.com/spillway-db/spillway/internal/invariants"
)

// Space hands out pieces of the bytes [0, size). It is not safe for concurrent
// use.
type Space struct {
	size     int
	min, max int
	free     int    // bytes
	orders   uint64 // bit k: a piece of order k is free
	levels   []level
}

// level is what is free of one order; a piece is known by offset >> order.
type level struct {
	free   bitmap
	count  int
	recent stack
}

// stack remembers the pieces freed last. An entry may be stale: the bitmap
// decides.
type stack struct {
	piece [8]uint32
	n     uint8 // entries in use
	top   uint8 // where the next one goes
}

func (s *stack) push(i int) {
	s.piece[s.top%8] = uint32(i)
	s.top++
	s.n = min(s.n+1, 8)
}

func (s *stack) pop() (i int, ok bool) {
	if s.n == 0 {
		return 0, false
	}
	s.n--
	s.top--
	return int(s.piece[s.top%8]), true
}

// New makes a Space of size bytes, a multiple of 2^min, for pieces of the
// orders min to max. All of it is in use: Add or Free give it pieces to hand
// out.
func New(size, min, max int) *Space {
	s := &Space{size: size, min: min, max: max, levels: make([]level, max-min+1)}
	for k := range s.levels {
		s.levels[k].free = newBitmap(size >> (min + k))
	}
	return s
}

// Order is the order of the smallest piece that holds n bytes, n > 0.
func Order(n int) int { return bits.Len(uint(n - 1)) }

// Size is the number of bytes that the space spans.
func (s *Space) Size() int { return s.size }

// FreeBytes is the number of bytes that can be handed out, in pieces of the
// smallest order.
func (s *Space) FreeBytes() int { return s.free }

// Largest is the order of the largest free piece, -1 if nothing is free.
func (s *Space) Largest() int { return bits.Len64(s.orders) - 1 }

// Alloc takes a piece of the given order. It reports false if no free piece is
// large enough, or the order is not one of the space's.
func (s *Space) Alloc(order int) (off int, ok bool) {
	from := s.fit(order)
	if from < 0 {
		return 0, false
	}
	off = s.pick(from) << from
	s.take(off, from)
	s.split(off, from, off, order)
	return off, true
}

// Peek is the piece that Alloc would take.
func (s *Space) Peek(order int) (off int, ok bool) {
	from := s.fit(order)
	if from < 0 {
		return 0, false
	}
	i := s.pick(from)
	s.level(from).recent.push(i) // picked, but still the first choice
	return i << from, true
}

// fit is the smallest order from order on of which a piece is free, or -1.
func (s *Space) fit(order int) int {
	if order < s.min || order > s.max || s.orders>>order == 0 {
		return -1
	}
	return order + bits.TrailingZeros64(s.orders>>order)
}

// pick chooses a piece of an order of which one is free.
func (s *Space) pick(order int) int {
	l := s.level(order)
	for {
		i, ok := l.recent.pop()
		if !ok {
			return l.free.first()
		}
		if l.free.has(i) {
			return i
		}
	}
}

// Free gives back a piece that Alloc or Take handed out, or that was never
// free.
func (s *Space) Free(off, order int) {
	s.join(off, order, true)
}

// Add makes [off, off+n) free, multiples of 2^min, cut into the largest pieces
// that lie in it. They are not taken for warm.
func (s *Space) Add(off, n int) {
	for n > 0 {
		order := min(bits.TrailingZeros(uint(off)|1<<s.max), bits.Len(uint(n))-1)
		s.join(off, order, false)
		off, n = off+1<<order, n-1<<order
	}
}

// join frees a piece together with the buddies that are free.
func (s *Space) join(off, order int, warm bool) {
	s.check(off, order)
	s.free += 1 << order
	for order < s.max && s.level(order).free.has(off>>order^1) {
		s.drop(off>>order^1, order)
		off &^= 1 << order
		order++
	}
	s.put(off, order)
	if warm {
		s.level(order).recent.push(off >> order)
	}
}

// Take takes the piece of the given order at off, if it is free, as a whole or
// as a part of a larger free piece.
func (s *Space) Take(off, order int) bool {
	from := s.covering(off, order)
	if from < 0 {
		return false
	}
	start := off &^ (1<<from - 1)
	s.take(start, from)
	s.split(start, from, off, order)
	return true
}

// covering is the order of the free piece that covers the given one, or -1.
func (s *Space) covering(off, order int) int {
	for k := order; k <= s.max; k++ {
		if s.level(k).free.has(off >> k) {
			return k
		}
	}
	return -1
}

// take removes a free piece.
func (s *Space) take(off, order int) {
	s.drop(off>>order, order)
	s.free -= 1 << order
}

// split frees all of the taken piece (off, from) but the piece (want, order)
// in it.
func (s *Space) split(off, from, want, order int) {
	for from > order {
		from--
		s.free += 1 << from
		if half := off + 1<<from; want < half {
			s.put(half, from)
			continue
		}
		s.put(off, from)
		off += 1 << from
	}
}

// All yields the free pieces (offset, order), the largest order first, by
// rising offset. The space must not be changed meanwhile.
func (s *Space) All() iter.Seq2[int, int] {
	return func(yield func(off, order int) bool) {
		for k := s.max; k >= s.min; k-- {
			free := &s.level(k).free
			for i := free.first(); i >= 0; i = free.next(i + 1) {
				if !yield(i<<k, k) {
					return
				}
			}
		}
	}
}

func (s *Space) level(order int) *level { return &s.levels[order-s.min] }

func (s *Space) put(off, order int) {
	l := s.level(order)
	l.free.add(off >> order)
	l.count++
	s.orders |= 1 << order
}

func (s *Space) drop(i, order int) {
	l := s.level(order)
	l.free.remove(i)
	if l.count--; l.count == 0 {
		s.orders &^= 1 << order
	}
}

// check finds pieces that are freed twice or were never a piece.
func (s *Space) check(off, order int) {
	if !invariants.Enabled {
		return
	}
	if order < s.min || order > s.max || off < 0 || off&(1<<order-1) != 0 || off+1<<order > s.size {
		panic(fmt.Sprintf("buddy: freed (%d, %d), which is no piece", off, order))
	}
	if s.covering(off, order) >= 0 || s.coveredPart(off, order) {
		panic(fmt.Sprintf("buddy: freed (%d, %d) twice", off, order))
	}
}

// coveredPart says whether a part of the piece is free.
func (s *Space) coveredPart(off, order int) bool {
	for k := s.min; k < order; k++ {
		if i := s.level(k).free.next(off >> k); i >= 0 && i<<k < off+1<<order {
			return true
		}
	}
	return false
}
