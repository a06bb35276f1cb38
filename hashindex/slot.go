package hashindex

import "unsafe"

// slot is one entry: the mixed hash and the row id. An id of 0 marks an empty
// slot, whose m is 0 too.
type slot struct {
	m  uint64
	id uint64
}

const (
	slotBytes  = 16
	groupSlots = 4
	groupBytes = groupSlots * slotBytes
	entryBytes = 16

	// homeShift is where the bits of m that choose the home group begin. They
	// lie below the directory's (the top 22), so that a split moves no home.
	homeShift = 32

	// idBits is the width of a row id; the bits above it are tags.
	idBits = 48
	idMask = 1<<idBits - 1
)

// A slot and a directory entry are two words, wherever they lie.
var (
	_ [0]struct{} = [unsafe.Sizeof(slot{}) - slotBytes]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(group{}) - groupBytes]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(entry{}) - entryBytes]struct{}{}
)

// group is a cache line of slots. Those that are taken come first.
type group [groupSlots]slot

// bit is 1 if b. It compiles to a flag set, not to a branch.
func bit(b bool) uint {
	if b {
		return 1
	}
	return 0
}

// match returns a bit set of the slots that hold m. It compares all of them, so
// that no branch depends on which; for an m of 0 empty slots match, too.
func (g *group) match(m uint64) uint {
	return bit(g[0].m == m) | bit(g[1].m == m)<<1 | bit(g[2].m == m)<<2 | bit(g[3].m == m)<<3
}

// taken returns the number of slots that hold an entry, 0 to 3 unless g is full.
func (g *group) taken() uint {
	return (bit(g[0].id != 0) + bit(g[1].id != 0) + bit(g[2].id != 0)) % groupSlots
}

// full says whether a lookup that came here must look at the next group.
func (g *group) full() bool { return g[groupSlots-1].id != 0 }

// vacant returns the first empty slot on m's way through seg. There is one: no
// segment is ever full.
func vacant(seg []group, m uint64) *slot {
	mask := uint64(len(seg) - 1)
	for i := m >> homeShift; ; i++ {
		if g := &seg[i&mask]; !g.full() {
			return &g[g.taken()]
		}
	}
}

// place stores e where a lookup will find it.
func place(seg []group, e slot) { *vacant(seg, e.m) = e }

// locate returns the group and the slot of the entry e, and whether it is there
// at all.
func locate(seg []group, e slot) (i, k uint64, ok bool) {
	mask := uint64(len(seg) - 1)
	for i = e.m >> homeShift; ; i++ {
		g := &seg[i&mask]
		for k := range g {
			if g[k] == e {
				return i & mask, uint64(k), true
			}
		}
		if !g.full() {
			return 0, 0, false
		}
	}
}

// remove takes out the entry in slot k of group i and moves up those behind it
// that would no longer be found, so that no tombstone is needed.
func remove(seg []group, i, k uint64) {
	for {
		j, l, ok := successor(seg, i)
		if !ok {
			break
		}
		seg[i][k] = seg[j][l]
		i, k = j, l
	}
	g := &seg[i]
	last := uint64(groupSlots - 1)
	if !g.full() {
		last = uint64(g.taken() - 1)
	}
	g[k] = g[last]
	g[last] = slot{}
}

// successor returns the first entry behind group i whose way led through it.
func successor(seg []group, i uint64) (j, k uint64, ok bool) {
	mask := uint64(len(seg) - 1)
	for j = i; seg[j].full(); {
		j = (j + 1) & mask
		for k, s := range &seg[j] {
			if s.id != 0 && (j-s.m>>homeShift)&mask >= (j-i)&mask {
				return j, uint64(k), true
			}
		}
	}
	return 0, 0, false
}

// divide moves the entries of old with bit shift of m set to fresh, which is
// empty and as large, and closes the gaps. It returns how many it moved.
//
// It starts behind a group that is not full, so that it takes clusters from
// their first entry on: whatever an entry's way passes has been placed already,
// and its new group is its old one or one nearer to home. The segment is chosen
// by indexing, not by a branch that would be mispredicted every other time.
func divide(old, fresh []group, shift uint8) (moved uint32) {
	mask := uint64(len(old) - 1)
	to := [2][]group{old, fresh}
	for i, n := gap(old), mask; ; n-- {
		i = (i + 1) & mask
		g := old[i]
		old[i] = group{}
		for _, e := range &g {
			if e.id == 0 {
				break
			}
			up := e.m >> (shift & 63) & 1
			place(to[up], e)
			moved += uint32(up)
		}
		if n == 0 {
			return moved
		}
	}
}

// gap returns the first group of seg that is not full.
func gap(seg []group) uint64 {
	for i := range seg {
		if !seg[i].full() {
			return uint64(i)
		}
	}
	return 0
}
