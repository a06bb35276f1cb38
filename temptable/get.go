package temptable

import (
	"fmt"
	"runtime/debug"

	"github.com/spillway-db/spillway/allocator"
)

// RowBuffer is the memory of a row that Get returned. The zero value is ready;
// used again and again it stops allocating. It belongs to one goroutine.
type RowBuffer struct {
	row  []byte
	wide []byte
	pin  allocator.Pin
}

// Get copies the row with the given id into buf and returns it; it is valid
// until buf is used again. ErrRowGone if there is no such row. Cost: that of
// two atomic operations and a copy, plus a page read where the row lies in the
// disk table.
func (t *Table) Get(id RowID, buf *RowBuffer) (Row, error) {
	if err := t.beginRead(); err != nil {
		return Row{}, fmt.Errorf("temptable: get from %s: %w", t.name, err)
	}
	row, err := t.read(id, buf)
	t.endRead()
	if err != nil {
		return Row{}, fmt.Errorf("temptable: get row %#x from %s: %w", uint64(id), t.name, err)
	}
	return Row{t.schema, row}, nil
}

func (t *Table) read(id RowID, buf *RowBuffer) (row []byte, err error) {
	if t.space.Mapped() {
		defer t.guard(&err, debug.SetPanicOnFault(true))
	}
	if !t.space.Arena.Holds(id) {
		return nil, ErrRowGone
	}
	mem, err := t.space.Arena.Read(id, &buf.pin)
	if err != nil {
		return nil, err
	}
	defer buf.pin.Unpin()
	h := header(mem)
	if h&(flagDeleted|flagMoved|flagPiece) != 0 || rowLen(h) == 0 || rowLen(h) > len(mem) {
		return nil, ErrRowGone
	}
	buf.row = append(buf.row[:0], mem[:rowLen(h)]...)
	if h&flagChained != 0 {
		return t.fetchWide(buf.row, &buf.wide, &buf.pin)
	}
	return buf.row, nil
}
