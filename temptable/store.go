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
// a scan meets the first piece after all others.
const (
	pieceHead = 8
	pieceData = maxPiece - pieceHead
	firstData = pieceData - 8
)

// store appends an encoded row. On an error the arena is as it was.
func (t *Table) store(row []byte) (RowID, error) {
	if header(row)&flagChained == 0 {
		return t.space.Arena.Append(row)
	}
	return t.storeWide(row)
}

func (t *Table) storeWide(row []byte) (RowID, error) {
	mark := t.space.Arena.Mark()
	var buf [maxPiece]byte
	next := RowID(0)
	for at := lastPiece(len(row)); ; at = pieceBefore(at) {
		id, err := t.space.Arena.Append(fillPiece(&buf, row, at, next))
		if err != nil {
			t.space.Arena.Release(mark)
			return 0, fmt.Errorf("store a row of %d bytes: %w", len(row), err)
		}
		if at == 0 {
			return id, nil
		}
		next = id
	}
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
func fillPiece(buf *[maxPiece]byte, row []byte, at int, next RowID) []byte {
	head, flag := pieceHead, uint16(flagPiece)
	if at == 0 {
		head, flag = pieceHead+8, flagChained
		binary.LittleEndian.PutUint64(buf[pieceHead:], uint64(len(row)))
	}
	n := head + copy(buf[head:], row[at:])
	end := align8(n)
	clear(buf[n:end])
	binary.LittleEndian.PutUint64(buf[:], uint64(next)<<16|uint64(makeHeader(end, flag)))
	return buf[:end]
}

// fetch returns the whole encoding of the row at id: in place, until t.pin is
// used again, or put together in t.wide. It is for calls that may change the
// table.
func (t *Table) fetch(id RowID) ([]byte, error) {
	mem, err := t.space.Arena.Read(id, &t.pin)
	if err != nil {
		return nil, err
	}
	h := header(mem)
	if h&flagChained != 0 {
		return t.fetchWide(mem[:rowLen(h)], &t.wide, &t.pin)
	}
	return mem[:rowLen(h)], nil
}

// fetchWide puts a row together in *wide, from its first piece on.
func (t *Table) fetchWide(first []byte, wide *[]byte, pin *allocator.Pin) ([]byte, error) {
	n := int(binary.LittleEndian.Uint64(first[pieceHead:]))
	next := pieceNext(first)
	row := append((*wide)[:0], first[pieceHead+8:]...)
	for next != 0 {
		mem, err := t.space.Arena.Read(next, pin)
		if err != nil {
			return nil, err
		}
		p := mem[:rowLen(header(mem))]
		row = append(row, p[pieceHead:]...)
		next = pieceNext(p)
	}
	*wide = row
	return row[:n], nil
}

// pieceNext is the id of the piece after p.
func pieceNext(p []byte) RowID { return RowID(binary.LittleEndian.Uint64(p) >> 16) }
