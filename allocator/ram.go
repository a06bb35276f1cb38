package allocator

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spillway-db/spillway/internal/buddy"
	"github.com/spillway-db/spillway/internal/sys"
)

// errRAMFull says that temptable_max_ram refused. It is static: asking at the
// limit allocates nothing.
var errRAMFull = errors.New("no RAM within the limit")

const (
	minChunk = 64 << 20 // address space mapped at a time, unless the limit is less
	maxChunk = 4 << 30
)

// ram is the RAM of one engine. Committed bytes are charged, idle or not, so
// that budget.used is the most that the kernel may have given us.
type ram struct {
	fs     sys.FS
	budget gauge        // committed bytes, and Go heap charged by capacity
	idle   atomic.Int64 // bytes in the hot buddies, changed under mu
	rest   atomic.Int64 // huge pages to go without

	mu     sync.Mutex               // held for pointer operations, and to map a chunk
	list   atomic.Pointer[[]*chunk] // replaced under mu, never changed: read without it
	space  int                      // bytes of all chunks
	closed bool
}

func (r *ram) chunks() []*chunk {
	if list := r.list.Load(); list != nil {
		return *list
	}
	return nil
}

// room is how much can be taken at most.
func (r *ram) room() int64 { return r.budget.room() + r.idle.Load() }

// take returns size committed bytes, a power of two from Page to MaxBlock.
// Idle memory comes first; what is idle in pieces of other sizes is given back
// before the limit refuses. fresh says that it was committed for this. It
// returns errRAMFull, ErrClosed, or what the kernel said.
func (r *ram) take(size int) (p piece, fresh bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if p, ok := r.takeHot(size); ok {
			return p, false, nil
		}
		p, err = r.takeCold(size)
		if err != errRAMFull || !r.release(size) {
			return p, true, err
		}
	}
}

func (r *ram) takeHot(size int) (piece, bool) {
	if r.idle.Load() < int64(size) {
		return piece{}, false
	}
	for _, c := range r.chunks() {
		if off, ok := c.hot.Alloc(buddy.Order(size)); ok {
			r.idle.Add(-int64(size))
			return piece{c, uint32(off), uint32(size)}, true
		}
	}
	return piece{}, false
}

// takeCold commits memory: a step that grows with what is committed, or just size
// where the limit or the address space leaves no more.
func (r *ram) takeCold(size int) (piece, error) {
	if r.closed {
		return piece{}, fmt.Errorf("take %d bytes of RAM: %w", size, ErrClosed)
	}
	p, err := r.commit(size, r.step(size))
	if err != nil {
		p, err = r.commit(size, size)
	}
	return p, err
}

// step is 1/16 of what is committed, at least size and at most warmStep, or a
// huge page if these are in order.
func (r *ram) step(size int) int {
	if size <= hugePage && r.mayEnlarge() {
		return hugePage
	}
	return max(size, clampPow2(r.budget.used.Load()/16, 1, warmStep))
}

// commit makes step bytes of address space memory, keeps size of them for the
// caller and adds the rest to what is idle.
func (r *ram) commit(size, step int) (piece, error) {
	if !r.budget.take(int64(step)) {
		return piece{}, errRAMFull
	}
	c, off, err := r.takeSpace(step)
	if err != nil {
		r.budget.give(int64(step))
		return piece{}, err
	}
	p := piece{c, uint32(off), uint32(step)}
	r.mu.Unlock()
	if step <= warmStep || step > size {
		r.warm(p, 0)
	}
	r.mu.Lock()
	c.hot.Add(off+size, step-size)
	r.idle.Add(int64(step - size))
	p.size = uint32(size)
	return p, nil
}

// takeSpace takes size bytes of address space that take no memory yet.
func (r *ram) takeSpace(size int) (*chunk, int, error) {
	for _, c := range r.chunks() {
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

// grow maps another chunk: as much as a quarter of what there is, so that
// there are few; less where the limit is less or the address space is short.
func (r *ram) grow(size int) (*chunk, error) {
	n := min(max(floorPow2(r.space/4+1), minChunk), maxChunk)
	for n/2 >= max(size, hugePage) && int64(n/2) >= r.budget.max() {
		n /= 2
	}
	for {
		mem, err := r.fs.Anon(n)
		if err == nil {
			return r.adopt(mem), nil
		}
		if n /= 2; n < max(size, hugePage) {
			return nil, fmt.Errorf("map %d bytes of RAM: %w", size, err)
		}
	}
}

func (r *ram) adopt(mem []byte) *chunk {
	_ = r.fs.Advise(mem, sys.NoHuge) // else one byte may take 2 MiB where huge pages are the default
	c := newChunk(mem)
	list := append(slices.Clip(r.chunks()), c)
	r.list.Store(&list)
	r.space += len(mem)
	return c
}

// charge takes n bytes of the budget for memory that lies elsewhere, giving
// back what is idle if it must.
func (r *ram) charge(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.budget.take(n) {
		if !r.release(int(min(n, MaxBlock))) {
			return false
		}
	}
	return true
}

// trim gives idle memory back until the limit holds or nothing is idle.
func (r *ram) trim() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for over := -r.budget.room(); over > 0 && r.release(int(min(over, MaxBlock))); over = -r.budget.room() {
	}
}

// release gives one idle piece back to the kernel: the smallest of at least n
// bytes, or else the largest. It reports false if nothing is idle, or the
// kernel takes nothing back (mlockall). The lock is held, but not meanwhile.
func (r *ram) release(n int) bool {
	c, off, order, ok := r.pickIdle(n)
	if !ok {
		return false
	}
	size := 1 << order
	_, marks := c.slabs(off, size)
	huge := slices.Contains(marks, true)
	r.mu.Unlock()
	err := c.drop(r.fs, off, size, huge)
	r.mu.Lock()
	if err != nil {
		c.hot.Free(off, order)
		r.idle.Add(int64(size))
		return false
	}
	setAll(marks, false)
	c.cold.Free(off, order)
	r.budget.give(int64(size))
	return true
}

// pickIdle takes an idle piece: see release.
func (r *ram) pickIdle(n int) (best *chunk, off, order int, ok bool) {
	want := buddy.Order(max(n, Page))
	for _, c := range r.chunks() {
		if o := c.hot.Largest(); o >= want {
			best, order = c, want
			break
		} else if o > order {
			best, order = c, o
		}
	}
	if best == nil {
		return nil, 0, 0, false
	}
	off, ok = best.hot.Alloc(order)
	r.idle.Add(-1 << order)
	return best, off, order, ok
}

// give returns a piece to the idle memory.
func (r *ram) give(p piece) {
	r.mu.Lock()
	p.chunk.hot.Free(int(p.off), buddy.Order(int(p.size)))
	r.idle.Add(int64(p.size))
	r.mu.Unlock()
}

// pieceAt returns the piece that mem is, if it is one. Cost: a look at each
// chunk, of which there are few, without the lock.
func (r *ram) pieceAt(mem []byte) (piece, bool) {
	for _, c := range r.chunks() {
		if off, ok := sys.Offset(c.mem, mem); ok {
			return piece{c, uint32(off), uint32(len(mem))}, true
		}
	}
	return piece{}, false
}

// close unmaps everything. What is idle is not charged any more, so that the
// budget tells what was not given back before.
func (r *ram) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.budget.give(r.idle.Swap(0))
	var errs []error
	for _, c := range r.chunks() {
		errs = append(errs, r.fs.Unmap(c.mem))
	}
	r.list.Store(nil)
	return errors.Join(errs...)
}
