package allocator

import (
	"sync"
	"sync/atomic"
)

// idleSizes are the blocks that an owner keeps when they are freed, and
// idleCount how many of each, 112 KiB in all: what small tables use.
var idleSizes = [...]int{Page, 2 * Page, DiskPage}

const idleCount = 4

// idleBlocks are an owner's idle blocks, by size. They are charged to the
// engine and to nobody below it.
type idleBlocks [len(idleSizes)]struct {
	n     int
	piece [idleCount]piece
}

func idleClass(size int) int {
	for i, s := range idleSizes {
		if s == size {
			return i
		}
	}
	return -1
}

// takeIdle returns an idle block of exactly size bytes. The lock is held.
func (o *Owner) takeIdle(size int) (piece, bool) {
	i := idleClass(size)
	if i < 0 || o.idle[i].n == 0 {
		return piece{}, false
	}
	c := &o.idle[i]
	c.n--
	return c.piece[c.n], true
}

// keep keeps a freed block, or gives it back to the engine if there are enough.
// The lock is held.
func (o *Owner) keep(p piece) {
	i := idleClass(int(p.size))
	if i < 0 || o.sealed || o.idle[i].n == idleCount {
		o.alloc.ram.give(p)
		return
	}
	c := &o.idle[i]
	c.piece[c.n] = p
	c.n++
	if !o.keeper.in.Load() {
		o.alloc.keepers.add(o)
	}
}

// flush gives the idle blocks back to the engine and returns their bytes.
func (o *Owner) flush() (bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.idle {
		for c := &o.idle[i]; c.n > 0; c.n-- {
			o.alloc.ram.give(c.piece[c.n-1])
			bytes += int64(idleSizes[i])
		}
	}
	return bytes
}

// keepers are the owners that may have idle blocks. An owner stays until it is
// flushed, so that a table that comes and goes writes nothing that is shared.
// Its lock is below Owner.mu.
type keepers struct {
	n     atomic.Int64
	mu    sync.Mutex
	first *Owner
}

// link is an owner's place among the keepers.
type link struct {
	in         atomic.Bool
	next, prev *Owner
}

func (k *keepers) add(o *Owner) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o.keeper.in.Store(true)
	o.keeper.next = k.first
	if k.first != nil {
		k.first.keeper.prev = o
	}
	k.first = o
	k.n.Add(1)
}

// pop takes an owner out, nil if there is none.
func (k *keepers) pop() *Owner {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.first
	if o != nil {
		k.unlink(o)
	}
	return o
}

func (k *keepers) remove(o *Owner) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if o.keeper.in.Load() {
		k.unlink(o)
	}
}

func (k *keepers) unlink(o *Owner) {
	l := &o.keeper
	if l.next != nil {
		l.next.keeper.prev = l.prev
	}
	if l.prev != nil {
		l.prev.keeper.next = l.next
	} else {
		k.first = l.next
	}
	l.next, l.prev = nil, nil
	l.in.Store(false)
	k.n.Add(-1)
}

// flushIdle gives the idle blocks of every owner back to the engine and
// returns their bytes. Cost: the owners that may have some.
func (a *Allocator) flushIdle() (bytes int64) {
	for range a.keepers.n.Load() {
		if o := a.keepers.pop(); o != nil {
			bytes += o.flush()
		}
	}
	return bytes
}
