package temptable

import (
	"github.com/spillway-db/spillway/allocator"
)

// Tier is where bytes are: RAM, mapped files or the disk table.
type Tier = allocator.Tier

// The tiers.
const (
	RAM  = allocator.RAM
	Mmap = allocator.Mmap
	Disk = allocator.Disk
)

// TierBytes are bytes on one tier, by purpose.
type TierBytes = allocator.TierBytes

// TableStats describe a table at one moment. All sizes are bytes.
type TableStats struct {
	Name  string
	Owner string
	Rows  int64
	// Bytes are what is charged on each tier, by purpose.
	Bytes [3]TierBytes
	// Peak is the most that was charged on each tier.
	Peak [3]int64
	// Blocks is the number of blocks taken so far, reused ones included.
	Blocks int64
}

// Stats returns the table's statistics. It may be called at any time, from any
// goroutine; it takes no lock.
func (t *Table) Stats() TableStats {
	s := TableStats{Name: t.name, Rows: t.live.Load()}
	m := t.space.Stats()
	s.Owner, s.Bytes, s.Peak, s.Blocks = m.Owner, m.Bytes, m.Peak, m.Blocks
	return s
}

// Stats describe an engine.
type Stats struct {
	allocator.Stats
	// Tables is the number of tables created so far (Created_tmp_tables).
	Tables int64
}

// Stats returns the engine's statistics.
func (e *Engine) Stats() Stats { return Stats{Stats: e.alloc.Stats(), Tables: e.tables.Load()} }
