package temptable

import (
	"encoding/binary"
	"fmt"

	"github.com/spillway-db/spillway/allocator"
)

// A row longer than maxPiece is stored in pieces:
//
//	u16 header | u48 id of the next piece, 0 in the last | bytes, zeros to 8
//
// and the first one, which has flagChained and the row's id, holds the length
// of the whole encoding in its first 8 bytes. The others have flagPiece. They
// are appended last piece first, so that each knows the id of its successor;
// a scan meets the first piece after all others. The chain may go on behind the
// row with the pieces of its large values (large.go), which end with 0.
const (
	pieceHead = 8
	pieceData = maxPiece - pieceHead
	firstData = pieceData - 8
)

// store appends an encoded row, or puts it where deleted rows were. On an error
// the table is as it was.
func (t *Table) store(row []byte) (RowID, error) {
	if header(row)&flagChained == 0 && t.ext == nil {
		return t.space.Arena.Append(row)
	}
	return t.storeAs(row, 0)
}

// storeAs is store with a flag in the header.
func (t *Table) storeAs(row []byte, flag uint16) (RowID, error) {
	h := header(row)
	if h&flagChained != 0 {
		return t.storeWide(row, flag)
	}
	setHeader(row, h|flag)
	id, err := t.put(row)
	setHeader(row, h)
	return id, err
}

func (t *Table) storeWide(row []byte, flag uint16) (RowID, error) {
	u := t.undo()
	next, err := t.storePieces(row)
	if err == nil {
		var buf [maxPiece]byte
		var id RowID
		if id, err = t.put(fillPiece(&buf, row, 0, next, flag)); err == nil {
			return id, nil
		}
	}
	t.unstore(u, next)
	return 0, fmt.Errorf("store a row of %d bytes: %w", len(row), err)
}

// storePieces stores the pieces of a row behind its first one. On an error id
// is the first of those that were stored.
func (t *Table) storePieces(row []byte) (id RowID, err error) {
	var buf [maxPiece]byte
	id = t.tail
	for at := lastPiece(len(row)); at != 0; at = pieceBefore(at) {
		next, err := t.put(fillPiece(&buf, row, at, id, 0))
		if err != nil {
			return id, err
		}
		id = next
	}
	return id, nil
}

// lastPiece is where in a row of n bytes the last piece starts.
func lastPiece(n int) int {
	if n <= firstData {
		return 0
	}
	return firstData + (n-firstData-1)/pieceData*pieceData
}

func pieceBefore(at int) int {
	if at == firstData {
		return 0
	}
	return at - pieceData
}

// fillPiece makes the piece of row that starts at at.
func fillPiece(buf *[maxPiece]byte, row []byte, at int, next RowID, extra uint16) []byte {
	head, flag := pieceHead, uint16(flagPiece)
	if at == 0 {
		head, flag = pieceHead+8, flagChained
		binary.LittleEndian.PutUint64(buf[pieceHead:], uint64(len(row)))
	}
	n := head + copy(buf[head:], row[at:])
	end := align8(n)
	clear(buf[n:end])
	binary.LittleEndian.PutUint64(buf[:], uint64(next)<<16|uint64(makeHeader(end, flag|extra)))
	return buf[:end]
}

// fetch returns the whole encoding of the row at id: in place, until t.pin is
// used again, or put together in t.wide. It is for calls that may change the
// table.
func (t *Table) fetch(id RowID) ([]byte, error) { return t.fetchBy(id, &t.pin, &t.wide) }

// fetchBy is fetch with the caller's pin and memory.
func (t *Table) fetchBy(id RowID, pin *allocator.Pin, wide *[]byte) ([]byte, error) {
	mem, err := t.space.Arena.Read(id, pin)
	if err != nil {
		return nil, err
	}
	h := header(mem)
	if h&(flagChained|flagForwarded) != 0 {
		return t.fetchOdd(mem[:rowLen(h)], wide, pin)
	}
	if rowLen(h) < minRowLen {
		return nil, errZeroes(id)
	}
	return mem[:rowLen(h)], nil
}

// errZeroes says that zeros are where a row was: somebody punched a hole into a
// file, or truncated it and it grew again.
func errZeroes(id RowID) error {
	return corrupt("no row at %#x: its file was changed from outside", uint64(id))
}

// fetchOdd is fetch for a row that is stored elsewhere, in pieces, or both.
func (t *Table) fetchOdd(first []byte, wide *[]byte, pin *allocator.Pin) ([]byte, error) {
	if header(first)&flagForwarded != 0 {
		mem, err := t.linked(slotLink(first), pin)
		if err != nil {
			return nil, err
		}
		if first = mem; header(first)&flagChained == 0 {
			return first, nil
		}
	}
	return t.fetchWide(first, wide, pin)
}

// fetchWide puts a row together in *wide, from its first piece on.
func (t *Table) fetchWide(first []byte, wide *[]byte, pin *allocator.Pin) ([]byte, error) {
	n := int(binary.LittleEndian.Uint64(first[pieceHead:]))
	next := pieceNext(first)
	row := append((*wide)[:0], first[pieceHead+8:]...)
	for next != 0 && len(row) < n {
		p, err := t.linked(next, pin)
		if err != nil {
			return nil, err
		}
		row = append(row, p[pieceHead:]...)
		next = pieceNext(p)
	}
	*wide = row
	if n < 0 || n > len(row) {
		return nil, corrupt("a row of %d bytes has %d", n, len(row))
	}
	return row[:n], nil
}

// linked returns the slot that another one links to.
func (t *Table) linked(id RowID, pin *allocator.Pin) ([]byte, error) {
	if !t.space.Arena.Holds(id) {
		return nil, errZeroes(id)
	}
	mem, err := t.space.Arena.Read(id, pin)
	if err != nil {
		return nil, err
	}
	n := rowLen(header(mem))
	if n < slotHead || n > len(mem) {
		return nil, errZeroes(id)
	}
	return mem[:n], nil
}

// pieceNext is the id of the piece after p.
func pieceNext(p []byte) RowID { return RowID(binary.LittleEndian.Uint64(p) >> 16) }
