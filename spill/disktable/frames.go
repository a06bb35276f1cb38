package disktable

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/spillway-db/spillway/internal/invariants"
)

// Memory is where frames come from, and who bounds them. The store calls it
// with no lock held; it may call Shrink from inside. It is asked once a miss
// while the cache is below MaxFrames, so that a refusal should be cheap.
type Memory interface {
	// Frame returns PageSize bytes, or nil if they cannot be had now.
	Frame() []byte
	// FreeFrame takes back what Frame returned.
	FreeFrame([]byte)
}

// slabFrames are the descriptors made at once: 4 KiB.
const slabFrames = 64

type slab [slabFrames]Frame

// frames owns the descriptors and the memory of all frames. A frame is in the
// page table, or claimed by one goroutine (busy without a page), or in one of
// two lists: empty has memory, bare has none.
type frames struct {
	memory   Memory
	store    *Store
	min, max int32
	slabs    []atomic.Pointer[slab]
	made     atomic.Int32 // descriptors
	backed   atomic.Int32 // frames that have memory; changed under the lock
	empties  atomic.Int32 // length of empty
	waiting  atomic.Int32 // goroutines at freed
	_        [64]byte     // the hand moves with every miss
	hand     atomic.Uint32
	_        [64]byte

	mu     sync.Mutex
	freed  sync.Cond // a frame may be claimed
	empty  *Frame
	bare   *Frame
	peak   int32 // of backed
	closed bool
}

func (p *frames) init(s *Store, m Memory, minimum, maximum int) {
	p.store, p.memory, p.min, p.max = s, m, int32(minimum), int32(maximum)
	p.slabs = make([]atomic.Pointer[slab], (maximum+slabFrames-1)/slabFrames)
	p.freed.L = &p.mu
}

// at returns the i-th descriptor.
func (p *frames) at(i uint32) *Frame {
	return &p.slabs[i/slabFrames].Load()[i%slabFrames]
}

// advance moves the hand and returns the frame under it.
func (p *frames) advance() *Frame {
	return p.at(p.hand.Add(1) % uint32(p.made.Load()))
}

// take returns an empty frame, claimed, or nil.
func (p *frames) take() *Frame {
	if p.empties.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.empty
	if f != nil {
		p.empty, f.next = f.next, nil
		p.empties.Add(-1)
	}
	return f
}

// put gives up a claimed frame; its memory stays.
func (p *frames) put(f *Frame) {
	poison(f)
	p.mu.Lock()
	f.block = Block{}
	f.next, p.empty = p.empty, f
	p.empties.Add(1)
	p.mu.Unlock()
	p.wake()
}

// grow returns a claimed frame with new memory, or nil.
func (p *frames) grow() *Frame {
	if p.backed.Load() >= p.max {
		return nil
	}
	mem := p.memory.Frame()
	if mem == nil {
		return nil
	}
	f := p.adopt(mem)
	if f == nil {
		p.memory.FreeFrame(mem)
	}
	return f
}

// adopt returns a claimed frame that has mem, or nil if others were quicker
// and there are enough.
func (p *frames) adopt(mem []byte) *Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.backed.Load() >= p.max || p.closed {
		return nil
	}
	p.peak = max(p.peak, p.backed.Add(1))
	f := p.descriptor()
	f.data = (*[PageSize]byte)(mem)
	return f
}

// fill takes the minimum of frames.
func (p *frames) fill() error {
	for range p.min {
		f := p.grow()
		if f == nil {
			return ErrNoMemory
		}
		p.put(f)
	}
	return nil
}

// close gives all memory back. No frame is pinned or busy.
func (p *frames) close() {
	p.mu.Lock()
	p.closed = true
	p.freed.Broadcast()
	p.mu.Unlock()
	for i := range uint32(p.made.Load()) {
		p.discard(p.at(i))
	}
}

// discard gives the memory of f back, whatever it holds.
func (p *frames) discard(f *Frame) {
	if invariants.Enabled && f.state.Load()&pins != 0 {
		panic("disktable: a page is pinned while its store is closed")
	}
	f.state.Store(busy)
	if f.data != nil {
		poison(f)
		p.memory.FreeFrame(f.data[:])
		f.data, f.block = nil, Block{}
	}
}

// descriptor returns one without memory, busy. The lock is held.
func (p *frames) descriptor() *Frame {
	if f := p.bare; f != nil {
		p.bare, f.next = f.next, nil
		return f
	}
	i := uint32(p.made.Load())
	if i%slabFrames == 0 {
		p.slabs[i/slabFrames].Store(new(slab))
	}
	f := p.at(i)
	f.store = p.store
	f.state.Store(busy)
	p.made.Add(1)
	return f
}

// spare reports whether there are more frames than the minimum.
func (p *frames) spare() bool { return p.backed.Load() > p.min }

// strip gives the memory of a claimed frame back. If that would leave fewer
// than the minimum it keeps the frame, empty, and returns false.
func (p *frames) strip(f *Frame) bool {
	poison(f)
	mem := f.data[:]
	p.mu.Lock()
	f.block = Block{}
	if !p.spare() {
		p.mu.Unlock()
		p.put(f)
		return false
	}
	p.backed.Add(-1)
	f.data = nil
	f.next, p.bare = p.bare, f
	p.mu.Unlock()
	p.memory.FreeFrame(mem)
	return true
}

// wake tells one who waits that a frame may be claimed.
func (p *frames) wake() {
	if p.waiting.Load() != 0 {
		p.mu.Lock()
		p.freed.Signal()
		p.mu.Unlock()
	}
}

// await waits until a frame may be claimed: first by yielding, then in line.
// It returns ErrClosed if there will be none.
func (p *frames) await(round int) error {
	if round < 8 {
		runtime.Gosched()
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	// Who unpins looks at waiting after it has unpinned, and here the pins are
	// looked at after waiting was raised: one of the two sees the other.
	for !p.closed && !p.claimable() {
		p.freed.Wait()
	}
	if p.closed {
		return ErrClosed
	}
	return nil
}

// claimable reports whether there is an empty or an idle frame. The lock is
// held.
func (p *frames) claimable() bool {
	if p.empty != nil {
		return true
	}
	for i := range uint32(p.made.Load()) {
		if idle(p.at(i).state.Load()) {
			return true
		}
	}
	return false
}

// poison overwrites a page that nobody has any more, in the checked build.
func poison(f *Frame) {
	if !invariants.Enabled {
		return
	}
	for i := range f.data {
		f.data[i] = 0xCC
	}
}
