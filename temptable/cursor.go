package temptable

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/spillway-db/spillway/allocator"
)

// ScanOptions say how a cursor reads. The zero value reads all rows in the
// order in which they were inserted.
type ScanOptions struct{}

// Cursor reads rows one after the other. It stays open while rows are
// inserted: at the end Next returns false, and true again for rows that were
// appended since. A Cursor belongs to one goroutine; several may read one
// table.
type Cursor struct {
	t   *Table
	row Row
	id  RowID

	at     position
	buf    []byte // a run of stored rows, copied
	off    int    // of the next one in buf
	first  RowID  // the id of buf's first byte
	change uint64 // Table.truncations when the scan began
	wide   []byte // a long row, put together
	pin    allocator.Pin
	offs   []int32
	charge int // bytes of heap charged to the engine

	wideCharge int
	closed     bool
}

// position is where a scan goes on: a block and an offset in it.
type position struct{ block, off int }

// cursorBuf is how much of a page a cursor copies at a time.
const cursorBuf = 4 << 10

// Cursor opens a cursor before the first row. Close it: its buffer is charged
// to the engine. It takes no memory before Next.
func (t *Table) Cursor(ScanOptions) *Cursor {
	return &Cursor{t: t, at: position{block: 1}}
}

// Next moves to the next row. It returns false at the end, and when err is not
// nil. Cost: some nanoseconds; each 4 KiB of rows pay once for a copy under the
// table's use word.
func (c *Cursor) Next(ctx context.Context) (bool, error) {
	for {
		if c.step() {
			if header(c.row.buf)&flagChained == 0 {
				return true, nil
			}
			return c.assemble()
		}
		if more, err := c.fill(ctx); !more || err != nil {
			return false, err
		}
	}
}

// step moves to the next row of buf, if there is one.
func (c *Cursor) step() bool {
	c.restart()
	for c.off < len(c.buf) {
		h := header(c.buf[c.off:])
		start := c.off
		c.off += rowLen(h)
		if h&(flagDeleted|flagMoved|flagPiece) == 0 {
			c.id = c.first + RowID(start>>3)
			c.row = Row{c.t.schema, c.buf[start:c.off:c.off]}
			return true
		}
	}
	return false
}

// restart begins again if the table was truncated.
func (c *Cursor) restart() {
	if c.change != c.t.truncations {
		c.change, c.at = c.t.truncations, position{block: 1}
		c.buf, c.off = c.buf[:0], 0
	}
}

// Row returns the row that Next moved to. It and its values are valid until
// the next call on the cursor.
func (c *Cursor) Row() Row { return c.row }

// ID returns the id of that row.
func (c *Cursor) ID() RowID { return c.id }

// Close gives the buffer back. Closing again does nothing.
func (c *Cursor) Close() {
	if !c.closed {
		c.closed = true
		c.t.eng.alloc.RefundHeap(c.charge)
		c.buf, c.wide, c.row = nil, nil, Row{}
	}
}

// fill copies the next run of rows. It returns false at the end of the table.
func (c *Cursor) fill(ctx context.Context) (bool, error) {
	if err := c.reserve(cursorBuf); err != nil {
		return false, err
	}
	if err := c.enter(ctx); err != nil {
		return false, err
	}
	defer c.t.endRead()
	run, err := c.run()
	if err != nil || len(run) == 0 {
		c.buf, c.off = c.buf[:0], 0
		return false, c.wrap(err)
	}
	return true, nil
}

func (c *Cursor) enter(ctx context.Context) error {
	if c.closed {
		return fmt.Errorf("temptable: cursor on %s: %w", c.t.name, ErrClosed)
	}
	if err := canceled(ctx, "scan", c.t.name); err != nil {
		return err
	}
	return c.wrap(c.t.beginRead())
}

func (c *Cursor) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("temptable: scan %s: %w", c.t.name, err)
}

// reserve makes buf at least n bytes large.
func (c *Cursor) reserve(n int) error {
	if cap(c.buf) >= n {
		return nil
	}
	if err := c.t.chargeBuffer(n - cap(c.buf)); err != nil {
		return c.wrap(err)
	}
	c.charge += n - cap(c.buf)
	c.buf = append(make([]byte, 0, n), c.buf...)
	return nil
}

// chargeBuffer charges n bytes for a buffer, outside of any call. It moves rows
// of the table down if it must and nobody else uses the table.
func (t *Table) chargeBuffer(n int) error {
	err := t.eng.alloc.ChargeHeap(n)
	if err != nil && t.TryLock() {
		defer t.Unlock()
		return t.space.ChargeHeap(n)
	}
	return err
}

