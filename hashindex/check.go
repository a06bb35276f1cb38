package hashindex

import (
	"errors"
	"fmt"
)

// errCorrupt is what Check's errors wrap.
var errCorrupt = errors.New("hashindex: inconsistent")

// Check verifies the whole structure: every entry can be found from its home
// slot, lies in the segment that its hash names, and is counted. Its cost is
// that of reading all slots. An error means a fault of this package, or memory
// that somebody else wrote to.
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
	if x.over != nil {
		return x.over.Check()
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
