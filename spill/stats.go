package spill

import "github.com/spillway-db/spillway/spill/internal/filespace"

// Stats is a snapshot of a pool. Bytes are bytes of files that the devices
// have given.
type Stats struct {
	Used  int64 // all of them, idle ones included
	Peak  int64 // the most that Used has been
	Idle  int64 // of Used, not handed out
	Held  int64 // of Used, handed out, being scrubbed, or in files set aside
	Cold  int64 // of Used, in pages that were never touched
	Limit int64 // of Used; Off: none

	Hot      int64 // extents that Acquire had ready, so far
	Waited   int64 // extents for which Acquire had to call the system, so far
	Released int64 // extents given back, so far

	Files        int   // open now
	BadFiles     int   // of those, set aside after a fault
	FilesCreated int64 // so far
	FilesRemoved int64
	MapCalls     int64 // mappings of files made, so far
	Extended     int64 // steps by which files grew, so far
	Filled       int64 // zeros written, to make pages ready or to preallocate
	Faults       int64 // accesses that have faulted, so far

	Dirs []DirStats // in the order of the options
}

// DirStats tells of one directory: its path, its file system, whether that
// lies in RAM, and how files are backed there.
type DirStats = filespace.DirStats

// Stats takes the snapshot. The counters of extents may be ahead of the bytes.
func (p *Pool) Stats() Stats {
	s := p.space.Stats()
	return Stats{
		Used: s.Used, Peak: s.Peak, Idle: s.Idle, Held: s.Held, Cold: s.Cold, Limit: s.Limit,
		Hot: p.hot.Load(), Waited: p.waited.Load(), Released: p.released.Load(),
		Files: s.Files, BadFiles: s.BadFiles, FilesCreated: s.FilesCreated, FilesRemoved: s.FilesRemoved,
		MapCalls: s.Maps, Extended: s.Extended, Filled: s.Filled, Faults: s.Faults, Dirs: s.Dirs,
	}
}
