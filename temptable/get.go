package temptable

import (
	"fmt"
	"runtime/debug"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/internal/sys"
)

// RowBuffer is the memory of a row that Get returned. The zero value is ready;
// used again and again it stops allocating. It belongs to one goroutine.
type RowBuffer struct {
	// SkipLarge leaves values out that were streamed in and are above 4 KiB:
	// Row.Bytes gives nothing, Row.Len their length, Table.Stream reads them.
	// Otherwise they are put together in memory.
	SkipLarge bool

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
		return Row{}, fmt.Errorf("temptable: get row %#x from %s: %w", uint64(id), t.name, t.lost(err))
	}
	return Row{t.schema, row}, nil
}

func (t *Table) read(id RowID, buf *RowBuffer) ([]byte, error) {
	spoil(buf.row)
	spoil(buf.wide)
	row, err := t.readStored(id, buf)
	if err != nil || header(row)&flagLarge == 0 || buf.SkipLarge {
		return row, err
	}
	return t.inflateGuarded(row, &buf.wide)
}

// readStored is read of what the row's own pieces have.
func (t *Table) readStored(id RowID, buf *RowBuffer) (row []byte, err error) {
	if t.space.Mapped() {
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	mem, err := t.slotOf(id, &buf.pin)
	if err != nil {
		return nil, err
	}
	defer buf.pin.Unpin()
	h := header(mem)
	if h&flagForwarded == 0 {
		buf.row = append(buf.row[:0], mem...)
		if h&flagChained == 0 {
			return buf.row, nil
		}
		return t.fetchWide(buf.row, &buf.wide, &buf.pin)
	}
	if row, err = t.fetchOdd(mem, &buf.wide, &buf.pin); err == nil {
		buf.row = append(buf.row[:0], row...)
	}
	return buf.row, err
}

// slotOf returns the slot of the row that a caller means by id, in place until
// pin is used again. ErrRowGone if there is no such row.
func (t *Table) slotOf(id RowID, pin *allocator.Pin) ([]byte, error) {
	id, ok := t.untag(id)
	if !ok || !t.space.Arena.Holds(id) {
		return nil, ErrRowGone
	}
	mem, err := t.space.Arena.Read(id, pin)
	if err != nil {
		return nil, err
	}
	h := header(mem)
	if n := rowLen(h); h&(flagDeleted|flagMoved|flagPiece) == 0 && n > 0 && n <= len(mem) {
		return mem[:n], nil
	}
	pin.Unpin()
	return nil, ErrRowGone
}
