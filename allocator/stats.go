package allocator

import (
	"time"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/spill"
	"github.com/spillway-db/spillway/spill/disktable"
)

// TierBytes are the bytes on one tier, by purpose. Cache and Other are parts
// of an engine; they are 0 for a table.
type TierBytes struct {
	Rows  int64 // row blocks
	Index int64 // index segments, nodes, filters and runs
	Cache int64 // frames of the disk table's cache
	Other int64 // scratch of batches and buffers of cursors, on the Go heap
}

// Total is their sum.
func (b TierBytes) Total() int64 { return b.Rows + b.Index + b.Cache + b.Other }

func (b *TierBytes) of(p Purpose) *int64 {
	return [...]*int64{&b.Rows, &b.Index, &b.Cache, &b.Other}[p]
}

func (b *TierBytes) add(c TierBytes) {
	b.Rows += c.Rows
	b.Index += c.Index
	b.Cache += c.Cache
	b.Other += c.Other
}

// Counters are what tables did so far. At every moment
// Held == Created + Reused - Freed.
type Counters struct {
	Created  int64 // blocks taken that memory was got for, from the kernel or the device
	Reused   int64 // blocks taken from what the engine had idle
	Refilled int64 // the table's own blocks filled again after Release or Reset; not taken
	Freed    int64 // blocks given back; the engine keeps their memory for the next ones
	Moved    int64 // of the blocks taken, those that a full RAM block moved down to
	Spilled  int64 // of the blocks taken, those below RAM

	SpilledBytes int64         // in those
	SpillTime    time.Duration // spent in getting them, and in copying what moved

	HitTable  int64 // refusals of RAM by the table's own limit (tmp_table_size)
	HitOwner  int64 // of RAM by an owner's limit
	HitEngine int64 // of RAM by the engine's limit (temptable_max_ram)
	HitMmap   int64 // of mapped files, by whatever limit or error
	HitDisk   int64 // of the disk table, by whatever limit or error

	Faults int64 // accesses to mapped files that failed
}

// Taken is the number of blocks taken so far, whether for more rows, for an
// index, or to move down.
func (c Counters) Taken() int64 { return c.Created + c.Reused }

func (c *Counters) add(d *Counters) {
	c.Created += d.Created
	c.Reused += d.Reused
	c.Refilled += d.Refilled
	c.Freed += d.Freed
	c.Moved += d.Moved
	c.Spilled += d.Spilled
	c.SpilledBytes += d.SpilledBytes
	c.SpillTime += d.SpillTime
	c.HitTable += d.HitTable
	c.HitOwner += d.HitOwner
	c.HitEngine += d.HitEngine
	c.HitMmap += d.HitMmap
	c.HitDisk += d.HitDisk
	c.Faults += d.Faults
}

// Reached says when and why something first came to lie on a tier. The zero
// value: nothing ever did.
type Reached struct {
	At     time.Time
	Reason string // a sentence: the level above that refused, its limit and use
}

// SpaceStats describe a table's memory at one moment. All of it was read at
// the same time.
type SpaceStats struct {
	Bytes   [numTiers]TierBytes
	Peak    [numTiers]TierBytes // the most of each number, each at its own time
	Held    [numTiers]int64     // blocks
	Count   Counters
	Reached [numTiers]Reached // of Mmap and Disk
}

// measures are the numbers of a Space. Whoever writes holds the table's lock
// and its owner's, whoever reads one of them.
type measures struct {
	bytes, peak [numTiers]TierBytes
	held        [numTiers]int64
	count       Counters
	reached     [numTiers]Reached
}

func (m *measures) take(b *Block, p Purpose) {
	n, peak := m.bytes[b.tier].of(p), m.peak[b.tier].of(p)
	*n += int64(b.held)
	*peak = max(*peak, *n)
	m.held[b.tier]++
	if b.fresh {
		m.count.Created++
	} else {
		m.count.Reused++
	}
	if b.tier != RAM {
		if m.reached[b.tier].At.IsZero() {
			m.reached[b.tier].At = time.Now()
		}
		m.count.Spilled++
		m.count.SpilledBytes += int64(b.held)
	}
}

func (m *measures) give(b *Block, p Purpose) {
	*m.bytes[b.tier].of(p) -= int64(b.held)
	m.held[b.tier]--
	m.count.Freed++
}

// Stats takes a snapshot. Cost: a copy under a lock that blocks, not rows,
// take. If inside is not nil, it is called while the numbers stand still; it
// must not call the allocator.
func (s *Space) Stats(inside func()) SpaceStats {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if inside != nil {
		inside()
	}
	m := &s.m
	return SpaceStats{Bytes: m.bytes, Peak: m.peak, Held: m.held, Count: m.count, Reached: m.reached}
}

// Path returns the names of the owner and those above it, the topmost first.
func (s *Space) Path() string { return s.owner.Path() }

// Path returns the names of o and the owners above it, the topmost first,
// separated by slashes. It takes no lock.
func (o *Owner) Path() string {
	if o.above == nil {
		return o.Name()
	}
	return o.above.Path() + "/" + o.Name()
}

// OwnerStats describe an owner.
type OwnerStats struct {
	Path        string
	Bytes, Peak [numTiers]int64 // of its tables and those of owners below it
	Limits      [numTiers]int64 // 1<<62: none of its own
	Tables      int             // its own, now
	Idle        int64           // bytes of blocks that it keeps for its next tables
}

