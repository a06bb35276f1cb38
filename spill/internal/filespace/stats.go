package filespace

// Stats is a snapshot. Bytes are bytes that the devices have given.
type Stats struct {
	Used  int64 // all of them, idle ones included
	Peak  int64 // the most that Used has been
	Idle  int64 // of Used, free to be handed out
	Held  int64 // of Used, handed out, or in files that are set aside
	Cold  int64 // of Used, in pages that were never touched (mapped spaces)
	Limit int64 // of Used; below 0: none

	Files        int   // open now
	BadFiles     int   // of those, set aside after a fault
	FilesCreated int64 // so far
	FilesRemoved int64
	Maps         int64 // mappings made
	Extended     int64 // steps of growth
	Filled       int64 // zeros written, to warm pages or for want of preallocation
	Faults       int64 // accesses that have faulted

	Dirs []DirStats // in the order of the options
}

// DirStats tells of one directory.
type DirStats struct {
	Path  string
	Type  string // file system; "" before the first file
	InRAM bool   // spilling there saves no memory
	How   string // how files are backed there, in words
}

// Stats takes the snapshot.
func (s *Space) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.n
	st := Stats{
		Used: n.used, Peak: n.peak, Idle: n.idle, Held: n.used - n.idle, Cold: n.cold, Limit: s.limit,
		Maps: n.maps, Files: n.live, BadFiles: n.bad, FilesCreated: n.created, FilesRemoved: n.removed,
		Extended: n.extended, Filled: n.filled, Faults: n.faults,
	}
	for _, d := range s.dirs {
		st.Dirs = append(st.Dirs, DirStats{Path: d.path, Type: d.info.Type, InRAM: d.info.InRAM, How: d.how})
	}
	return st
}
