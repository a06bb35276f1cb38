package debughttp

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/spillway-db/spillway/temptable"
)

// View is what the page shows, and what ?format=json returns. All sizes are
// bytes.
type View struct {
	Time    time.Time   `json:"time"`
	Tiers   []TierView  `json:"tiers"`
	Tables  []TableView `json:"tables"` // the largest first
	Owners  []OwnerView `json:"owners"`
	Counts  []Count     `json:"counts"`
	Status  []Count     `json:"status"` // under MySQL's names
	Events  []EventView `json:"events"` // the latest first
	Created int64       `json:"tables_created"`
}

// TierView is one tier of the engine.
type TierView struct {
	Name  string `json:"name"`
	Used  int64  `json:"used"` // idle bytes included
	Peak  int64  `json:"peak"`
	Limit int64  `json:"limit"` // -1: none, or the tier is off
	Parts []Part `json:"parts"` // they sum to Used
}

// Part is a part of a tier's bytes.
type Part struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// TableView is one table.
type TableView struct {
	Name         string    `json:"name"`
	Owner        string    `json:"owner"`
	Since        time.Time `json:"since"`
	Rows         int64     `json:"rows"`
	Tier         string    `json:"tier"` // the lowest that it has blocks on
	RAM          int64     `json:"ram"`
	Mmap         int64     `json:"mmap"`
	Disk         int64     `json:"disk"`
	Blocks       int64     `json:"blocks"` // held
	Taken        int64     `json:"blocks_taken"`
	Freed        int64     `json:"blocks_freed"`
	BlocksPerRow float64   `json:"blocks_per_row"`
	WhySpilled   string    `json:"why_spilled,omitempty"`
	Failed       string    `json:"failed,omitempty"`
}

// OwnerView is one owner: its tables and those of the owners below it.
type OwnerView struct {
	Path   string `json:"path"`
	Tables int    `json:"tables"`
	RAM    int64  `json:"ram"`
	Mmap   int64  `json:"mmap"`
	Disk   int64  `json:"disk"`
}

// Count is a counter of the engine.
type Count struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
	Note  string `json:"note,omitempty"`
}

// EventView is one event.
type EventView struct {
	At    time.Time `json:"at"`
	Kind  string    `json:"kind"`
	Level string    `json:"level"`
	Text  string    `json:"text"`
}

func newView(e *temptable.Engine, ring *Ring) *View {
	s := e.Stats()
	v := &View{Time: time.Now(), Tiers: tiers(&s), Created: s.TablesCreated, Counts: counts(&s),
		Tables: []TableView{}, Owners: []OwnerView{}, Events: []EventView{}}
	for _, t := range e.Tables() {
		v.Tables = append(v.Tables, tableView(&t))
	}
	slices.SortStableFunc(v.Tables, func(a, b TableView) int { return cmp.Compare(b.total(), a.total()) })
	for _, o := range e.Owners() {
		v.Owners = append(v.Owners, OwnerView{o.Path, o.Tables, o.Bytes[0], o.Bytes[1], o.Bytes[2]})
	}
	for _, n := range s.Status() {
		v.Status = append(v.Status, Count(n))
	}
	if ring != nil {
		for _, ev := range ring.Recent() {
			v.Events = append(v.Events, EventView{ev.At, ev.Kind.String(), ev.Kind.Level().String(), ev.String()})
		}
	}
	return v
}

func tableView(t *temptable.TableStats) TableView {
	v := TableView{Name: t.Name, Owner: t.Owner, Since: t.Since, Rows: t.Rows, Tier: t.Lowest().String(),
		RAM: t.Bytes[0].Total(), Mmap: t.Bytes[1].Total(), Disk: t.Bytes[2].Total(),
		Blocks: t.Held[0] + t.Held[1] + t.Held[2], Taken: t.Taken(), Freed: t.Freed,
		BlocksPerRow: t.BlocksPerRow(), WhySpilled: t.WhySpilled()}
	if t.Failed != nil {
		v.Failed = t.Failed.Error()
	}
	return v
}

func (t *TableView) total() int64 { return t.RAM + t.Mmap + t.Disk }

// tiers divides each tier's bytes.
func tiers(s *temptable.Stats) []TierView {
	ram, mmap, disk := s.Bytes[temptable.RAM], s.Bytes[temptable.Mmap], s.Bytes[temptable.Disk]
	return []TierView{
		{"ram", s.RAM, s.RAMPeak, limitOf(s.RAMLimit), []Part{{"rows", ram.Rows}, {"indexes", ram.Index},
			{"disk cache", ram.Cache}, {"buffers", ram.Other}, {"idle", max(s.RAM-ram.Total(), 0)}}},
		{"mmap", s.Pool.Used, s.Pool.Peak, limitOf(s.Pool.Limit),
			[]Part{{"rows", mmap.Rows}, {"indexes", mmap.Index}, {"idle", max(s.Pool.Used-mmap.Total(), 0)}}},
		{"disk", s.Disk.Bytes, s.Disk.BytesPeak, -1,
			[]Part{{"rows", disk.Rows}, {"indexes", disk.Index}, {"idle", max(s.Disk.Bytes-disk.Total(), 0)}}},
	}
}

// limitOf is -1 for what is no limit, or the limit of a tier that is off.
func limitOf(n int64) int64 {
	if n <= 0 || n > math.MaxInt64/4 {
		return -1
	}
	return n
}

func counts(s *temptable.Stats) []Count {
	c := &s.Count
	return []Count{
		{"tables", int64(s.Live), "now"},
		{"blocks created", c.Created, "memory was got for them, from the kernel or the device"},
		{"blocks reused", c.Reused, "taken from idle memory"},
		{"blocks refilled", c.Refilled, "a table's own, after truncate or roll back"},
		{"blocks freed", c.Freed, "given back by tables; the engine keeps the memory"},
		{"blocks spilled", c.Spilled, "taken below RAM"},
		{"blocks moved", c.Moved, "of those, moved down from RAM"},
		{"bytes spilled", c.SpilledBytes, ""},
		{"refused by a table's limit", c.HitTable, "of RAM: the block went one tier down"},
		{"refused by an owner's limit", c.HitOwner, "of RAM"},
		{"refused by the engine's limit", c.HitEngine, "of RAM"},
		{"refused by mapped files", c.HitMmap, "by any limit or error"},
		{"refused by the disk table", c.HitDisk, "by any limit or error"},
		{"extents hot", s.Pool.Hot, "were ready when they were asked for"},
		{"extents cold", s.Pool.Waited, "somebody waited for the device"},
		{"files", int64(s.Pool.Files + s.Disk.Files), "now"},
		{"files created", s.Pool.FilesCreated + s.Disk.FilesCreated, ""},
		{"mappings made", s.Pool.MapCalls, "of files"},
		{"pages read", s.Disk.PageReads, "of the disk table, 16 KiB"},
		{"pages written", s.Disk.PageWrites, ""},
		{"cache hits", s.Disk.Hits, "of the disk table"},
		{"cache misses", s.Disk.Misses, ""},
		{"faults", s.Pool.Faults, "accesses to mapped files that failed"},
		{"events lost", s.EventsLost, "came too fast to be told"},
	}
}
