package disktable

import (
	"math/bits"
	"sync"
)

const (
	maxShards = 64
	// groupPages are neighbours that share a shard and may be written in one
	// call: 128 KiB.
	groupPages = 8
)

// table finds the frame of a page. A page and the others of its group share a
// shard.
type table struct {
	shards []shard
	shift  uint // leaves as many bits of a hash as there are shards
}

// shard is a part of the page table. Its lock is held for pointer operations.
type shard struct {
	mu      sync.Mutex
	ready   sync.Cond // a page of this shard is busy no more
	waiting int       // goroutines at ready
	buckets []*Frame  // made with the first page
	size    int       // buckets there will be
	hits    int64
	misses  int64
	_       [8]byte // two cache lines a shard
}

// newTable returns a table for as many frames.
func newTable(frames int) *table {
	n := 1 << min(bits.Len(uint(frames/groupPages)), bits.Len(maxShards)-1)
	t := &table{shards: make([]shard, n), shift: uint(64 - bits.Len(uint(n)-1))}
	per := 1 << (bits.Len(uint(frames/n)) - 1)
	for i := range t.shards {
		sh := &t.shards[i]
		sh.ready.L = &sh.mu
		sh.size = per
	}
	return t
}

// hash mixes the group of a page.
func (k key) hash() uint64 { return k.group() * 0x9E3779B97F4A7C15 }

// of returns the shard of page k.
func (t *table) of(k key) *shard { return &t.shards[k.hash()>>t.shift] }

// bucket returns where the chain of page k begins.
func (sh *shard) bucket(k key) **Frame {
	return &sh.buckets[(k.hash()>>24^uint64(k))&uint64(len(sh.buckets)-1)]
}

// find returns the frame of page k, or nil. The lock is held.
func (sh *shard) find(k key) *Frame {
	if sh.buckets == nil {
		return nil
	}
	f := *sh.bucket(k)
	for f != nil && f.key() != k {
		f = f.next
	}
	return f
}

// pin returns the frame of page k, pinned and with the marks set, or nil. It
// waits while the frame is busy. The lock is held.
func (sh *shard) pin(k key, marks uint64) *Frame {
	for {
		f := sh.find(k)
		if f == nil || f.pin(k, marks) {
			return f
		}
		sh.wait()
	}
}

// wait waits until some page of the shard is busy no more. The lock is held,
// but not meanwhile.
func (sh *shard) wait() {
	sh.waiting++
	sh.ready.Wait()
	sh.waiting--
}

// hit pins the frame of page k, or returns nil.
func (sh *shard) hit(k key) *Frame {
	sh.mu.Lock()
	f := sh.pin(k, used)
	if f != nil {
		sh.hits++
	}
	sh.mu.Unlock()
	return f
}

// enter makes f, whose data and block are set, the frame of page k in state w.
// If another was quicker it returns that one, pinned, instead.
func (sh *shard) enter(k key, f *Frame, w uint64) *Frame {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.misses++
	if g := sh.pin(k, used); g != nil {
		return g
	}
	if sh.buckets == nil {
		sh.buckets = make([]*Frame, sh.size)
	}
	at := sh.bucket(k)
	f.next, *at = *at, f
	f.state.Store(w)
	return f
}

// settle ends the business with f, which stays in the table, in state w.
func (sh *shard) settle(f *Frame, w uint64) {
	sh.mu.Lock()
	f.state.Store(w)
	sh.announce()
	sh.mu.Unlock()
}

// remove takes f, which is busy, out of the table. It stays busy.
func (sh *shard) remove(f *Frame) {
	sh.mu.Lock()
	sh.unlink(f)
	sh.announce()
	sh.mu.Unlock()
}

// unlink takes f out of its chain. The lock is held.
func (sh *shard) unlink(f *Frame) {
	at := sh.bucket(f.key())
	for *at != f {
		at = &(*at).next
	}
	*at, f.next = f.next, nil
	f.state.Store(busy)
}

// announce wakes who waits for a page of the shard. The lock is held.
func (sh *shard) announce() {
	if sh.waiting > 0 {
		sh.ready.Broadcast()
	}
}
