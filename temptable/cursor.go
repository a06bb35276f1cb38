package temptable

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/internal/sys"
)

// ScanOptions say how a cursor reads. The zero value reads all rows in the
// order in which they were inserted.
type ScanOptions struct {
	// SkipLarge leaves values out that were streamed in and are above 4 KiB:
	// Row.Bytes and ReadBatch give nothing, Row.Len their length, Cursor.Stream
	// and Table.Stream read them. Otherwise they are put together in memory,
	// which is charged to MaxRAM.
	SkipLarge bool
}

// Cursor reads rows one after the other. It stays open while rows are
// inserted: at the end Next returns false, and true again for rows that were
// appended since. A Cursor belongs to one goroutine; several may read one
// table.
type Cursor struct {
	t   *Table
	row Row
	id  RowID

	at     position // where run goes on
	buf    []byte   // a run of stored rows, copied
	off    int      // of the next one in buf
	first  RowID    // the id of buf's first byte
	seen   uint64   // the version of the table that buf is of
	wide   []byte   // a long row, put together
	pin    allocator.Pin
	offs   []int32
	charge int // bytes of heap charged to the engine

	all    bool  // every row from the first on has been copied: copied of them
	copied int64 // so far

	wideCharge int
	need       int // what chargeWide was refused
	closed     bool
	inside     bool // opened by a call that has the table to itself
	consume    bool // blocks that the scan has left are given back
	skipLarge  bool // rows keep their references

	hold    int  // the first block with pieces of a row to come, 0: none
	held    bool // that row is the current one
	dropped int  // blocks given back by a consuming scan

	until  RowID    // the scan ends before it; 0: at the end of the table
	behind backPage // for Prev
}

// position is where a scan goes on: a block and an offset in it.
type position struct{ block, off int }

// cursorBuf is how much of a page a cursor copies at a time.
const cursorBuf = 4 << 10

// Cursor opens a cursor before the first row. Close it: its buffer is charged
// to the engine. It takes no memory before Next.
func (t *Table) Cursor(o ScanOptions) *Cursor {
	t.changes.open.Add(1)
	return &Cursor{t: t, skipLarge: o.SkipLarge, at: position{block: 1}, seen: t.changes.version, all: true}
}

