package disktable

// Stats is what a store did and holds. Repin is not counted.
type Stats struct {
	PageReads  int64 // pages read from the file, wholly or in part
	PageWrites int64 // pages written to the file
	Hits       int64 // Pin found the page in the cache
	Misses     int64 // Pin did not

	Frames     int // frames that have memory
	FramesPeak int // the most there were at once
	Dirty      int // frames whose page differs from the file

	Bytes        int64 // allocated on the devices, idle space included
	BytesPeak    int64 // the most that Bytes has been
	BytesHeld    int64 // of Bytes, in blocks
	Files        int   // open now
	FilesCreated int64 // so far
}

// Stats returns a snapshot. Cost: a look at each frame.
func (s *Store) Stats() Stats {
	st := Stats{PageReads: s.pageReads.Load(), PageWrites: s.pageWrites.Load()}
	sp := s.space.Stats()
	st.Bytes, st.BytesPeak, st.BytesHeld = sp.Used, sp.Peak, sp.Held
	st.Files, st.FilesCreated = sp.Files, sp.FilesCreated
	s.table.count(&st)
	s.frames.count(&st)
	return st
}

func (t *table) count(st *Stats) {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		st.Hits += sh.hits
		st.Misses += sh.misses
		sh.mu.Unlock()
	}
}

func (p *frames) count(st *Stats) {
	p.mu.Lock()
	st.Frames, st.FramesPeak = int(p.backed.Load()), int(p.peak)
	p.mu.Unlock()
	for i := range uint32(p.made.Load()) {
		if p.at(i).state.Load()&dirty != 0 {
			st.Dirty++
		}
	}
}