// Stats describe an engine's memory. When no call is under way
//
//	RAM == Bytes[RAM].Total() + Idle
//	Bytes[RAM].Cache == Cache, Bytes[RAM].Other == Heap
//	Bytes[t].Rows + Bytes[t].Index == Tables[t]
//
// and otherwise they differ by the blocks that are being taken or given back.
type Stats struct {
	// RAM is what is charged to temptable_max_ram: committed pages, idle ones
	// included, and Heap.
	RAM, RAMPeak, RAMLimit int64
	// Idle is the part of RAM that nobody uses, Cache that of the disk table's
	// cache, Heap that of scratch and buffers on the Go heap.
	Idle, Cache, Heap int64
	// Tables are the bytes that tables hold, and held at most, on each tier. For
	// RAM the latter is not counted, and is RAMPeak.
	Tables, TablesPeak [numTiers]int64
	// Bytes are all bytes in use, by purpose: one pass over the tables, and
	// Cache and Heap.
	Bytes [numTiers]TierBytes
	// Held are the blocks that tables hold.
	Held [numTiers]int64
	// Count is over all tables that are, or were.
	Count Counters
	// ReachedMmap and ReachedDisk are the numbers of tables, those gone
	// included, that ever had a block there.
	ReachedMmap, ReachedDisk int64
	// Live is the number of tables.
	Live int

	Pool spill.Stats
	Disk disktable.Stats
	// Calls are the system calls made so far, by kind, failed ones included;
	// read and write are those of the disk table, not of the kernel's paging.
	Calls map[string]int64
}

// gone is what is left of tables that were freed.
type gone struct {
	count      Counters
	mmap, disk int64 // tables that reached the tier
}

func (g *gone) add(h *gone) {
	g.count.add(&h.count)
	g.mmap += h.mmap
	g.disk += h.disk
}

// bury adds the counters of a table that ends. Its owner's lock is held.
func (g *gone) bury(s *Space) {
	g.count.add(&s.m.count)
	g.mmap += reached(&s.m, Mmap)
	g.disk += reached(&s.m, Disk)
}

func reached(m *measures, t Tier) int64 {
	if m.reached[t].At.IsZero() {
		return 0
	}
	return 1
}

// Stats reads the counters, in one pass over the owners and tables. Creating
// an owner waits for it, and creating or dropping a table of the owner that is
// being looked at; inserts do not.
func (a *Allocator) Stats() Stats {
	s := Stats{RAM: a.ram.budget.used.Load(), RAMPeak: a.ram.budget.highest(), RAMLimit: a.ram.budget.max(),
		Idle: a.ram.idle.Load(), Cache: a.cache.Load(), Heap: a.heap.Load(), Calls: calls(a.ram.fs)}
	s.Bytes[RAM].Cache, s.Bytes[RAM].Other = s.Cache, s.Heap
	s.TablesPeak[RAM] = s.RAMPeak
	for t := Mmap; t < numTiers; t++ {
		s.Tables[t], s.TablesPeak[t] = a.below[t].used.Load(), a.below[t].highest()
	}
	a.mu.Lock()
	a.root.walk(func(o *Owner) bool { o.addTo(&s); return true })
	a.mu.Unlock()
	if a.pool != nil {
		s.Pool = a.pool.Stats()
	}
	if a.disk != nil {
		s.Disk = a.disk.Stats()
	}
	return s
}

func calls(fs sys.FS) map[string]int64 {
	m := make(map[string]int64, sys.NumOps)
	for op, n := range fs.Calls() {
		m[sys.Op(op).String()] = n
	}
	return m
}

// addTo adds o's own tables, present and past, and its idle blocks. A table
// that is freed meanwhile is counted once.
func (o *Owner) addTo(s *Stats) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.Idle += o.idleBytes()
	s.Count.add(&o.gone.count)
	s.ReachedMmap += o.gone.mmap
	s.ReachedDisk += o.gone.disk
	if o.above == nil {
		s.Tables[RAM] += o.acct.tiers[RAM].used
	}
	for t := o.spaces; t != nil; t = t.next {
		t.addTo(s)
	}
}

func (s *Space) addTo(st *Stats) {
	st.Live++
	for t := range numTiers {
		st.Bytes[t].add(s.m.bytes[t])
		st.Held[t] += s.m.held[t]
	}
	st.Count.add(&s.m.count)
	st.ReachedMmap += reached(&s.m, Mmap)
	st.ReachedDisk += reached(&s.m, Disk)
}

func (o *Owner) idleBytes() (n int64) {
	for i, size := range idleSizes {
		n += int64(size * o.idle[i].n)
	}
	return n
}

// Owners describes all owners but the root, each after the one above it.
func (a *Allocator) Owners() (all []OwnerStats) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.root.walk(func(o *Owner) bool {
		if o != &a.root {
			all = append(all, o.stats())
		}
		return true
	})
	return all
}

func (o *Owner) stats() OwnerStats {
	s := OwnerStats{Path: o.Path()}
	o.mu.Lock()
	defer o.mu.Unlock()
	for t := range numTiers {
		m := &o.acct.tiers[t]
		s.Bytes[t], s.Peak[t], s.Limits[t] = m.used, m.highest(), inBytes(m.limit)
	}
	s.Idle = o.idleBytes()
	for t := o.spaces; t != nil; t = t.next {
		s.Tables++
	}
	return s
}

// Locks returns the locks of all tables, owner by owner, the newest table of
// each first. They may have been freed since.
func (a *Allocator) Locks() (all []Lock) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.root.walk(func(o *Owner) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		for s := o.spaces; s != nil; s = s.next {
			all = append(all, s.lock)
		}
		return true
	})
	return all
}

// Holder returns the lock that was given to Init: the table.
func (s *Space) Holder() Lock { return s.lock }
