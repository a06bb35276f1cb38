package temptable

import (
	"runtime/debug"
	"time"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/hashindex"
	"github.com/spillway-db/spillway/internal/sys"
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

// Counters are what a table, or all tables of an engine, did so far.
type Counters = allocator.Counters

// Reached says when and why a table first had a block on a tier.
type Reached = allocator.Reached

// TableStats describe a table at one moment. All sizes are bytes. At every
// moment, whatever the table is doing,
//
//	Held[RAM] + Held[Mmap] + Held[Disk] == Created + Reused - Freed
//	Peak[t] >= Bytes[t], purpose by purpose
//	Bytes[t] == 0 exactly if Held[t] == 0
//	Rows * 16 <= Bytes[RAM].Rows + Bytes[Mmap].Rows + Bytes[Disk].Rows
//	Moved <= Spilled <= Created + Reused
//	Reached[t] is set if Held[t] > 0, t being Mmap or Disk
//
// A row's least size is 16 bytes; the line on rows does not hold for a table
// whose blocks are given back while it is read.
type TableStats struct {
	Name  string    // as given by Named
	Owner string    // its path
	Since time.Time // when the table was made
	// Rows is their number now; Inserted that of all rows added so far, those
	// included that are gone. (Duplicates were never added.) While a call is
	// under way Inserted may be a row ahead.
	Rows, Inserted int64
	// Bytes are what is charged on each tier, by purpose, and Peak the most that
	// each of these numbers has been.
	Bytes, Peak [3]TierBytes
	// Held is the number of blocks on each tier.
	Held [3]int64
	Counters
	// Reached says of Mmap and Disk when and why the table came to lie there.
	Reached [3]Reached
	// Failed is why the table is lost, nil if it is not.
	Failed error
}

// BlocksPerRow is the number of blocks taken for each row added: far below 1
// in any sane use, since a block holds many rows. It is what gives away a table
// that takes and returns blocks instead of keeping them.
func (s *TableStats) BlocksPerRow() float64 {
	return float64(s.Taken()) / float64(max(s.Inserted, 1))
}

// Total is the number of bytes on all tiers.
func (s *TableStats) Total() (n int64) {
	for t := range s.Bytes {
		n += s.Bytes[t].Total()
	}
	return n
}

// Lowest is the lowest tier that the table has blocks on.
func (s *TableStats) Lowest() Tier {
	t := Disk
	for t > RAM && s.Held[t] == 0 {
		t--
	}
	return t
}

// WhySpilled says in a sentence why the table first left RAM; "" if it never
// did.
func (s *TableStats) WhySpilled() string {
	first := s.Reached[Mmap]
	if d := s.Reached[Disk]; first.At.IsZero() || !d.At.IsZero() && d.At.Before(first.At) {
		first = d
	}
	return first.Reason
}

// Stats returns the table's statistics. It may be called at any time, from any
// goroutine, and does not wait for calls on the table. Cost: below a
// microsecond.
func (t *Table) Stats() TableStats {
	s := TableStats{Name: t.name, Owner: t.space.Path(), Since: t.created}
	m := t.space.Stats(func() {
		s.Rows = t.use.rows()
		s.Inserted = s.Rows + t.removed.Load()
	})
	s.Bytes, s.Peak, s.Held, s.Counters, s.Reached = m.Bytes, m.Peak, m.Held, m.Count, m.Reached
	if err := t.failed.Load(); err != nil && err != &errConsumed {
		s.Failed = *err
	}
	return s
}

// IndexStats describe a hash index.
type IndexStats struct {
	Name string
	hashindex.Stats
}

// IndexStats describes the table's hash indexes, load and probe lengths
// included. ok is false if a call on the table is under way: calls that come
// meanwhile wait. Cost: that of reading all slots.
func (t *Table) IndexStats() (all []IndexStats, ok bool) {
	if !t.TryLock() {
		return nil, false
	}
	defer t.Unlock()
	err := t.indexStats(&all)
	return all, t.lost(err) == nil
}

func (t *Table) indexStats(all *[]IndexStats) (err error) {
	if t.space.Mapped() {
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	if t.index != nil {
		*all = append(*all, IndexStats{distinctName, t.index.Stats()})
	}
	if t.ext == nil {
		return nil
	}
	for _, x := range t.ext.indexes {
		if x.hash != nil && x.hash != t.index {
			*all = append(*all, IndexStats{x.spec.Name, x.hash.Stats()})
		}
	}
	return nil
}

// OwnerStats describe an owner.
type OwnerStats = allocator.OwnerStats

// Owners describes the engine's owners, each after the one above it.
func (e *Engine) Owners() []OwnerStats { return e.alloc.Owners() }

// Tables describes the engine's tables while they are used: owner by owner, the
// newest table of each first. It does not wait for calls on them. Each table's
// numbers are of one moment.
func (e *Engine) Tables() []TableStats {
	locks := e.alloc.Locks()
	all := make([]TableStats, 0, len(locks))
	for _, l := range locks {
		if t := l.(*Table); !t.use.dropped() {
			all = append(all, t.Stats())
		}
	}
	return all
}

// Stats describe an engine.
type Stats struct {
	allocator.Stats
	// TablesCreated is the number of tables made so far.
	TablesCreated int64
	// EventsLost is the number of events that came too fast to be told.
	EventsLost int64
}

// Stats returns the engine's statistics: one pass over its tables. It may be
// called at any time; inserts do not wait for it.
func (e *Engine) Stats() Stats {
	return Stats{Stats: e.alloc.Stats(), TablesCreated: e.tables.Load(), EventsLost: e.events.dropped()}
}

// StatusVar is a number under the name that it has in MySQL.
type StatusVar struct {
	Name  string
	Value int64
	Note  string // how MySQL's differs
}

// Status returns the counters that MySQL has, too, under its names.
func (s *Stats) Status() []StatusVar {
	return []StatusVar{
		{"Created_tmp_tables", s.TablesCreated, "the same"},
		{"Created_tmp_disk_tables", s.ReachedDisk, "MySQL's are tables copied to InnoDB; ours had a block on the disk tier, and nothing was copied. Neither counts tables in mapped files: see Created_tmp_mmap_tables"},
		{"Created_tmp_mmap_tables", s.ReachedMmap, "MySQL has no such counter: a table in mapped files looks like one in memory"},
		{"Created_tmp_files", s.Pool.FilesCreated + s.Disk.FilesCreated, "MySQL's has the files of sorts and of the binary log's cache, too"},
		{"TempTable_count_hit_max_ram", s.Count.HitEngine, "the same: blocks that did not fit, in either case"},
		{"Count_hit_tmp_table_size", s.Count.HitTable, "MySQL's is counted when it is too late: the table is then copied to disk"},
		{"physical_ram", s.RAM, "MySQL's memory/temptable/physical_ram is the same, without idle memory"},
		{"physical_disk", s.Pool.Used + s.Disk.Bytes, "MySQL's memory/temptable/physical_disk is mapped files only"},
	}
}
