package hashindex

import (
	"errors"
	"fmt"
)

// errCorrupt is what Check's errors wrap.
var errCorrupt = errors.New("hashindex: inconsistent")

// Check verifies the whole structure: every entry can be found from its home
// slot, lies in the segment that its hash names, and is counted. Its cost is
// that of reading all slots and all runs. An error is one of Disk, or means a fault of
// this package, or memory that somebody else wrote to.
func (x *Index) Check() error {
	entries, segments := 0, 0
	for i := 0; x.segments > 0 && i < len(x.dir); i += x.span(uint64(i)) {
		if err := x.checkSegment(uint64(i)); err != nil {
			return err
		}
		entries += int(x.dir[i].count)
		segments++
	}
	if entries != x.entries || segments != x.segments {
		return fmt.Errorf("%w: %d entries and %d segments, found %d and %d",
			errCorrupt, x.entries, x.segments, entries, segments)
	}
	if x.none != (group{}) || len(x.dir) != 1<<x.depth || x.shift != 63-uint(x.depth) {
		return fmt.Errorf("%w: the directory's head", errCorrupt)
	}
	return x.checkBelow()
}

// checkBelow verifies the overflow index and the runs.
func (x *Index) checkBelow() error {
	if x.layered != (x.over != nil || x.low != nil) {
		return fmt.Errorf("%w: layered is %v", errCorrupt, x.layered)
	}
	if x.over != nil {
		if err := x.over.Check(); err != nil {
			return err
		}
	}
	if x.low == nil {
		return nil
	}
	for _, r := range x.low.runs {
		if err := x.checkRun(r); err != nil {
			return err
		}
	}
	return nil
}

// checkRun verifies order, fences, counts and filter of r.
func (x *Index) checkRun(r *run) error {
	p := x.low.scratch.page()
	defer x.low.scratch.pages.Put(p)
	live, last := 0, uint64(0)
	for from := 0; from < r.n; from += pageSlots {
		in := p[:min(pageSlots, r.n-from)]
		if err := r.pages.ReadAt(slotBytesOf(in), int64(from)*slotBytes); err != nil {
			return err
		}
		if r.fences[from/pageSlots] != in[0].m {
			return fmt.Errorf("%w: page %d of a run begins at %#x", errCorrupt, from/pageSlots, in[0].m)
		}
		for _, s := range in {
			if s.m < last || s.id != 0 && !r.filter.has(s.m) {
				return fmt.Errorf("%w: entry %+v of a run", errCorrupt, s)
			}
			last = s.m
			live += int(min(s.id, 1))
		}
	}
	if live == 0 || live != r.live() {
		return fmt.Errorf("%w: a run counts %d entries, has %d", errCorrupt, r.live(), live)
	}
	return nil
}

// checkSegment verifies the segment whose first directory entry is i.
func (x *Index) checkSegment(i uint64) error {
	e := x.dir[i]
	if e.depth > x.depth || i != x.base(i) {
		return fmt.Errorf("%w: entry %d has depth %d of %d", errCorrupt, i, e.depth, x.depth)
	}
	for k := 1; k < x.span(i); k++ {
		o := x.dir[i+uint64(k)]
		if o.seg != e.seg || o.depth != e.depth || o.turned != e.turned {
			return fmt.Errorf("%w: entries %d and %d differ", errCorrupt, i, i+uint64(k))
		}
	}
	seg, n := view(e.seg, x.groups()), uint32(0)
	for g := range seg {
		for k, s := range &seg[g] {
			if s.id == 0 {
				continue
			}
			n++
			if err := x.checkEntry(i, seg, uint64(g), uint64(k)); err != nil {
				return err
			}
		}
	}
	if n != e.count {
		return fmt.Errorf("%w: entry %d counts %d, has %d", errCorrupt, i, e.count, n)
	}
	return nil
}

// checkEntry verifies slot k of group g of the segment at directory entry i.
func (x *Index) checkEntry(i uint64, seg []group, g, k uint64) error {
	s := seg[g][k]
	inG, inK, ok := locate(seg, s)
	packed := k == 0 || seg[g][k-1].id != 0
	if !ok || inG != g || inK != k || !packed || x.base(x.indexOf(s.m)) != i || s.id&idMask == 0 {
		return fmt.Errorf("%w: entry %d, group %d, slot %d: %+v", errCorrupt, i, g, k, s)
	}
	return nil
}

// mustCheck is for checked builds.
func (x *Index) mustCheck(entries ...uint64) {
	for _, i := range entries {
		if err := x.checkSegment(i); err != nil {
			panic(err)
		}
	}
}
