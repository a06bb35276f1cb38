package allocator

import (
	"github.com/spillway-db/spillway/spill"
	"github.com/spillway-db/spillway/spill/disktable"
)

// TierBytes are the bytes on one tier, by purpose.
type TierBytes struct {
	Rows, Index, Cache, Other int64
}

// Total is their sum.
func (b TierBytes) Total() int64 { return b.Rows + b.Index + b.Cache + b.Other }

// SpaceStats describe a table's memory.
type SpaceStats struct {
	Owner  string
	Bytes  [numTiers]TierBytes
	Peak   [numTiers]int64
	Blocks int64 // taken so far
}

// Stats reads the counters; it takes no lock.
func (s *Space) Stats() SpaceStats {
	st := SpaceStats{Owner: s.owner.acct.name, Blocks: s.created.Load()}
	for t := range numTiers {
		b := &s.bytes[t]
		st.Bytes[t] = TierBytes{Rows: b[Rows].Load(), Index: b[Index].Load(), Other: b[Other].Load()}
		st.Peak[t] = s.acct.tiers[t].peak.Load()
	}
	return st
}

// Stats describe an engine's memory.
type Stats struct {
	// RAM is what is charged to temptable_max_ram: committed pages, idle ones
	// included, and Heap.
	RAM, RAMPeak, RAMLimit int64
	// Idle is the part of RAM that nobody uses, Cache that of the disk table's
	// cache, Heap that of scratch and buffers on the Go heap.
	Idle, Cache, Heap int64
	// Tables are the bytes that tables hold, and held at most, on each tier.
	Tables, TablesPeak [numTiers]int64
	Pool               spill.Stats
	Disk               disktable.Stats
}

// Stats reads the counters.
func (a *Allocator) Stats() Stats {
	s := Stats{RAM: a.ram.budget.used.Load(), RAMPeak: a.ram.budget.peak.Load(), RAMLimit: a.ram.budget.limit.Load(),
		Idle: a.idle(), Cache: a.cache.Load(), Heap: a.heap.Load()}
	for t := range numTiers {
		s.Tables[t], s.TablesPeak[t] = a.root.Used(t), a.root.Peak(t)
	}
	if a.pool != nil {
		s.Pool = a.pool.Stats()
	}
	if a.disk != nil {
		s.Disk = a.disk.Stats()
	}
	return s
}

// idle is the RAM in the buddies and in the owners' hands.
func (a *Allocator) idle() int64 {
	a.ram.mu.Lock()
	defer a.ram.mu.Unlock()
	return a.ram.idle
}
