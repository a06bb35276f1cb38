package temptable

import (
	"fmt"
	"runtime/debug"
	"slices"

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
	defer t.endRead()
	if row := t.readPlain(id, buf); row != nil {
		return Row{t.schema, row}, nil
	}
	row, err := t.read(id, buf)
	if err != nil {
		return Row{}, fmt.Errorf("temptable: get row %#x from %s: %w", uint64(id), t.name, t.lost(err))
	}
	return Row{t.schema, row}, nil
}

// GetBatch copies the first of the rows with the given ids into buf: as many as 16
// KiB hold and rows has places for, but one at least, if there are ids and places.
// They are valid until buf is used again. Errors are those of Get, for the row
// ids[n]; rows [0, n) are right. Cost: two atomic operations a call, and a copy a
// row.
func (t *Table) GetBatch(ids []RowID, rows []Row, buf *RowBuffer) (n int, err error) {
	ids = ids[:min(len(ids), len(rows))]
	if len(ids) == 0 {
		return 0, nil
	}
	if err := t.beginRead(); err != nil {
		return 0, fmt.Errorf("temptable: get from %s: %w", t.name, err)
	}
	n = t.readBatch(ids, rows, buf)
	t.endRead()
	if n > 0 {
		return n, nil
	}
	if rows[0], err = t.Get(ids[0], buf); err != nil {
		return 0, err
	}
	return 1, nil
}

// batchBytes is how much GetBatch copies.
const batchBytes = 16 << 10

func (t *Table) readBatch(ids []RowID, rows []Row, buf *RowBuffer) (n int) {
	if t.space.Mapped() {
		var fault error // Get meets it again, and reports it
		defer sys.Recover(&fault, &t.space, debug.SetPanicOnFault(true))
	}
	defer buf.pin.Unpin()
	t.readAll(ids, rows, buf, &n)
	return n
}

// readAll copies rows that are plain, up to the first that is not, or that there
// is no room for, and counts them in n.
func (t *Table) readAll(ids []RowID, rows []Row, buf *RowBuffer, n *int) {
	spoil(buf.row)
	mem := slices.Grow(buf.row[:0], min(batchBytes, maxPiece*len(ids)))
	for i, id := range ids {
		row := t.plain(id, &buf.pin)
		if row == nil || len(row) > cap(mem)-len(mem) {
			return
		}
		start := len(mem)
		mem = append(mem, row...)
		buf.row = mem
		rows[i] = Row{t.schema, mem[start:len(mem):len(mem)]}
		*n++
	}
}

// readPlain is read of a row in RAM or on disk that is stored in place and in one
// piece; nil if it is not.
func (t *Table) readPlain(id RowID, buf *RowBuffer) []byte {
	if t.space.Mapped() {
		return nil
	}
	row := t.plain(id, &buf.pin)
	if row != nil {
		spoil(buf.row)
		spoil(buf.wide)
		buf.row = append(buf.row[:0], row...)
		row = buf.row
	}
	buf.pin.Unpin()
	return row
}

// plain returns a row that is stored in place and in one piece, where it lies,
// until pin is used again; nil if it is not.
func (t *Table) plain(id RowID, pin *allocator.Pin) []byte {
	id, ok := t.untag(id)
	if !ok || !t.space.Arena.Holds(id) {
		return nil
	}
	mem, err := t.space.Arena.Read(id, pin)
	if err != nil {
		return nil
	}
	h := header(mem)
	n := rowLen(h)
	if h&^lenMask != 0 || n < minRowLen || n > len(mem) {
		return nil
	}
	if t.changes.voided && t.schema.validate(mem[:n]) != nil {
		return nil
	}
	return mem[:n:n]
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
	if n := rowLen(h); h&(flagDeleted|flagMoved|flagPiece) == 0 && n >= slotHead && n <= len(mem) && t.starts(id, pin) {
		return mem[:n], nil
	}
	pin.Unpin()
	return nil, ErrRowGone
}

// starts reports whether a slot starts at id, which pin holds if it is on disk.
// Of a table whose rows were never cut off every id that was given out is one;
// otherwise the slots of the page are counted off, about 1 ns each.
func (t *Table) starts(id RowID, pin *allocator.Pin) bool {
	if !t.changes.voided {
		return true
	}
	p := positionOf(id)
	mem, err := t.space.Arena.ReadPage(p.block, p.off/allocator.DiskPage, pin)
	at, off := 0, p.off%allocator.DiskPage
	for err == nil && at < off {
		n := rowLen(header(mem[at:]))
		if n == 0 {
			return false
		}
		at += n
	}
	return err == nil && at == off
}
