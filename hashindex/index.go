package hashindex

import (
	"math/bits"
	"math/rand/v2"
)

// Options configure an [Index]. The zero value is fit for use.
type Options struct {
	// Seed makes the index's layout repeatable, for tests. 0, the default,
	// takes a random one, which keys chosen by a stranger cannot foresee.
	Seed uint64
	// Disk is where the index goes when Memory refuses; nil, the default: it
	// does not, and the refusal is Reserve's error.
	Disk Disk
}

// Index maps hashes to row ids. One call that changes it, or any number of
// those that do not (Find, FindBatch, Touch, Stats, Check), may run at a time.
// It must not be copied.
type Index struct {
	dir   []entry // 1<<depth entries
	shift uint    // 63-depth: m>>1>>shift is the directory index
	mask  uint64  // groups of a segment, less one
	depth uint8
	level uint8 // 0, or how many indexes this one is the overflow of

	layered bool // a miss must look further: in over, or in low
	epoch   uint32
	soft    uint32 // entries from which on a segment may grow
	hard    uint32 // and must grow

	entries  int // in the segments
	segments int // that hold them

	mul  [2]uint64 // the mix
	key  uint64    // seed of Rows.Rehash for the entries of this index, if level > 0
	mem  Memory
	over *Index // takes the new keys of turned parts; nil: no part is turned
	disk Disk
	low  *lower // nil: nothing was spilled

	first [1]entry // the directory of depth 0
	none  group    // the segment of an index without memory: always empty
}

// entry is one directory entry. A segment of depth d has 1<<(depth-d) of them
// in a row; count is kept in the first, the rest is the same in all.
type entry struct {
	seg    *group
	count  uint32
	depth  uint8
	turned bool // new keys go to over
}

// Slot is where a key that was not found will go. It is valid until the next
// call that changes the index; Reserve and Publish take it.
//
// With more than four fields the compiler would keep it in memory.
type Slot struct {
	m     uint64
	epoch uint32
	pos   uint16 // the group where the probe ended
	how   uint8  // how many indexes down, plus crowded
}

// crowded in Slot.how: the probe met too many equal hashes of unequal keys.
const crowded = 1 << 7

// New returns an empty index. It takes no memory before the first Reserve, and
// costs one heap allocation.
func New(mem Memory, o Options) *Index {
	seed := o.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	x := &Index{mem: mem, disk: o.Disk}
	x.mul = [2]uint64{spread(&seed) | 1, spread(&seed) | 1}
	x.key = spread(&seed)
	x.reset()
	return x
}

// reset makes the index one without memory.
func (x *Index) reset() {
	x.first[0] = entry{seg: &x.none}
	x.dir, x.depth, x.shift = x.first[:], 0, 63
	x.resize(0)
	x.entries, x.segments = 0, 0
	x.over, x.low, x.layered = nil, nil, false
	x.epoch++
}

// spread is splitmix64: a sequence of well-mixed words from any seed.
func spread(seed *uint64) uint64 {
	*seed += 0x9e3779b97f4a7c15
	z := *seed
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// mix is a bijection. The first multiplication carries what the low bits know
// upward, the swap brings it down again, the second spreads it over the
// directory and home bits, which are the upper half.
func (x *Index) mix(hash uint64) uint64 {
	return bits.ReverseBytes64(hash*x.mul[0]) * x.mul[1]
}

// groups is the number of groups of each segment.
func (x *Index) groups() int { return int(x.mask) + 1 }

// indexOf returns the directory index for m.
func (x *Index) indexOf(m uint64) uint64 { return m >> 1 >> (x.shift & 63) }

// base returns the first directory entry of the segment that entry i names.
func (x *Index) base(i uint64) uint64 { return i &^ uint64(x.span(i)-1) }

// span returns how many directory entries name the segment that entry i names.
func (x *Index) span(i uint64) int { return 1 << ((x.depth - x.dir[i].depth) & 63) }

// segmentOf returns the entry that keeps the count of m's segment.
func (x *Index) segmentOf(m uint64) *entry { return &x.dir[x.base(x.indexOf(m))] }

// Len returns the number of entries.
func (x *Index) Len() int {
	n := x.entries
	if x.over != nil {
		n += x.over.Len()
	}
	if x.low != nil {
		for _, r := range x.low.runs {
			n += r.live()
		}
	}
	return n
}

// Clear removes all entries and keeps the memory of the resident ones, so that
// a table that is truncated and filled again allocates nothing. Its cost is
// that of zeroing the segments.
func (x *Index) Clear() {
	x.freeBelow()
	for i := range x.dir {
		x.dir[i].turned = false
	}
	x.clearSegments()
}

// Free gives back all memory and disk space. The index is as new.
func (x *Index) Free() {
	x.freeBelow()
	for i := 0; x.segments > 0 && i < len(x.dir); i += x.span(uint64(i)) {
		x.mem.FreeIndex(bytesOf(x.dir[i].seg, x.groups()))
	}
	x.reset()
}

// freeBelow gives back everything but the resident part.
func (x *Index) freeBelow() {
	if x.over != nil {
		x.over.Free()
	}
	x.freeLower()
	x.over, x.low, x.layered = nil, nil, false
}