// run copies the rows that come next into buf, as many of one page as fit. It
// returns none at the end of the table.
func (c *Cursor) run() (run []byte, err error) {
	if c.t.space.Mapped() {
		defer c.t.guard(&err, debug.SetPanicOnFault(true))
	}
	defer c.pin.Unpin()
	for {
		mem, err := c.rest()
		if err != nil || mem == nil {
			return nil, err
		}
		if n := copyRows(c.buf[:cap(c.buf)], mem); n > 0 {
			c.buf, c.off = c.buf[:n], 0
			c.first = allocator.ID(c.at.block, c.at.off)
			c.at.off += n
			return c.buf, nil
		}
		c.at.off = (c.at.off | (allocator.DiskPage - 1)) + 1 // the rest of the page is unused
	}
}

// rest returns what is left of the page that the scan is in, or of the next
// one; nil at the end of the table.
func (c *Cursor) rest() ([]byte, error) {
	a := &c.t.space.Arena
	for c.at.block <= a.Blocks() {
		used := a.Used(c.at.block)
		if c.at.off < used {
			page := c.at.off &^ (allocator.DiskPage - 1)
			mem, err := a.ReadPage(c.at.block, page/allocator.DiskPage, &c.pin)
			if err != nil {
				return nil, err
			}
			return mem[c.at.off-page : min(used-page, len(mem))], nil
		}
		if c.at.block == a.Blocks() {
			return nil, nil
		}
		c.at = position{block: c.at.block + 1}
	}
	return nil, nil
}

// copyRows copies whole rows from the start of src to dst and returns their
// length: 0 at a mark of the end of a page. dst holds at least one row.
func copyRows(dst, src []byte) int {
	n := copy(dst, src)
	end := 0
	for end+headerLen <= n {
		l := rowLen(header(dst[end:]))
		if l == 0 || end+l > n {
			break
		}
		end += l
	}
	return end
}

// assemble replaces the first piece of a long row by the whole.
func (c *Cursor) assemble() (ok bool, err error) {
	if err := c.t.beginRead(); err != nil {
		return false, c.wrap(err)
	}
	defer c.t.endRead()
	row, err := c.fetchWide(c.row.buf)
	if err != nil {
		return false, c.wrap(err)
	}
	c.row = Row{c.t.schema, row}
	return true, nil
}

func (c *Cursor) fetchWide(first []byte) (row []byte, err error) {
	if c.t.space.Mapped() {
		defer c.t.guard(&err, debug.SetPanicOnFault(true))
	}
	defer c.pin.Unpin()
	if row, err = c.t.fetchWide(first, &c.wide, &c.pin); err != nil {
		return nil, err
	}
	if grown := cap(c.wide) - c.wideCharge; grown > 0 {
		if err := c.t.eng.alloc.ChargeHeap(grown); err != nil {
			c.wide = nil
			return nil, err
		}
		c.charge += grown
		c.wideCharge = cap(c.wide)
	}
	return row, nil
}

// batchRows is how many rows ReadBatch returns at most.
const batchRows = 1024

// ReadBatch fills b with the next rows, 1,024 at most, and returns how many: 0
// at the end of the table. The vectors grow once and are used again; they
// belong to the caller. Next and ReadBatch may be mixed.
func (c *Cursor) ReadBatch(ctx context.Context, b *Batch) (int, error) {
	b.Reset()
	if err := c.reserve(min(c.t.eng.scratch.size, allocator.DiskPage)); err != nil {
		return 0, err
	}
	c.restart()
	for b.N < batchRows {
		if c.off == len(c.buf) {
			if more, err := c.fill(ctx); !more || err != nil {
				return b.N, err
			}
		}
		if err := c.decode(b); err != nil {
			return b.N, err
		}
	}
	return b.N, nil
}

// decode appends rows of buf to b: a stretch of plain rows, or one long row.
func (c *Cursor) decode(b *Batch) error {
	c.offs = append(c.offs[:0], int32(c.off))
	for c.off < len(c.buf) && len(c.offs) <= batchRows-b.N {
		h := header(c.buf[c.off:])
		if h&^lenMask != 0 {
			break
		}
		c.off += rowLen(h)
		c.offs = append(c.offs, int32(c.off))
	}
	if n := len(c.offs) - 1; n > 0 {
		done := c.t.schema.decodeRows(b, c.buf, c.offs)
		c.off = int(c.offs[done])
		return nil
	}
	return c.decodeOdd(b)
}

// decodeOdd passes over the next row of buf, or appends it if it is a long one.
func (c *Cursor) decodeOdd(b *Batch) error {
	if !c.step() {
		return nil
	}
	if header(c.row.buf)&flagChained != 0 {
		if _, err := c.assemble(); err != nil {
			return err
		}
	}
	c.t.schema.decodeRows(b, c.row.buf, []int32{0, int32(len(c.row.buf))})
	return nil
}

// Rows iterates over the rows, for convenience: a cursor costs less. A row is
// valid until the next step.
func (t *Table) Rows(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		c := t.Cursor(ScanOptions{})
		defer c.Close()
		for {
			ok, err := c.Next(ctx)
			if err != nil {
				yield(Row{}, err)
				return
			}
			if !ok || !yield(c.Row(), nil) {
				return
			}
		}
	}
}
