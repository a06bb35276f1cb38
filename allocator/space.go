package allocator

import (
	"fmt"
	"sync/atomic"

	"github.com/spillway-db/spillway/spill/disktable"
)

// Lock is a table's exclusion. TryLock takes it for a moving of blocks by
// somebody else; it fails if a call on the table is under way.
type Lock interface {
	TryLock() bool
	Unlock()
}

// Space is the memory of one table: its limits, what it holds and its rows'
// arena. It is guarded by its table's lock, but for what says otherwise.
type Space struct {
	Arena Arena

	alloc  *Allocator
	owner  *Owner
	lock   Lock
	failed disktable.Owner
	tried  uint64             // the last round of moveOthers that moved nothing here
	mapped atomic.Bool        // a block lies, or lay, in a mapped file
	cause  refusal            // why the last block went below RAM, or could not be had
	told   [numTiers]*account // whose refusal was told last

	// Under Owner.mu.
	acct       account
	m          measures // written with the table's lock, too: who has either may read
	next, prev *Space
}

// Init makes s the memory of a new table of o, whose name appears in errors.
// It takes no memory. The lock is tried by others who need RAM; nil: no block
// is ever moved by others. ErrClosed if o is sealed.
func (s *Space) Init(o *Owner, name string, l Limits, lock Lock) error {
	s.alloc, s.owner, s.lock = o.alloc, o, lock
	s.acct.name, s.acct.owner = name, o
	s.acct.setLimits(l)
	s.Arena.init(s)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sealed {
		return fmt.Errorf("allocator: new table of %q: %w", o.Name(), ErrClosed)
	}
	s.next = o.spaces
	if s.next != nil {
		s.next.prev = s
	}
	o.spaces = s
	return nil
}

// Free gives back the arena and leaves the owner. Whatever else was taken from
// s must have been given back before.
func (s *Space) Free() {
	s.Arena.freeBelow()
	s.leave()
	s.Arena = Arena{}
}

// leave takes the table out of its owner, which gets the arena's RAM. One lock
// for all: this is the end of every small table.
func (s *Space) leave() {
	o := s.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	var n int64
	for i := 1; i < len(s.Arena.block); i++ {
		if b := &s.Arena.block[i]; b.tier == RAM && b.size != 0 {
			n += int64(b.held)
			s.giving(b)
			s.m.give(b, Rows)
			o.keep(b.ram)
		}
	}
	s.acct.tiers[RAM].give(n)
	o.refund(RAM, n)
	o.gone.bury(s)
	o.unlink(s)
}

// SetLimits changes the table's limits. What is in use above a lower limit
// stays; the next block obeys. It may be called at any time.
func (s *Space) SetLimits(l Limits) {
	s.owner.mu.Lock()
	s.acct.setLimits(l)
	s.owner.mu.Unlock()
}

// Mapped reports whether any block lies, or ever lay, in a mapped file, so
// that touching the table's memory needs a fault guard.
func (s *Space) Mapped() bool { return s.mapped.Load() }

// Has reports whether the table has any bytes on tier t. The caller has the
// table's lock.
func (s *Space) Has(t Tier) bool { return s.m.held[t] != 0 }

// Lost returns the error that lost a page of the table in the disk table, nil
// if none is lost.
func (s *Space) Lost() error { return s.failed.Err() }

// MayMap reports whether a block may come to lie in a mapped file.
func (s *Space) MayMap() bool { return s.alloc.pool != nil }
