package allocator

import (
	"errors"
	"time"

	"github.com/spillway-db/spillway/internal/invariants"
	"github.com/spillway-db/spillway/spill/disktable"
)

// errNoTier says that there is no such tier; nobody sees it.
var errNoTier = errors.New("no such tier")

// take makes *b a block of rows of size bytes, or of less but at least least
// bytes where a limit leaves no more, from the highest tier that has it. The
// error is the refusal of the lowest tier that there is.
func (s *Space) take(b *Block, size, least int) error {
	why := s.takeFrom(b, RAM, size, least, Rows)
	if !why.refused() {
		return nil
	}
	s.refused(why)
	below := s.takeBelow(b, size, least, false)
	if !below.refused() {
		return nil
	}
	if last := s.takeLast(b, least, Rows); !last.refused() {
		return nil
	}
	if below.err != errNoTier {
		why = below
	}
	return s.alloc.refusalError(why)
}

// takeBelow is take from the tiers below RAM; moved says that it is for a block
// that moves.
func (s *Space) takeBelow(b *Block, size, least int, moved bool) refusal {
	defer s.begin("spillway.spill").end()
	since := time.Now()
	why := refusal{err: errNoTier}
	for t := Mmap; t <= Disk && why.refused(); t++ {
		if s.alloc.has(t) {
			if why = s.takeFrom(b, t, max(size, DiskPage), max(least, DiskPage), Rows); why.refused() {
				s.refused(why)
			}
		}
	}
	if !why.refused() {
		s.spilled(b, Rows, moved, since)
	}
	return why
}

// has reports whether there is a tier below RAM.
func (a *Allocator) has(t Tier) bool { return t == Mmap && a.pool != nil || t == Disk && a.disk != nil }

// takeFrom takes a block from one tier, the largest that it gives.
func (s *Space) takeFrom(b *Block, t Tier, size, least int, p Purpose) (why refusal) {
	for n := size; n >= least; n /= 2 {
		if why = s.block(b, t, n, p, false); !why.refused() || !why.wantsLess() {
			break
		}
	}
	return why
}

// takeLast takes a block out of the RAM that is kept for buffers.
func (s *Space) takeLast(b *Block, n int, p Purpose) refusal {
	return s.block(b, RAM, n, p, true)
}

// smallTable is the RAM of a table that is small.
const smallTable = 32 << 10

// block takes exactly n bytes from one tier; last says that there is no other
// that gives them.
func (s *Space) block(b *Block, t Tier, n int, p Purpose, last bool) refusal {
	ok, by := s.charge(b, t, n, p)
	if by != nil {
		return refusal{tier: t, want: n, by: by}
	}
	if !ok {
		half := last || s.acct.tiers[RAM].used <= smallTable
		if err := s.obtain(b, t, n, half); err != nil {
			s.uncharge(t, n)
			return refusal{tier: t, want: n, err: err}
		}
		s.count(b, p)
	}
	s.taken(b, p)
	return refusal{}
}

func (s *Space) obtain(b *Block, t Tier, n int, half bool) error {
	switch t {
	case RAM:
		return s.obtainRAM(b, n, half)
	case Mmap:
		return s.obtainMapped(b, n)
	}
	return s.obtainDisk(b, n)
}

func (s *Space) obtainRAM(b *Block, n int, half bool) error {
	defer s.begin("spillway.grow").end()
	p, fresh, err := s.alloc.takeRAM(n, s.alloc.reserve(half))
	if err != nil {
		return err
	}
	*b = ramBlock(p)
	b.fresh = fresh
	return nil
}

func (s *Space) obtainMapped(b *Block, n int) error {
	e, ready, err := s.alloc.pool.AcquireReady(n)
	if err != nil {
		return err
	}
	s.mapped.Store(true)
	s.alloc.below[Mmap].take(int64(n))
	*b = mappedBlock(e)
	b.fresh = !ready
	return nil
}

func (s *Space) obtainDisk(b *Block, n int) error {
	d, reused, err := s.alloc.disk.AllocReused(n, &s.failed)
	if err == disktable.ErrClosed {
		return ErrClosed
	}
	if err != nil {
		return err
	}
	s.alloc.below[Disk].take(int64(n))
	*b = Block{tier: Disk, fresh: !reused, size: uint32(n), held: uint32(n), disk: d}
	return nil
}

// give returns a block to where it came from.
func (s *Space) give(b Block, p Purpose) {
	s.giving(&b)
	s.refund(&b, p)
	switch b.tier {
	case Mmap:
		s.alloc.below[Mmap].give(int64(b.held))
		s.alloc.pool.Release(b.ext)
	case Disk:
		s.alloc.below[Disk].give(int64(b.held))
		s.alloc.disk.Free(b.disk)
	}
}

// giving does what is due before a block is given back.
func (s *Space) giving(b *Block) {
	if r := s.alloc.recorder.Load(); r != nil {
		r.give(b)
	}
	if b.tier == RAM && (invariants.Enabled || s.alloc.scrub) {
		scrub(b.mem())
	}
}

// scrub overwrites freed memory, with a value that no live structure has.
func scrub(mem []byte) {
	for i := range mem {
		mem[i] = 0xCC
	}
}
