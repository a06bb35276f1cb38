package hashindex

import (
	"errors"
	"fmt"

	"github.com/spillway-db/spillway/internal/invariants"
)

// ErrCollisions is returned by Reserve when more keys than a segment holds
// share their hash and all their keyed hashes, which means that Rows.Rehash is
// not the hash that it should be.
var ErrCollisions = errors.New("too many keys share every hash")

const (
	minGroups = 64  // of the first segment: 4 KiB
	maxGroups = 256 // of a segment: 16 KiB

	maxDepth = 22 // directory bits: they end where the home bits begin
	maxLevel = 3  // overflow indexes below one another

	// A directory has at most this many entries a segment. Hashes that are
	// spread evenly need fewer than 4.
	maxDirPerSegment = 4096

	// A segment grows when hardLoad/256 of its slots are taken: the least that
	// keeps two halves, just split, below 38 bytes an entry. It may grow from
	// softLoad/256 on, as long as the index then has at most earlyBytes an entry:
	// probes get shorter, and segments do not all split at the same count.
	hardLoad   = 217
	softLoad   = 170
	earlyBytes = 32
)

// hasRoom says whether m's segment takes another entry as it is.
func (x *Index) hasRoom(m uint64) bool {
	e := x.segmentOf(m)
	return (e.count < x.soft || e.count < x.hard && !x.growsEarly()) && !e.turned
}

// growsEarly says whether one more segment would be within earlyBytes.
func (x *Index) growsEarly() bool {
	return (x.segments+1)*x.groups()*groupBytes <= earlyBytes*x.entries
}

// grow makes more room for m. If that was early and fails, the segments are
// filled up before the next attempt: a refused index does not ask at every
// insert.
func (x *Index) grow(m uint64) error {
	early := x.segmentOf(m).count < x.hard
	err := x.expand(m, early)
	if early && err != nil {
		x.soft, err = x.hard, nil
	}
	return err
}

// expand doubles the only segment, splits m's segment, or turns m's part of
// the directory, the last unless that would be early.
func (x *Index) expand(m uint64, early bool) error {
	switch {
	case x.groups() < maxGroups:
		return x.double()
	case x.canSplit(x.indexOf(m)):
		return x.split(x.base(x.indexOf(m)))
	case !early && x.turn(m):
		return nil
	}
	return fmt.Errorf("hashindex: insert: %w", ErrCollisions)
}

// resize says that segments have n groups; 0 for an index without segments,
// whose empty group takes nothing.
func (x *Index) resize(n int) {
	x.mask = uint64(max(n, 1) - 1)
	x.hard = uint32(n * groupSlots * hardLoad / 256)
	x.soft = uint32(n * groupSlots * softLoad / 256)
}

// alloc returns a new segment of n empty groups.
func (x *Index) alloc(n int) (*group, error) {
	mem, err := x.mem.AllocIndex(n * groupBytes)
	if err != nil {
		return nil, fmt.Errorf("hashindex: grow by %d bytes: %w", n*groupBytes, err)
	}
	x.segments++
	return groupsOf(mem), nil
}

// double replaces the only segment by one twice as large, or none by the first.
func (x *Index) double() error {
	n := max(minGroups, 2*x.groups())
	seg, err := x.alloc(n)
	if err != nil {
		return err
	}
	to := view(seg, n)
	for _, g := range view(x.dir[0].seg, x.groups()) {
		for _, s := range &g {
			if s.id != 0 {
				place(to, s)
			}
		}
	}
	if x.dir[0].seg != &x.none {
		x.mem.FreeIndex(bytesOf(x.dir[0].seg, x.groups()))
		x.segments--
	}
	x.dir[0].seg = seg
	x.resize(n)
	x.epoch++
	return nil
}

// canSplit says whether the segment of entry i may be split: yes, unless the
// directory would have to grow beyond its bounds.
func (x *Index) canSplit(i uint64) bool {
	if x.dir[i].depth < x.depth {
		return true
	}
	return x.depth < maxDepth && 2*len(x.dir) <= maxDirPerSegment*x.segments
}

// split gives the upper half of the hashes of entry i's segment, i being its
// first entry, a segment of their own.
func (x *Index) split(i uint64) error {
	seg, err := x.alloc(x.groups())
	if err != nil {
		return err
	}
	if x.dir[i].depth == x.depth {
		x.widen()
		i *= 2
	}
	e, half := x.dir[i], x.span(i)/2
	moved := divide(view(e.seg, x.groups()), view(seg, x.groups()), 63-e.depth)
	e.depth++
	e.count -= moved
	fill(x.dir[i:][:half], e)
	e.seg, e.count = seg, moved
	fill(x.dir[i:][half:2*half], e)
	x.resize(x.groups())
	x.epoch++
	if invariants.Enabled {
		x.mustCheck(i, i+uint64(half))
	}
	return nil
}

// widen doubles the directory: every entry twice.
func (x *Index) widen() {
	dir := make([]entry, 2*len(x.dir))
	for i, e := range x.dir {
		dir[2*i], dir[2*i+1] = e, e
	}
	x.dir = dir
	x.depth++
	x.shift--
}

func fill(dir []entry, e entry) {
	for i := range dir {
		dir[i] = e
	}
}

// turn sends m's part of the directory's new keys to the overflow index. It
// returns false if there may be none, or no memory for it.
func (x *Index) turn(m uint64) bool {
	if !x.hasOver() {
		return false
	}
	i := x.base(x.indexOf(m))
	for k := range x.dir[i:][:x.span(i)] {
		x.dir[i+uint64(k)].turned = true
	}
	return true
}

// hasOver makes sure of an overflow index that has a segment, so that it can
// spill by itself.
func (x *Index) hasOver() bool {
	if x.over != nil || x.level == maxLevel {
		return x.over != nil
	}
	over := New(x.mem, Options{Seed: x.key, Disk: x.disk})
	over.level = x.level + 1
	if over.double() != nil {
		return false
	}
	x.over, x.layered = over, true
	return true
}
