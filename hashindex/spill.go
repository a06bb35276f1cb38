package hashindex

import (
	"fmt"
	"math/bits"
)

// fanOut is how much larger than all newer runs together a run is allowed to
// be before they are merged into it. The sizes are then a geometric series:
// log5(n/m) runs for n entries and m in memory, and each entry is rewritten
// about twice for each.
const fanOut = 4

// lower is what an index has on disk, and what serves that.
type lower struct {
	runs    []*run   // the newest last
	spare   []*group // segments in no use
	spills  uint32   // how often entries went to disk
	scratch scratch
	traffic traffic
}

// spill writes the resident entries to a new run, which needs no memory beyond
// two pages of Go heap, and empties the segments. why is what Memory said. On an
// error the index is as it was.
func (x *Index) spill(why error) error {
	if x.low == nil {
		x.low = new(lower)
	}
	out := x.low.scratch.page()
	defer x.low.scratch.pages.Put(out)
	w, err := newWriter(x.disk, x.entries, out, &x.low.traffic)
	if err == nil {
		if err = x.writeSegments(w); err != nil {
			w.run.pages.Free()
		}
	}
	if err != nil {
		if x.low.spills == 0 {
			x.low = nil
		}
		return fmt.Errorf("hashindex: spill %d entries: %w, after: %w", x.entries, err, why)
	}
	x.low.runs = append(x.low.runs, &w.run)
	x.layered = true
	x.low.spills++
	x.clearSegments()
	x.settle()
	return nil
}

// writeSegments writes all resident entries in the order of their hashes: the
// directory's order is that of the hashes' top bits.
func (x *Index) writeSegments(w *writer) error {
	sorted := x.low.scratch.page()
	defer x.low.scratch.pages.Put(sorted)
	for i := 0; i < len(x.dir); i += x.span(uint64(i)) {
		e := x.dir[i]
		n := sortInto(sorted, view(e.seg, x.groups()), e.depth)
		for _, s := range sorted[:n] {
			if err := w.add(s); err != nil {
				return err
			}
		}
	}
	return w.flush()
}

// sortInto copies the entries of seg, which agree in the first depth bits of
// their hashes, to dst in order: by the ten bits that follow, then by
// insertion, which finds little left to do.
func sortInto(dst *page, seg []group, depth uint8) int {
	const keys = 1 << 10
	key := func(s slot) uint64 { return s.m << (depth & 63) >> (64 - 10) }
	var at [keys + 1]uint16
	slots := slotsIn(seg)
	for _, s := range slots {
		if s.id != 0 {
			at[key(s)+1]++
		}
	}
	for k := range keys {
		at[k+1] += at[k]
	}
	n := int(at[keys])
	for _, s := range slots {
		if s.id != 0 {
			dst[at[key(s)]] = s
			at[key(s)]++
		}
	}
	insertionSort(dst[:n])
	return n
}

func insertionSort(s []slot) {
	for i := 1; i < len(s); i++ {
		e, k := s[i], i
		for ; k > 0 && s[k-1].m > e.m; k-- {
			s[k] = s[k-1]
		}
		s[k] = e
	}
}

// clearSegments empties the resident part.
func (x *Index) clearSegments() {
	for i := 0; x.segments > 0 && i < len(x.dir); i += x.span(uint64(i)) {
		clear(view(x.dir[i].seg, x.groups()))
		x.dir[i].count = 0
	}
	x.entries = 0
	x.epoch++
}

// settle puts the runs in order after a new one was written, while the resident
// part is empty and its memory can serve. What fails here leaves more runs or
// fewer filters, which is slower and not wrong.
func (x *Index) settle() {
	if i := x.due(); i < len(x.low.runs) {
		x.merge(i)
	}
	each := x.filterBits()
	for i := len(x.low.runs) - 1; i >= 0; i-- {
		if x.low.runs[i].filter == nil {
			x.equip(x.low.runs[i], each)
		}
	}
	x.returnSpare()
}

// due returns the first run of those that are to be merged, all up to the
// newest; len(x.low.runs) if none are.
func (x *Index) due() int {
	i := len(x.low.runs) - 1
	sum := x.low.runs[i].live()
	for i > 0 && x.low.runs[i-1].live() < fanOut*sum {
		i--
		sum += x.low.runs[i].live()
	}
	if i == len(x.low.runs)-1 {
		return len(x.low.runs)
	}
	return i
}

// merge makes one run of those from first on, or leaves them.
func (x *Index) merge(first int) {
	old := x.low.runs[first:]
	n := 0
	for _, r := range old {
		n += r.live()
	}
	out := x.low.scratch.page()
	defer x.low.scratch.pages.Put(out)
	w, err := newWriter(x.disk, n, out, &x.low.traffic)
	if err != nil {
		return
	}
	err = x.mergeInto(w, old)
	x.clearSegments()
	if err != nil {
		w.run.pages.Free()
		return
	}
	for _, r := range old {
		x.dropRun(r)
	}
	x.low.runs = append(x.low.runs[:first], &w.run)
}

// dropRun gives back the space of r; its filter's memory becomes spare.
func (x *Index) dropRun(r *run) {
	r.pages.Free()
	x.low.spare = append(x.low.spare, r.filter...)
	r.filter = nil
}

// mergeInto writes the live entries of old in order. The resident segments,
// which are empty, serve as buffers.
func (x *Index) mergeInto(w *writer, old []*run) error {
	in, err := x.sources(old)
	for err == nil {
		best := -1
		for i := range in {
			if in[i].ok && (best < 0 || in[i].head.m < in[best].head.m) {
				best = i
			}
		}
		if best < 0 {
			return w.flush()
		}
		if err = w.add(in[best].head); err == nil {
			err = in[best].advance()
		}
	}
	return err
}

