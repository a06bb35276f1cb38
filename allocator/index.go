package allocator

import (
	"fmt"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/spill/disktable"
)

// AllocIndex returns n zeroed bytes for an index, n a power of two from Page
// to MaxBlock. They are RAM if any can be had, if need be by moving cold rows
// down, otherwise (from DiskPage up) an extent. The error is the refusal of
// the lowest of these.
func (s *Space) AllocIndex(n int) ([]byte, error) {
	b, err := s.takePriority(n, Index)
	if err != nil {
		if m, e := s.takeMapped(n, n, Index); e == nil {
			b, err = m, nil
		} else if e != errNoTier {
			err = e
		}
	}
	if err != nil {
		return nil, fmt.Errorf("allocator: %d bytes of index memory: %w", n, err)
	}
	clear(b.mem[:n])
	return b.mem[:n:n], nil
}

// FreeIndex gives back what AllocIndex returned.
func (s *Space) FreeIndex(mem []byte) { s.give(s.blockAt(mem), Index) }

// blockAt returns the block that AllocIndex returned as mem.
func (s *Space) blockAt(mem []byte) Block {
	b := Block{mem: mem, size: len(mem), held: len(mem)}
	if p, ok := s.alloc.ram.pieceAt(mem); ok {
		b.ram = p
		return b
	}
	b.held = max(len(mem), DiskPage)
	b.tier, b.ext = Mmap, s.alloc.pool.At(mem, b.held)
	return b
}

// pieceAt returns the piece that mem is, if it is one.
func (r *ram) pieceAt(mem []byte) (piece, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.chunks {
		if off, ok := sys.Offset(c.mem, mem); ok {
			return piece{c, off, len(mem)}, true
		}
	}
	return piece{}, false
}

// frames is the RAM of the disk table's cache.
type frames struct{ a *Allocator }

// Frame returns a page of RAM, or nil when the limit leaves none.
func (f frames) Frame() []byte {
	p, err := f.a.ram.take(disktable.PageSize)
	if err == errRAMFull {
		f.a.flushIdle()
		p, err = f.a.ram.take(disktable.PageSize)
	}
	if err != nil {
		return nil
	}
	f.a.cache.Add(disktable.PageSize)
	return p.bytes()
}

// FreeFrame gives back what Frame returned.
func (f frames) FreeFrame(mem []byte) {
	p, ok := f.a.ram.pieceAt(mem)
	if !ok {
		panic("allocator: a frame that is not ours")
	}
	f.a.cache.Add(-disktable.PageSize)
	f.a.ram.give(p)
}

// ChargeHeap charges n bytes of Go heap to the engine's RAM: scratch of batches
// and buffers of cursors. n may be negative.
func (s *Space) ChargeHeap(n int) error {
	for !s.alloc.chargeHeap(n) {
		s.why[RAM] = nil
		if freed, err := s.makeRoom(); err != nil || freed == 0 {
			return fmt.Errorf("allocator: %d bytes of scratch: %w", n, s.alloc.ram.refusal(int64(n)))
		}
	}
	return nil
}

// ChargeHeap is the same for who must not move blocks of a table.
func (a *Allocator) ChargeHeap(n int) error {
	if !a.chargeHeap(n) {
		return fmt.Errorf("allocator: %d bytes of buffers: %w", n, a.ram.refusal(int64(n)))
	}
	return nil
}

// RefundHeap takes back a charge.
func (a *Allocator) RefundHeap(n int) {
	a.heap.Add(-int64(n))
	a.ram.budget.give(int64(n))
}

func (a *Allocator) chargeHeap(n int) bool {
	a.ram.mu.Lock()
	ok := a.ram.charge(int64(n))
	a.ram.mu.Unlock()
	if !ok {
		a.flushIdle()
		a.ram.mu.Lock()
		ok = a.ram.charge(int64(n))
		a.ram.mu.Unlock()
	}
	if ok {
		a.heap.Add(int64(n))
	}
	return ok
}
