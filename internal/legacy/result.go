package legacy

import (
	"slices"
	"time"
)

// Result is what a table did in its life. Everything but Projected is counted.
type Result struct {
	Unique     int // rows stored
	Duplicates int // rows rejected
	// FirstFile is the number of duplicates that had been rejected when the
	// first one made a file; -1 if none did.
	FirstFile int
	Blocks    int   // blocks created
	Files     int   // files created, real or not
	FileBlock int   // bytes of the last file
	Filled    int64 // bytes written to the files, real or not
	RAM       int64 // bytes in use, the shared block included
	Mmap      int64 // bytes in use
	RAMPeak   int64 // bytes, the shared block included
	MmapPeak  int64 // bytes
	Measured  Measured
	// Projected is the time that the files which were not really made would
	// have taken, at the mean rate of those that were; 0 if all were real.
	Projected time.Duration
}

// Measured describes the real files.
type Measured struct {
	Files         int
	Bytes         int64
	Time          time.Duration // in making and destroying them
	P10, P50, P90 time.Duration // of one file
}

// Result returns the counts so far. Call it after Drop, so that files which
// stayed until then are measured, too.
func (t *Table) Result() Result {
	c, s := &t.alloc.counts, t.alloc.store
	r := Result{
		Unique: t.unique, Duplicates: t.duplicates, FirstFile: t.firstFile,
		Blocks: c.blocks, Files: c.files, FileBlock: c.fileBlock, Filled: c.filled,
		RAM: t.alloc.inRAM(), Mmap: t.alloc.mapped, RAMPeak: c.ramPeak, MmapPeak: c.mmapPeak,
		Measured: measure(s.cycles),
	}
	if s.left.bytes > 0 && r.Measured.Bytes > 0 {
		rate := float64(r.Measured.Time) / float64(r.Measured.Bytes)
		r.Projected = time.Duration(rate * float64(s.left.bytes))
	}
	return r
}

func measure(cycles []cycle) Measured {
	var m Measured
	times := make([]time.Duration, 0, len(cycles))
	for _, c := range cycles {
		m.Files++
		m.Bytes += int64(c.bytes)
		m.Time += c.took
		times = append(times, c.took)
	}
	slices.Sort(times)
	m.P10, m.P50, m.P90 = quantile(times, 10), quantile(times, 50), quantile(times, 90)
	return m
}

// quantile returns the percent-th percentile of sorted, 0 if it is empty.
func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*percent/100]
}
