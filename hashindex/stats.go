package hashindex

// Stats describes an index at one moment, its overflow index included.
type Stats struct {
	Entries  int   // keys
	Slots    int   // places for keys, taken or not
	Segments int   // pieces of memory that hold the slots
	Bytes    int64 // taken from Memory
	Heap     int64 // on the Go heap, by capacity: the directory, and for each run 8 bytes a page and a filter's segment
	Overflow int   // of Entries: in the overflow index

	Runs        int   // on disk
	OnDisk      int   // of Entries: in runs
	Removed     int   // entries in runs that were removed and still take space
	FilterBytes int64 // of Bytes: filters of the runs
	Spills      int   // how often entries went to disk since the last Clear
	Reads       int64 // of a page or a part of one, since the last Clear
	Writes      int64

	// Probes[k] counts the entries that are found in the (k+1)-th group of 4
	// slots on their way; the last element counts all from there on.
	Probes [16]int
}

// Stats computes the statistics; its cost is that of reading all slots.
func (x *Index) Stats() Stats {
	var st Stats
	x.addStats(&st)
	if x.over != nil {
		st.Overflow = x.over.Len()
	}
	return st
}

func (x *Index) addStats(st *Stats) {
	if x.over != nil {
		x.over.addStats(st)
	}
	if x.low != nil {
		x.low.addStats(st)
	}
	st.Entries += x.entries
	st.Segments += x.segments
	st.Slots += x.segments * x.groups() * groupSlots
	st.Bytes += int64(x.segments * x.groups() * groupBytes)
	st.Heap += int64(cap(x.dir)) * entryBytes
	for i := 0; x.segments > 0 && i < len(x.dir); i += x.span(uint64(i)) {
		countProbes(st, view(x.dir[i].seg, x.groups()))
	}
}

func (l *lower) addStats(st *Stats) {
	st.Runs += len(l.runs)
	st.Spills += int(l.spills)
	st.Reads += l.traffic.reads.Load()
	st.Writes += l.traffic.writes.Load()
	for _, r := range l.runs {
		filter := int64(len(r.filter)) * segmentBytes
		st.Entries += r.live()
		st.OnDisk += r.live()
		st.Removed += r.dead
		st.FilterBytes += filter
		st.Bytes += filter
		st.Heap += int64(cap(r.fences)+cap(r.filter)) * 8
	}
}

func countProbes(st *Stats, seg []group) {
	mask := uint64(len(seg) - 1)
	for i, g := range seg {
		for _, s := range &g {
			if s.id != 0 {
				way := (uint64(i) - s.m>>homeShift) & mask
				st.Probes[min(way, uint64(len(st.Probes)-1))]++
			}
		}
	}
}

// Load is the share of slots that are taken, 0 to 1.
func (st Stats) Load() float64 {
	return float64(st.Entries-st.OnDisk) / float64(max(st.Slots, 1))
}
