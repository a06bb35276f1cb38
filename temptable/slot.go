package temptable

import (
	"encoding/binary"
	"math/bits"

	"github.com/spillway-db/spillway/allocator"
)

// A slot is the place of a row or of a piece of one. Beside its header it has at
// least 14 bytes; a forwarded one holds the id of the row's new place in bytes
// 8 to 15, a deleted one that of the next free slot of its length.

// slotHead is what a slot has at least, in bytes.
const slotHead = minRowLen

// slotLink is the id in a forwarded or deleted slot.
func slotLink(slot []byte) RowID { return RowID(binary.LittleEndian.Uint64(slot[8:])) }

func setSlotLink(slot []byte, id RowID) { binary.LittleEndian.PutUint64(slot[8:], uint64(id)) }

// freeSlots are the slots of deleted rows, by length: lists linked through the
// slots themselves.
type freeSlots struct {
	head [maxPiece/8 + 1]RowID
	have [maxPiece/8/64 + 1]uint64 // a bit for each list that is not empty
}

// find returns the least length, in units of 8 bytes, of a slot for n bytes: at
// most half as long again, so that little is wasted. 0: there is none.
func (f *freeSlots) find(n int) int {
	from, to := n/8, min(n/8+n/16, maxPiece/8)
	for w := from / 64; w <= to/64; w++ {
		m := f.have[w]
		if w == from/64 {
			m &= ^uint64(0) << (from % 64)
		}
		if m != 0 {
			if k := w*64 + bits.TrailingZeros64(m); k <= to {
				return k
			}
			return 0
		}
	}
	return 0
}

func (f *freeSlots) set(k int, head RowID) {
	f.head[k] = head
	if head == 0 {
		f.have[k/64] &^= 1 << (k % 64)
	} else {
		f.have[k/64] |= 1 << (k % 64)
	}
}

// reusing reports whether slots of deleted rows may be used: not while somebody
// could come upon the new row at the old one's place.
func (t *Table) reusing() bool {
	return t.ext != nil && t.ext.free != nil && len(t.ext.saves) == 0 && !t.ordered && t.changes.open.Load() == 0
}

// put stores a piece in a free slot, or at the end.
func (t *Table) put(piece []byte) (RowID, error) {
	if t.reusing() {
		if k := t.ext.free.find(len(piece)); k != 0 {
			return t.reuse(k, piece)
		}
	}
	return t.space.Arena.Append(piece)
}

// reuse stores a piece in the first free slot of 8k bytes.
func (t *Table) reuse(k int, piece []byte) (RowID, error) {
	id := t.ext.free.head[k]
	slot, err := t.space.Arena.Write(id, 8*k, &t.pin)
	if err != nil {
		return 0, err
	}
	t.ext.free.set(k, slotLink(slot))
	fillSlot(slot, piece, header(piece)&^lenMask)
	t.pin.Unpin()
	t.renew(id)
	return id, nil
}

// fillSlot copies an encoded row or piece to a slot, which may be longer.
func fillSlot(slot, piece []byte, flags uint16) {
	clear(slot[copy(slot, piece):])
	setHeader(slot, makeHeader(len(slot), flags))
}

// discard empties a slot. It may be used again unless a savepoint is open.
func (t *Table) discard(id RowID) error {
	h, err := t.slotHeader(id)
	if err != nil {
		return err
	}
	slot, err := t.space.Arena.Write(id, rowLen(h), &t.pin)
	if err != nil {
		return err
	}
	defer t.pin.Unpin()
	clear(slot)
	setHeader(slot, makeHeader(len(slot), flagDeleted))
	if len(t.ext.saves) == 0 {
		t.keepSlot(id, slot)
	}
	return nil
}

// keepSlot makes a deleted slot a free one.
func (t *Table) keepSlot(id RowID, slot []byte) {
	e := t.more()
	if e.free == nil {
		e.free = &freeSlots{}
	}
	k := len(slot) / 8
	setSlotLink(slot, e.free.head[k])
	e.free.set(k, id)
}

func (t *Table) slotHeader(id RowID) (uint16, error) {
	mem, err := t.space.Arena.Read(id, &t.pin)
	if err != nil {
		return 0, err
	}
	h := header(mem)
	t.pin.Unpin()
	return h, nil
}

// discardPieces discards a piece and those that follow it.
func (t *Table) discardPieces(id RowID) error {
	for id != 0 && id != t.tail {
		mem, err := t.space.Arena.Read(id, &t.pin)
		if err != nil {
			return err
		}
		next := RowID(0)
		if header(mem)&(flagPiece|flagChained) != 0 {
			next = pieceNext(mem)
		}
		if err := t.discard(id); err != nil {
			return err
		}
		id = next
	}
	return nil
}

// place is where a row is stored.
type place struct {
	id   RowID          // of the row
	head [slotHead]byte // how its slot begins
	to   RowID          // where the row is: id, unless it is forwarded
	room int            // the length of the slot there, in bytes
	next RowID          // the second piece, 0 if there is one only
}

func (p *place) forwarded() bool { return p.to != p.id }

// locate finds where the row is stored that a caller means by id.
func (t *Table) locate(id RowID) (p place, err error) {
	slot, err := t.slotOf(id, &t.pin)
	if err != nil {
		return p, err
	}
	p.id, _ = t.untag(id)
	copy(p.head[:], slot)
	return p, t.resolve(&p)
}

// locateRow is locate for an id without a tag, of a row that is there.
func (t *Table) locateRow(id RowID) (p place, err error) { return t.locate(t.tag(id)) }

// resolve finds out the rest from p.id and p.head.
func (t *Table) resolve(p *place) error {
	p.to = p.id
	h := header(p.head[:])
	if h&flagForwarded != 0 {
		p.to = slotLink(p.head[:])
	}
	slot, err := t.space.Arena.Read(p.to, &t.pin)
	if err != nil {
		return err
	}
	h = header(slot)
	p.room = rowLen(h)
	if h&flagChained != 0 {
		p.next = pieceNext(slot)
	}
	t.pin.Unpin()
	return nil
}

// homeRoom is the length of the slot that the row's id names.
func (p *place) homeRoom() int { return rowLen(header(p.head[:])) }

// undo is what unstore needs: the end before something was stored, whether it
// may have been stored elsewhere, and the undo log.
type undo struct {
	mark    allocator.Mark
	reusing bool
	log     RowID
}

func (t *Table) undo() undo {
	u := undo{mark: t.space.Arena.Mark(), reusing: t.reusing()}
	if t.ext != nil {
		u.log = t.ext.log
	}
	return u
}

// unstore takes back pieces that were stored since u, id being the first one or
// 0, and what was logged. What it cannot free is lost to the table until it is
// truncated.
func (t *Table) unstore(u undo, id RowID) {
	t.pin.Unpin()
	if u.reusing {
		_ = t.discardPieces(id)
		return
	}
	t.space.Arena.Release(u.mark)
	if t.ext != nil {
		t.ext.log = u.log
	}
}
