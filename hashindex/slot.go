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
	entryBytes = 16

	// homeShift is where the bits of m that choose the home slot begin. They
	// lie below the directory's (the top 22), so that a split moves no home.
	homeShift = 32

	// idBits is the width of a row id; the bits above it are tags.
	idBits = 48
	idMask = 1<<idBits - 1
)

// A slot and a directory entry are two words, wherever they lie.
var (
	_ [0]struct{} = [unsafe.Sizeof(slot{}) - slotBytes]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(entry{}) - entryBytes]struct{}{}
)

// vacant returns the first empty slot on m's way through seg. There is one:
// no segment is ever full.
func vacant(seg []slot, m uint64) uint64 {
	mask := uint64(len(seg) - 1)
	for i := m >> homeShift; ; i++ {
		if seg[i&mask].id == 0 {
			return i & mask
		}
	}
}

// place stores e where a lookup will find it.
func place(seg []slot, e slot) {
	seg[vacant(seg, e.m)] = e
}

// locate returns where the entry is, and whether it is there at all.
func locate(seg []slot, e slot) (uint64, bool) {
	mask := uint64(len(seg) - 1)
	for i := e.m >> homeShift; ; i++ {
		switch seg[i&mask] {
		case e:
			return i & mask, true
		case slot{}:
			return 0, false
		}
	}
}

// remove empties slot i and moves the entries behind it that would no longer
// be found, so that no tombstone is needed.
func remove(seg []slot, i uint64) {
	mask := uint64(len(seg) - 1)
	for j := (i + 1) & mask; seg[j].id != 0; j = (j + 1) & mask {
		way := (j - seg[j].m>>homeShift) & mask // how far j's entry is from home
		if way >= (j-i)&mask {
			seg[i] = seg[j]
			i = j
		}
	}
	seg[i] = slot{}
}

// divide moves the entries of old that have bit set in m to fresh, which is
// empty and as large, and closes the gaps. It returns how many it moved.
//
// It starts behind an empty slot, so that it takes clusters from their first
// entry on: whatever an entry's way passes has been placed already, and its new
// slot is its old one or one nearer to home.
func divide(old, fresh []slot, bit uint64) int {
	mask := uint64(len(old) - 1)
	start, moved := empty(old), 0
	for k := uint64(1); k <= mask; k++ {
		s := &old[(start+k)&mask]
		e := *s
		if e.id == 0 {
			continue
		}
		*s = slot{}
		if e.m&bit == 0 {
			place(old, e)
			continue
		}
		place(fresh, e)
		moved++
	}
	return moved
}

// empty returns the first empty slot of seg.
func empty(seg []slot) uint64 {
	for i := range seg {
		if seg[i].id == 0 {
			return uint64(i)
		}
	}
	return 0
}
