package debughttp

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spillway-db/spillway/temptable"
)

// collector makes Prometheus' metrics of one snapshot a scrape.
type collector struct{ e *temptable.Engine }

// NewCollector returns the metrics of an engine, for a registry of the
// caller's. Their number does not depend on that of tables and owners.
func NewCollector(e *temptable.Engine) prometheus.Collector { return collector{e} }

// metric describes a family of metrics.
func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("spillway_"+name, help, labels, nil)
}

var (
	descBytes     = metric("bytes", "Bytes in use.", "tier", "purpose")
	descIdle      = metric("idle_bytes", "Bytes that the engine holds and nobody uses.", "tier")
	descPeak      = metric("peak_bytes", "The most bytes that were held, idle ones included.", "tier")
	descLimit     = metric("limit_bytes", "Limit of bytes held.", "tier")
	descTables    = metric("tables", "Tables that exist.")
	descCreated   = metric("tables_created_total", "Tables made so far.")
	descReached   = metric("tables_spilled_total", "Tables so far that had a block on the tier.", "tier")
	descHeld      = metric("blocks", "Blocks that tables hold.", "tier")
	descTaken     = metric("blocks_taken_total", "Blocks taken by tables so far, by where the memory came from.", "source")
	descRefilled  = metric("blocks_refilled_total", "Blocks of their own that tables filled again.")
	descFreed     = metric("blocks_freed_total", "Blocks given back by tables so far.")
	descSpilled   = metric("blocks_spilled_total", "Blocks taken below RAM so far, for new rows or for blocks that moved.", "how")
	descSpillB    = metric("spilled_bytes_total", "Bytes of blocks taken below RAM so far.")
	descSpillT    = metric("spill_seconds_total", "Time spent in getting blocks below RAM.")
	descRefused   = metric("refusals_total", "Blocks refused so far, by the tier and the level of the limit.", "tier", "level")
	descFiles     = metric("files", "Files that are open.", "tier")
	descFilesMade = metric("files_created_total", "Files made so far.", "tier")
	descExtents   = metric("extents_total", "Extents handed out so far: hot ones were ready.", "state")
	descPages     = metric("disk_pages_total", "Pages of the disk table read and written.", "op")
	descCache     = metric("disk_cache_total", "Looks into the disk table's cache.", "result")
	descFaults    = metric("faults_total", "Accesses to mapped files that failed.")
	descCalls     = metric("system_calls_total", "System calls made so far.", "call")
	descLost      = metric("events_lost_total", "Events that came too fast to be told.")
)

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	s := c.e.Stats()
	gauge := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	for _, t := range tiers(&s) {
		collectTier(&t, gauge)
	}
	for t, n := range s.Held {
		gauge(descHeld, n, temptable.Tier(t).String())
	}
	gauge(descTables, int64(s.Live))
	gauge(descFiles, int64(s.Pool.Files), "mmap")
	gauge(descFiles, int64(s.Disk.Files), "disk")
	collectCounts(&s, count)
	ch <- prometheus.MustNewConstMetric(descSpillT, prometheus.CounterValue, s.Count.SpillTime.Seconds())
}

func collectTier(t *TierView, gauge func(*prometheus.Desc, int64, ...string)) {
	for _, p := range t.Parts {
		if p.Name == "idle" {
			gauge(descIdle, p.Bytes, t.Name)
		} else {
			gauge(descBytes, p.Bytes, t.Name, p.Name)
		}
	}
	gauge(descPeak, t.Peak, t.Name)
	if t.Limit >= 0 {
		gauge(descLimit, t.Limit, t.Name)
	}
}

func collectCounts(s *temptable.Stats, count func(*prometheus.Desc, int64, ...string)) {
	c := &s.Count
	count(descCreated, s.TablesCreated)
	count(descReached, s.ReachedMmap, "mmap")
	count(descReached, s.ReachedDisk, "disk")
	count(descTaken, c.Created, "created")
	count(descTaken, c.Reused, "reused")
	count(descRefilled, c.Refilled)
	count(descFreed, c.Freed)
	count(descSpilled, c.Spilled-c.Moved, "taken")
	count(descSpilled, c.Moved, "moved")
	count(descSpillB, c.SpilledBytes)
	count(descRefused, c.HitTable, "ram", "table")
	count(descRefused, c.HitOwner, "ram", "owner")
	count(descRefused, c.HitEngine, "ram", "engine")
	count(descRefused, c.HitMmap, "mmap", "any")
	count(descRefused, c.HitDisk, "disk", "any")
	count(descFilesMade, s.Pool.FilesCreated, "mmap")
	count(descFilesMade, s.Disk.FilesCreated, "disk")
	count(descExtents, s.Pool.Hot, "hot")
	count(descExtents, s.Pool.Waited, "cold")
	count(descPages, s.Disk.PageReads, "read")
	count(descPages, s.Disk.PageWrites, "write")
	count(descCache, s.Disk.Hits, "hit")
	count(descCache, s.Disk.Misses, "miss")
	count(descFaults, s.Pool.Faults)
	count(descLost, s.EventsLost)
	for call, n := range s.Calls {
		count(descCalls, n, call)
	}
}
