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
	if x.none != (slot{}) || len(x.dir) != 1<<x.depth || x.shift != 63-uint(x.depth) {
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
	seg, n := view(e.seg, x.slotsPer()), uint32(0)
	for k, s := range seg {
		if s.id == 0 {
			continue
		}
		n++
		if at, ok := locate(seg, s); !ok || at != uint64(k) || x.base(x.indexOf(s.m)) != i || s.id&idMask == 0 {
			return fmt.Errorf("%w: entry %d, slot %d: %+v", errCorrupt, i, k, s)
		}
	}
	if n != e.count {
		return fmt.Errorf("%w: entry %d counts %d, has %d", errCorrupt, i, e.count, n)
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
