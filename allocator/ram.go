package allocator

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/spillway-db/spillway/internal/buddy"
	"github.com/spillway-db/spillway/internal/sys"
)

// errRAMFull says that temptable_max_ram refused; Space turns it into a
// *LimitError where it is the caller's answer. It is static so that asking at
// the limit allocates nothing.
var errRAMFull = errors.New("no RAM within the limit")

const (
	ramChunk = 64 << 20 // address space taken at a time
	hugePage = 2 << 20
)

// ram is the RAM of one engine. Chunks of address space are cut by two buddy
// allocators: cold holds the pages that take no memory, hot those that are
// committed and idle. Committed bytes are charged, idle or not, so that used
// is what the kernel may have given us.
type ram struct {
	fs     sys.FS
	budget gauge // committed bytes, and Go heap scratch charged by capacity
	mu     sync.Mutex
	chunks []*chunk
	idle   int64 // bytes in the hot buddies
	closed bool
}

type chunk struct {
	mem       []byte
	hot, cold *buddy.Space
}

// piece is a power of two bytes of a chunk.
type piece struct {
	chunk *chunk
	off   int
	size  int
}

func (p piece) bytes() []byte { return p.chunk.mem[p.off : p.off+p.size : p.off+p.size] }

// take returns size committed bytes, a power of two from Page to MaxBlock, or
// ok == false when the limit or the kernel refuses. Idle memory comes first;
// what is idle in the wrong shape is given back before the limit refuses.
func (r *ram) take(size int) (piece, error) {
	r.mu.Lock()
	p, ok := r.takeHot(size)
	r.mu.Unlock()
	if ok {
		return p, nil
	}
	return r.takeCold(size)
}

func (r *ram) takeHot(size int) (piece, bool) {
	for _, c := range r.chunks {
		if off, ok := c.hot.Alloc(buddy.Order(size)); ok {
			r.idle -= int64(size)
			return piece{c, off, size}, true
		}
	}
	return piece{}, false
}

// takeCold commits memory: a step that grows with what is committed, or just
// size when the limit leaves no more.
func (r *ram) takeCold(size int) (piece, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	step := r.step(size)
	if !r.budget.take(int64(step)) {
		step = size
		if !r.charge(int64(size)) {
			return piece{}, errRAMFull
		}
		if p, ok := r.takeHot(size); ok { // reclaiming made it
			r.budget.give(int64(size))
			return p, nil
		}
	}
	c, off, err := r.takeSpace(step)
	if err != nil {
		r.budget.give(int64(step))
		return piece{}, err
	}
	if step >= hugePage {
		_ = r.fs.Advise(c.mem[off:off+step], sys.Huge) // a hint
	}
	c.hot.Free(off, buddy.Order(step))
	r.idle += int64(step)
	p, _ := r.takeHot(size)
	return p, nil
}

// step is how much to commit for a request of size bytes.
func (r *ram) step(size int) int {
	if r.closed {
		return size
	}
	n := int(r.budget.used.Load() / 16)
	if n < Page {
		return size
	}
	n = 1 << (bits.Len(uint(n)) - 1)
	return max(size, min(n, hugePage))
}

// charge takes n bytes of the budget, giving back idle memory if it must.
func (r *ram) charge(n int64) bool {
	if r.budget.take(n) {
		return true
	}
	if r.idle == 0 {
		return false
	}
	r.release(n)
	return r.budget.take(n)
}

// release gives idle memory back to the kernel until n bytes can be charged or
// nothing is idle.
func (r *ram) release(n int64) {
	for _, c := range r.chunks {
		for r.budget.used.Load()+n > r.budget.limit.Load() {
			order := c.hot.Largest()
			off, ok := c.hot.Alloc(order)
			if !ok {
				break
			}
			size := 1 << order
			_ = r.fs.Advise(c.mem[off:off+size], sys.Release)
			if size >= hugePage {
				_ = r.fs.Advise(c.mem[off:off+size], sys.NoHuge)
			}
			c.cold.Free(off, order)
			r.idle -= int64(size)
			r.budget.give(int64(size))
		}
	}
}

// takeSpace takes size bytes of address space that take no memory yet.
func (r *ram) takeSpace(size int) (*chunk, int, error) {
	if r.closed {
		return nil, 0, fmt.Errorf("allocator: take %d bytes of RAM: %w", size, ErrClosed)
	}
	for _, c := range r.chunks {
		if off, ok := c.cold.Alloc(buddy.Order(size)); ok {
			return c, off, nil
		}
	}
	c, err := r.grow(size)
	if err != nil {
		return nil, 0, err
	}
	off, _ := c.cold.Alloc(buddy.Order(size))
	return c, off, nil
}

// grow maps another chunk: 64 MiB, or less where the limit is less or the
// address space is short.
func (r *ram) grow(size int) (*chunk, error) {
	n := ramChunk
	for n/2 >= size && n/2 >= hugePage && int64(n/2) >= r.budget.limit.Load() {
		n /= 2
	}
	var err error
	for ; n >= size; n /= 2 {
		var mem []byte
		if mem, err = r.fs.Anon(n); err == nil {
			c := newChunk(mem)
			r.chunks = append(r.chunks, c)
			return c, nil
		}
	}
	return nil, fmt.Errorf("allocator: map %d bytes of RAM: %w", size, err)
}

func newChunk(mem []byte) *chunk {
	lo, hi := buddy.Order(Page), min(buddy.Order(len(mem)), buddy.Order(MaxBlock))
	c := &chunk{mem: mem, hot: buddy.New(len(mem), lo, hi), cold: buddy.New(len(mem), lo, hi)}
	c.cold.Add(0, len(mem))
	return c
}

// give returns a piece to the idle memory.
func (r *ram) give(p piece) {
	r.mu.Lock()
	p.chunk.hot.Free(p.off, buddy.Order(p.size))
	r.idle += int64(p.size)
	r.mu.Unlock()
}

func (r *ram) refusal(want int64) error {
	return &LimitError{Level: "engine (temptable_max_ram)", Tier: RAM,
		Limit: r.budget.limit.Load(), Used: r.budget.used.Load(), Want: want, kind: ErrRAMLimit}
}

func (r *ram) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var first error
	for _, c := range r.chunks {
		if err := r.fs.Unmap(c.mem); err != nil && first == nil {
			first = err
		}
	}
	r.chunks = nil
	return first
}
