package hashindex

// Stats describes an index at one moment, its overflow index included.
type Stats struct {
	Entries  int   // keys
	Slots    int   // places for keys, taken or not
	Segments int   // pieces of memory that hold the slots
	Bytes    int64 // taken from Memory
	Heap     int64 // on the Go heap: the directory, by capacity
	Overflow int   // of Entries: in the overflow index

	// Probes[k] counts the entries that are found in the (k+1)-th group of 4
	// slots on their way; the last element counts all from there on.
	Probes [16]int
}

// Stats computes the statistics; its cost is that of reading all slots.
func (x *Index) Stats() Stats {
	var st Stats
	x.addStats(&st)
	if x.over != nil {
		x.over.addStats(&st)
		st.Overflow = x.over.Len()
	}
	return st
}

func (x *Index) addStats(st *Stats) {
	st.Entries += x.entries
	st.Segments += x.segments
	st.Slots += x.segments * x.groups() * groupSlots
	st.Bytes += int64(x.segments * x.groups() * groupBytes)
	st.Heap += int64(cap(x.dir)) * entryBytes
	for i := 0; x.segments > 0 && i < len(x.dir); i += x.span(uint64(i)) {
		countProbes(st, view(x.dir[i].seg, x.groups()))
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
	if st.Slots == 0 {
		return 0
	}
	return float64(st.Entries) / float64(st.Slots)
}
