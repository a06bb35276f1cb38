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
	minSlots = 256  // of the first segment: 4 KiB
	maxSlots = 1024 // of a segment: 16 KiB

	maxDepth = 22 // directory bits: they end where the home bits begin
	maxLevel = 3  // overflow indexes below one another

	// A directory has at most this many entries a segment. Hashes that are
	// spread evenly need fewer than 4.
	maxDirPerSegment = 4096

	// A segment grows when loadNum/loadDen of its slots are taken.
	loadNum, loadDen = 13, 16
)

// grow makes more room for m: it doubles the only segment, splits m's segment,
// or turns m's part of the directory.
func (x *Index) grow(m uint64) error {
	switch {
	case x.slotsPer() < maxSlots:
		return x.double()
	case x.canSplit(x.indexOf(m)):
		return x.split(x.base(x.indexOf(m)))
	case x.turn(m):
		return nil
	}
	return fmt.Errorf("hashindex: insert: %w", ErrCollisions)
}

// alloc returns a new segment of n empty slots.
func (x *Index) alloc(n int) (*slot, error) {
	mem, err := x.mem.AllocIndex(n * slotBytes)
	if err != nil {
		return nil, fmt.Errorf("hashindex: grow by %d bytes: %w", n*slotBytes, err)
	}
	x.segments++
	return slotsOf(mem), nil
}

// double replaces the only segment by one twice as large, or none by the first.
func (x *Index) double() error {
	n := max(minSlots, 2*x.slotsPer())
	seg, err := x.alloc(n)
	if err != nil {
		return err
	}
	to := view(seg, n)
	for _, s := range view(x.dir[0].seg, x.slotsPer()) {
		if s.id != 0 {
			place(to, s)
		}
	}
	if x.dir[0].seg != &x.none {
		x.mem.FreeIndex(bytesOf(x.dir[0].seg, x.slotsPer()))
		x.segments--
	}
	x.dir[0].seg = seg
	x.mask, x.limit = uint64(n-1), uint32(n*loadNum/loadDen)
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
	seg, err := x.alloc(x.slotsPer())
	if err != nil {
		return err
	}
	if x.dir[i].depth == x.depth {
		x.widen()
		i *= 2
	}
	e, half := x.dir[i], x.span(i)/2
	moved := divide(view(e.seg, x.slotsPer()), view(seg, x.slotsPer()), 1<<(63-e.depth))
	e.depth++
	e.count -= uint32(moved)
	fill(x.dir[i:][:half], e)
	e.seg, e.count = seg, uint32(moved)
	fill(x.dir[i:][half:2*half], e)
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
// returns false if there may be none.
func (x *Index) turn(m uint64) bool {
	if x.level == maxLevel {
		return false
	}
	if x.over == nil {
		x.over = New(x.mem, Options{Seed: x.key})
		x.over.level = x.level + 1
		x.layered = true
	}
	i := x.base(x.indexOf(m))
	for k := range x.dir[i:][:x.span(i)] {
		x.dir[i+uint64(k)].turned = true
	}
	return true
}