// Next moves to the next row. It returns false at the end, and when err is not
// nil. Cost: some nanoseconds; each 4 KiB of rows pay once for a copy under the
// table's use word.
func (c *Cursor) Next(ctx context.Context) (bool, error) {
	c.spoil()
	if c.t.use.dropped() { // rows that were copied before are void, too
		return false, c.wrap(ErrClosed)
	}
	for {
		if c.step() {
			if header(c.row.buf)&(flagChained|flagForwarded) == 0 {
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
	c.release()
	for c.off < len(c.buf) {
		h := header(c.buf[c.off:])
		start := c.off
		c.off += rowLen(h)
		if h&(flagDeleted|flagMoved|flagPiece) == 0 {
			c.id = c.first + RowID(start>>3)
			c.row = Row{c.t.schema, c.buf[start:c.off:c.off]}
			c.held = c.hold != 0
			return true
		}
		if h&flagPiece != 0 && c.hold == 0 {
			c.hold, _ = c.first.Place()
		}
	}
	return false
}

// release gives up the pieces of the row that the cursor stood on.
func (c *Cursor) release() {
	if c.held {
		c.hold, c.held = 0, false
	}
}

// dropBehind gives back what a consuming scan has left, up to the block that it
// is leaving, but for blocks with pieces of the row that comes next. Where places
// were used again, a row's pieces may be anywhere.
func (c *Cursor) dropBehind() {
	c.pin.Unpin()
	if e := c.t.ext; e != nil && e.free != nil {
		return
	}
	for c.dropped < c.at.block && (c.hold == 0 || c.dropped+1 < c.hold) {
		c.dropped++
		c.t.space.Arena.Drop(c.dropped)
	}
}

// restart gives up what was copied if the table has changed since.
func (c *Cursor) restart() {
	if c.seen != c.t.changes.version {
		c.catchUp()
	}
}

// catchUp goes on from where the cursor is, in the table as it is now. A change
// of one row that the cursor has passed, most often the last, costs nothing.
func (c *Cursor) catchUp() {
	c.all = false
	now, next := &c.t.changes, c.next()
	if now.version != c.seen+1 || now.at == 0 || now.at >= next {
		next = now.behind(c.seen, next)
		c.at = positionOf(next)
		c.buf, c.off = c.buf[:0], 0
		if c.id >= next {
			c.id = 0
		}
	}
	c.seen = now.version
}

// next is where the scan goes on, as an id.
func (c *Cursor) next() RowID {
	if len(c.buf) == 0 {
		return c.at.id()
	}
	return c.first + RowID(c.off>>3)
}

func (p position) id() RowID { return allocator.ID(p.block, 0) + RowID(p.off>>3) }

func positionOf(id RowID) position {
	block, off := max(id, allocator.ID(1, 0)).Place()
	return position{block, off}
}

// Row returns the row that Next moved to. It and its values are valid until
// the next call on the cursor.
func (c *Cursor) Row() Row { return c.row }

// ID returns the id of that row, 0 if the last step found none.
func (c *Cursor) ID() RowID { return c.t.tag(c.id) }

// Close gives the buffer back. Closing again does nothing.
func (c *Cursor) Close() {
	if !c.closed {
		c.closed = true
		if !c.inside {
			c.t.changes.open.Add(-1)
		}
		c.t.eng.alloc.RefundHeap(c.charge)
		c.spoil()
		c.buf, c.wide, c.row = nil, nil, Row{}
	}
}

// fill copies the next run of rows. It returns false at the end of the table.
func (c *Cursor) fill(ctx context.Context) (bool, error) {
	c.reserve(cursorBuf)
	if err := c.enter(ctx); err != nil {
		return false, err
	}
	run, err := c.run()
	c.leave()
	if err != nil || len(run) == 0 {
		c.stop(c.next())
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
	if c.consume {
		return c.wrap(c.t.use.enter())
	}
	return c.wrap(c.t.beginRead())
}

// leave ends enter.
func (c *Cursor) leave() {
	if c.consume {
		c.t.end()
		return
	}
	c.t.endRead()
}

func (c *Cursor) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("temptable: scan %s: %w", c.t.name, c.t.lost(err))
}

// reserve makes buf n bytes large, or cursorBuf if the RAM for more cannot be
// had: what is above that is charged, so reading never fails for want of RAM.
func (c *Cursor) reserve(n int) {
	if cap(c.buf) >= n {
		return
	}
	if more := n - max(cursorBuf, cap(c.buf)); more > 0 {
		if c.t.eng.alloc.ChargeHeap(more) != nil {
			n = cursorBuf
		} else {
			c.charge += more
		}
	}
	if n > cap(c.buf) {
		c.buf = append(make([]byte, 0, n), c.buf...)
	}
}

// run copies the rows that come next into buf, as many of one page as fit. It
// returns none at the end of the table.
func (c *Cursor) run() (run []byte, err error) {
	if c.t.space.Mapped() {
		defer sys.Recover(&err, &c.t.space, debug.SetPanicOnFault(true))
	}
	defer c.pin.Unpin()
	for {
		mem, err := c.rest()
		if err != nil {
			return nil, err
		}
		if mem == nil {
			return nil, c.missed()
		}
		if n, rows := copyRows(c.buf[:cap(c.buf)], mem); n > 0 {
			c.copied += int64(rows)
			c.buf, c.off = c.buf[:n], 0
			c.first = allocator.ID(c.at.block, c.at.off)
			c.at.off += n
			return c.buf, nil
		}
		if c.at.off%allocator.DiskPage == 0 { // a page starts with a row
			return nil, errZeroes(c.at.id())
		}
		c.at.off = (c.at.off | (allocator.DiskPage - 1)) + 1 // the rest of the page is unused
	}
}

// rest returns what is left of the page that the scan is in, or of the next
// one; nil at the end of the table.
func (c *Cursor) rest() ([]byte, error) {
	a := &c.t.space.Arena
	for c.at.block <= a.Blocks() && (c.until == 0 || c.at.id() < c.until) {
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
		if c.consume {
			c.dropBehind()
		}
		c.at = position{block: c.at.block + 1}
	}
	return nil, nil
}

// missed finds out at the end whether rows are missing that should have been
// there. It is sure only if rows have been inserted, and nothing else.
func (c *Cursor) missed() error {
	if c.all && c.t.ext == nil && c.copied < c.t.rows {
		return corrupt("a scan met %d rows of %d: a file was changed from outside", c.copied, c.t.rows)
	}
	return nil
}

// copyRows copies whole rows from the start of src to dst, and returns their
// length, 0 at a mark of the end of a page, and how many they are, without the
// further pieces of long ones. dst holds at least one row.
func copyRows(dst, src []byte) (end, rows int) {
	n := copy(dst, src)
	for end+headerLen <= n {
		h := header(dst[end:])
		l := rowLen(h)
		if l == 0 || end+l > n {
			break
		}
		if h&flagPiece == 0 {
			rows++
		}
		end += l
	}
	return end, rows
}

// assemble replaces what a scan meets of a row that is stored elsewhere, or in
// pieces, by the whole. On an error the row comes again.
func (c *Cursor) assemble() (ok bool, err error) {
	for slot, again := c.row.buf, true; again; again = err != nil && c.room() {
		if err = c.enter(context.Background()); err == nil {
			c.row.buf, err = c.whole(slot)
			c.leave()
		}
	}
	if err != nil {
		c.back()
		return false, c.wrap(err)
	}
	return true, nil
}

// back makes the row that step moved to the next one again.
func (c *Cursor) back() {
	c.off = int(c.id-c.first) << 3
	c.row = Row{}
}

// whole returns the row whose slot is given, in c.wide.
func (c *Cursor) whole(slot []byte) (row []byte, err error) {
	if c.t.space.Mapped() {
		defer sys.Recover(&err, &c.t.space, debug.SetPanicOnFault(true))
	}
	defer c.pin.Unpin()
	if row, err = c.t.fetchOdd(slot, &c.wide, &c.pin); err != nil {
		return nil, err
	}
	if header(row)&flagChained == 0 {
		c.wide = append(c.wide[:0], row...)
		row = c.wide
	}
	if header(row)&flagLarge != 0 && !c.skipLarge && !c.inside {
		if err := c.chargeWide(int(c.t.schema.largeLen(row))); err != nil {
			return nil, err
		}
		return c.t.inflate(row, &c.wide)
	}
	return row, c.chargeWide(cap(c.wide))
}

// wideFree is how large c.wide may be without a charge, in bytes.
const wideFree = 64 << 10

// chargeWide charges c.wide as n bytes large. If there is no RAM for it, room
// may make some.
func (c *Cursor) chargeWide(n int) error {
	more := n - wideFree - c.wideCharge
	if more <= 0 {
		return nil
	}
	if err := c.t.eng.alloc.ChargeHeap(more); err != nil {
		c.wide, c.need = nil, more
		return err
	}
	c.charge += more
	c.wideCharge += more
	return nil
}

// room charges, between two calls on the table, what chargeWide could not: rows
// of the table move down for it, if nobody else uses the table.
func (c *Cursor) room() bool {
	more := c.need
	if c.need = 0; more == 0 || !c.t.TryLock() {
		return false
	}
	defer c.t.Unlock()
	if c.t.space.ChargeHeap(more) != nil {
		return false
	}
	c.charge += more
	c.wideCharge += more
	return true
}

// batchRows is how many rows ReadBatch returns at most.
const batchRows = 1024

// ReadBatch fills b with the next rows, 1,024 at most, and returns how many: 0
// at the end of the table. The vectors grow once and are used again; they
// belong to the caller. Next and ReadBatch may be mixed.
func (c *Cursor) ReadBatch(ctx context.Context, b *Batch) (int, error) {
	defer c.t.operate(ctx, "spillway.read", false).end()
	b.Reset()
	c.spoil()
	c.reserve(min(c.t.eng.scratch.size, allocator.DiskPage))
	c.restart()
	c.id = 0
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
	c.release()
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
	if header(c.row.buf)&(flagChained|flagForwarded) != 0 {
		if _, err := c.assemble(); err != nil {
			return err
		}
	}
	c.t.schema.decodeRows(b, c.row.buf, []int32{0, int32(len(c.row.buf))})
	c.id, c.row = 0, Row{} // it is copied, not lent
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
