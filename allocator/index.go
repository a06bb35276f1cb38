package allocator

import (
	"fmt"
	"time"
)

// AllocIndex returns n zeroed bytes for an index, n a power of two from Page
// to MaxBlock, aligned to Page. They are RAM if any can be had, if need be by
// moving rows down, otherwise (part of) an extent. The error is the refusal of
// the lower of these that the engine has; an index that meets it spills by
// itself, if there is a disk table. It names no holders: most of the time it is
// no answer to a user. ErrSize for another n.
func (s *Space) AllocIndex(n int) ([]byte, error) {
	if n < Page || n > MaxBlock || n&(n-1) != 0 {
		return nil, fmt.Errorf("allocator: %d bytes of index memory: %w", n, ErrSize)
	}
	for tries := 1; ; tries++ {
		var b Block
		if why := s.takeIndex(&b, n); why.refused() {
			return nil, fmt.Errorf("index memory: %w", s.alloc.plainError(why))
		}
		mem := b.mem()[:n:n]
		err := s.alloc.guarded(b.tier, func() { clear(mem) })
		if err == nil {
			return mem, nil
		}
		s.give(b, Index)
		if tries == maxFaults { // nobody has lost anything: it must not match sys.ErrFault
			return nil, fmt.Errorf("allocator: clear %d bytes of index memory: %v: %w", n, err, ErrIO)
		}
	}
}

// maxFaults is how many files may turn out to be out of reach in one call. Each
// is set aside.
const maxFaults = 3

func (s *Space) takeIndex(b *Block, n int) refusal {
	why := s.takePriority(b, n)
	if why.refused() {
		s.refused(why)
		if s.alloc.pool != nil {
			why = s.mapIndex(b, n)
		}
	}
	if why.refused() && s.alloc.disk == nil {
		if last := s.takeLast(b, n, Index); !last.refused() {
			return last
		}
	}
	return why
}

// mapIndex takes index memory from a mapped file, after RAM has refused.
func (s *Space) mapIndex(b *Block, n int) refusal {
	since := time.Now()
	why := s.takeFrom(b, Mmap, max(n, DiskPage), max(n, DiskPage), Index)
	if why.refused() {
		s.refused(why)
	} else {
		s.spilled(b, Index, false, since)
	}
	return why
}

// FreeIndex gives back what AllocIndex returned, whole.
func (s *Space) FreeIndex(mem []byte) { s.give(s.blockAt(mem), Index) }

// blockAt returns the block that AllocIndex returned as mem.
func (s *Space) blockAt(mem []byte) Block {
	if p, ok := s.alloc.ram.pieceAt(mem); ok {
		return ramBlock(p)
	}
	n := max(len(mem), DiskPage)
	return mappedBlock(s.alloc.pool.At(mem, n))
}
