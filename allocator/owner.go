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
	acct  account

	mu     sync.Mutex
	idle   [len(idleSizes)]idleBlocks
	spaces *Space // the first of the list of its tables
	sealed bool

	// The tree of owners, under Allocator.mu.
	parent, child, next, prev *Owner
}

// idleSizes are the blocks that an owner keeps when they are freed, and
// idleCount how many of each: what small tables use, 128 KiB in all.
var idleSizes = [...]int{Page, 2 * Page, DiskPage}

const idleCount = 4

type idleBlocks struct {
	n     int
	piece [idleCount]piece
}

// Root is the owner at the top, which has no limits of its own and no tables.
func (a *Allocator) Root() *Owner { return &a.root }

// NewOwner makes an owner below parent. ErrClosed if that is sealed.
func (a *Allocator) NewOwner(name string, parent *Owner, l Limits) (*Owner, error) {
	o := &Owner{alloc: a, parent: parent}
	o.acct.init(&parent.acct, ErrOwnerLimit, name, l)
	a.mu.Lock()
	defer a.mu.Unlock()
	if parent.isSealed() {
		return nil, fmt.Errorf("allocator: owner %q: %w", parent.acct.name, ErrClosed)
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
	o.flush()
	o.alloc.mu.Lock()
	defer o.alloc.mu.Unlock()
	if o.parent == nil {
		return
	}
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
func (o *Owner) SetLimits(l Limits) { o.acct.setLimits(l) }

// Name returns the name given to NewOwner.
func (o *Owner) Name() string { return o.acct.name }

// Used and Peak return the bytes that the owner's tables have and had at most
// on tier t.
func (o *Owner) Used(t Tier) int64 { return o.acct.tiers[t].used.Load() }
func (o *Owner) Peak(t Tier) int64 { return o.acct.tiers[t].peak.Load() }

// flush gives the idle blocks back to the engine.
func (o *Owner) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.idle {
		for c := &o.idle[i]; c.n > 0; c.n-- {
			o.alloc.ram.give(c.piece[c.n-1])
		}
	}
}

func idleClass(size int) int {
	for i, s := range idleSizes {
		if s == size {
			return i
		}
	}
	return -1
}

// takeIdle returns an idle block of exactly size bytes.
func (o *Owner) takeIdle(size int) (piece, bool) {
	i := idleClass(size)
	if i < 0 {
		return piece{}, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c := &o.idle[i]
	if c.n == 0 {
		return piece{}, false
	}
	c.n--
	return c.piece[c.n], true
}

// keepIdle keeps a freed block, or reports that it has enough.
func (o *Owner) keepIdle(p piece) bool {
	i := idleClass(p.size)
	if i < 0 {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c := &o.idle[i]
	if c.n == idleCount || o.sealed {
		return false
	}
	c.piece[c.n] = p
	c.n++
	return true
}

// flushIdle gives the idle blocks of every owner back to the engine.
func (a *Allocator) flushIdle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.root.walk(func(o *Owner) bool { o.flush(); return true })
}