// source is one run that is being merged.
type source struct {
	run   *run
	count *traffic
	buf   []slot
	pos   int  // of the entry behind head
	head  slot // the next live entry
	ok    bool // there is one
}

// advance moves head to the next live entry.
func (s *source) advance() error {
	for s.ok = false; s.pos < s.run.n; {
		in := s.pos % len(s.buf)
		if in == 0 {
			n := min(len(s.buf), s.run.n-s.pos)
			if err := s.run.pages.ReadAt(slotBytesOf(s.buf[:n]), int64(s.pos)*slotBytes); err != nil {
				return err
			}
			s.count.reads.Add(1)
		}
		s.pos++
		if s.head = s.buf[in]; s.head.id != 0 {
			s.ok = true
			return nil
		}
	}
	return nil
}

// sources divides the memory of the resident segments among the runs, and sets
// each to its first entry.
func (x *Index) sources(old []*run) ([]source, error) {
	per := (len(old) + x.segments - 1) / x.segments // runs a segment
	size := x.groups() * groupSlots >> bits.Len(uint(per-1))
	in, k := make([]source, 0, len(old)), 0
	for i := 0; i < len(x.dir); i += x.span(uint64(i)) {
		mem := slotsIn(view(x.dir[i].seg, x.groups()))
		for ; len(mem) >= size && k < len(old); k++ {
			in = append(in, source{run: old[k], buf: mem[:size], count: &x.low.traffic})
			mem = mem[size:]
			if err := in[k].advance(); err != nil {
				return in, err
			}
		}
	}
	return in, nil
}

// filterBits returns how many bits an entry all filters can have in half of the
// index's memory. If that is too few for all, the small runs get what they can.
func (x *Index) filterBits() int {
	entries := 0
	for _, r := range x.low.runs {
		entries += r.live()
	}
	half := (x.segments + x.low.filterSegments()) / 2 * segmentBytes * 8
	return min(max(half/entries, minFilterBits), maxFilterBits)
}

// filterSegments returns how many segments are filters, or could be at once.
func (l *lower) filterSegments() int {
	n := len(l.spare)
	for _, r := range l.runs {
		n += len(r.filter)
	}
	return n
}

// equip gives r a filter of that many bits an entry, or of fewer, if memory for
// one can be had: spare segments, new ones, or resident ones, as long as
// filters have no more than half of all.
func (x *Index) equip(r *run, each int) {
	want, least := filterSegments(r.live(), each), filterSegments(r.live(), minFilterBits)
	if x.groups() != maxGroups || least > len(x.low.spare)+x.segments {
		return
	}
	for len(x.low.spare) < want && x.growSpare() {
	}
	if lack := want - len(x.low.spare); lack > 0 {
		x.shed(lack, least-len(x.low.spare))
	}
	if len(x.low.spare) < least {
		return
	}
	n := min(want, len(x.low.spare))
	f := filter(append([]*group(nil), x.low.spare[len(x.low.spare)-n:]...))
	x.low.spare = x.low.spare[:len(x.low.spare)-n]
	for _, seg := range f {
		clear(view(seg, maxGroups))
	}
	if x.fillFilter(r, f) != nil {
		x.low.spare = append(x.low.spare, f...)
		return
	}
	r.filter = f
}

// growSpare takes a new segment for a filter.
func (x *Index) growSpare() bool {
	mem, err := x.mem.AllocIndex(segmentBytes)
	if err != nil {
		return false
	}
	x.low.spare = append(x.low.spare, groupsOf(mem))
	return true
}

// fillFilter adds all entries of r to f.
func (x *Index) fillFilter(r *run, f filter) error {
	p := x.low.scratch.page()
	defer x.low.scratch.pages.Put(p)
	s := source{run: r, buf: p[:], count: &x.low.traffic}
	err := s.advance()
	for ; err == nil && s.ok; err = s.advance() {
		f.add(s.head.m)
	}
	return err
}

// shed makes up to n resident segments, which are empty, spare: at least least,
// or none. What stays is a power of two, since an uneven directory spills when
// the parts that are not divided are full, and so uses no more.
func (x *Index) shed(n, least int) {
	n = min(n, (x.segments-x.low.filterSegments())/2)
	if n < max(least, 1) {
		return
	}
	x.fold(bits.Len(uint(x.segments-n)) - 1)
}

// fold rebuilds the directory with 1<<depth segments, all empty; the others
// become spare. A part that contains a turned one is turned.
func (x *Index) fold(depth int) {
	dir := make([]entry, 1<<depth)
	k := 0
	for i := 0; i < len(x.dir); i += x.span(uint64(i)) {
		if k == len(dir) {
			x.low.spare = append(x.low.spare, x.dir[i].seg)
			continue
		}
		dir[k] = entry{seg: x.dir[i].seg, depth: uint8(depth)}
		k++
	}
	for i, e := range x.dir {
		if e.turned {
			dir[i*len(dir)/len(x.dir)].turned = true
		}
	}
	x.segments = len(dir)
	x.dir, x.depth, x.shift = dir, uint8(depth), uint(63-depth)
	x.epoch++
}

// returnSpare gives spare segments back to Memory.
func (x *Index) returnSpare() {
	for _, seg := range x.low.spare {
		x.mem.FreeIndex(bytesOf(seg, maxGroups))
	}
	x.low.spare = x.low.spare[:0]
}

// freeLower gives back everything on disk, and the filters.
func (x *Index) freeLower() {
	if x.low == nil {
		return
	}
	for _, r := range x.low.runs {
		x.dropRun(r)
	}
	x.returnSpare()
	x.low = nil
}
