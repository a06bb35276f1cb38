package allocator

import (
	"fmt"
	"sync"
)

// Owner is a session or a query: a level of limits above its tables, and a few
// idle blocks, so that a table that comes and goes meets no lock but its own
// owner's. Owners nest. It is safe for concurrent use.
type Owner struct {
	alloc *Allocator
	above *Owner // whose limits hold, too; nil below the root

	mu     sync.Mutex // guards what follows, and the accounts of its tables
	acct   account
	idle   idleBlocks
	spaces *Space // the first of the list of its tables
	sealed bool
	gone   gone // what its former tables, and owners below it, did

	// The tree of owners, under Allocator.mu.
	parent, child, next, prev *Owner
	keeper                    link // under Allocator.keepers
}

// Root is the owner at the top. It has no limits, no tables, and counts nothing.
func (a *Allocator) Root() *Owner { return &a.root }

// NewOwner makes an owner below parent. ErrClosed if that is sealed.
func (a *Allocator) NewOwner(name string, parent *Owner, l Limits) (*Owner, error) {
	o := &Owner{alloc: a, parent: parent}
	if parent != &a.root {
		o.above = parent
	}
	o.acct.name, o.acct.owner = name, o
	o.acct.setLimits(l)
	a.mu.Lock()
	defer a.mu.Unlock()
	if parent.isSealed() {
		return nil, fmt.Errorf("allocator: new owner below %q: %w", parent.Name(), ErrClosed)
	}
	o.next = parent.child
	if o.next != nil {
		o.next.prev = o
	}
	parent.child = o
	return o, nil
}

// Seal forbids new tables and owners below o.
func (o *Owner) Seal() {
	o.mu.Lock()
	o.sealed = true
	o.mu.Unlock()
}

func (o *Owner) isSealed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sealed
}

// Child returns an owner directly below o, nil if there is none.
func (o *Owner) Child() *Owner {
	o.alloc.mu.Lock()
	defer o.alloc.mu.Unlock()
	return o.child
}

// Table returns the lock of a table of o, nil if there is none.
func (o *Owner) Table() Lock {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spaces == nil {
		return nil
	}
	return o.spaces.lock
}

// Remove takes a sealed owner without tables and owners out of the tree and
// gives its idle blocks back. Removing again does nothing.
func (o *Owner) Remove() {
	o.alloc.keepers.remove(o)
	o.flush()
	o.alloc.mu.Lock()
	defer o.alloc.mu.Unlock()
	if o.parent == nil {
		return
	}
	o.parent.inherit(o)
	if o.next != nil {
		o.next.prev = o.prev
	}
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		o.parent.child = o.next
	}
	o.parent, o.next, o.prev = nil, nil, nil
}

// inherit keeps the counters of an owner below o that is removed.
func (o *Owner) inherit(child *Owner) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone.add(&child.gone)
}

// unlink takes a table out of the list. The lock is held.
func (o *Owner) unlink(s *Space) {
	if s.next != nil {
		s.next.prev = s.prev
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		o.spaces = s.next
	}
	s.next, s.prev = nil, nil
}

// walk calls f for o and every owner below it until f returns false. The
// caller holds Allocator.mu.
func (o *Owner) walk(f func(*Owner) bool) bool {
	if !f(o) {
		return false
	}
	for c := o.child; c != nil; c = c.next {
		if !c.walk(f) {
			return false
		}
	}
	return true
}

// SetLimits changes the limits. What is in use above a lower limit stays; the
// next block obeys.
func (o *Owner) SetLimits(l Limits) {
	o.mu.Lock()
	o.acct.setLimits(l)
	o.mu.Unlock()
}

// Name returns the name given to NewOwner.
func (o *Owner) Name() string { return o.acct.name }

// Used returns the bytes that the tables of o, and of the owners below it,
// have on tier t.
func (o *Owner) Used(t Tier) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acct.tiers[t].used
}

// Peak returns the most that Used has been.
func (o *Owner) Peak(t Tier) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acct.tiers[t].highest()
}
