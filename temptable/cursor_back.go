package temptable

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/internal/sys"
)

// Prev moves to the row before the current one; behind the last row, where Next
// has returned false, to that. It returns false before the first row, and Next
// then goes to the first. Cost: O(1) amortized: the places of a page's rows are
// found once and kept, and each row is copied for itself.
func (c *Cursor) Prev(ctx context.Context) (bool, error) { return c.jump(ctx, 0) }

// Seek moves to the row with the given id: Next and Prev go on from there.
// ErrRowGone if there is no such row; the cursor stays where it was then.
func (c *Cursor) Seek(ctx context.Context, id RowID) error {
	if id == 0 {
		return c.wrap(ErrRowGone)
	}
	_, err := c.jump(ctx, id)
	return err
}

// Clone opens another cursor at the same place, with a row of its own.
func (c *Cursor) Clone(ctx context.Context) (*Cursor, error) {
	c.restart()
	n := c.t.Cursor(ScanOptions{})
	n.at, n.seen, n.until, n.all = positionOf(c.next()), c.seen, c.until, false
	if c.id == 0 {
		return n, nil
	}
	if err := n.Seek(ctx, c.ID()); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// jump moves to the row with the given id, or with 0 to the row before. It
// returns false before the first one.
func (c *Cursor) jump(ctx context.Context, id RowID) (bool, error) {
	c.spoil()
	c.reserve(cursorBuf)
	c.restart()
	for from := c.id; ; c.id = from {
		if err := c.enter(ctx); err != nil {
			return false, err
		}
		ok, err := c.jumpGuarded(id)
		c.leave()
		if err == nil || !c.room() {
			return ok, c.wrap(err)
		}
	}
}

func (c *Cursor) jumpGuarded(id RowID) (ok bool, err error) {
	if c.t.space.Mapped() {
		defer sys.Recover(&err, &c.t.space, debug.SetPanicOnFault(true))
	}
	defer c.pin.Unpin()
	if id == 0 {
		if id, err = c.before(); err != nil {
			return false, err
		}
	} else if id, err = c.named(id); err != nil {
		return false, err
	}
	c.stop(c.next())
	if id == 0 {
		c.stop(0)
		return false, nil
	}
	return true, c.land(id)
}

// stop makes the cursor stand on no row, before next.
func (c *Cursor) stop(next RowID) {
	c.at = positionOf(next)
	c.buf, c.off, c.id, c.row = c.buf[:0], 0, 0, Row{}
}

// named returns the id without its tag, if there is such a row.
func (c *Cursor) named(id RowID) (RowID, error) {
	_, err := c.t.slotOf(id, &c.pin)
	id, _ = c.t.untag(id)
	return id, err
}

// land reads the row at id, which is there, and stands on it.
func (c *Cursor) land(id RowID) error {
	c.all = false
	mem, err := c.t.space.Arena.Read(id, &c.pin)
	if err != nil {
		return err
	}
	slot := append(c.buf[:0], mem[:rowLen(header(mem))]...)
	row := slot
	if header(slot)&(flagChained|flagForwarded) != 0 {
		if row, err = c.whole(slot); err != nil {
			return err
		}
	}
	c.buf, c.off = slot, len(slot)
	c.first, c.id = id, id
	c.at = positionOf(id + RowID(len(slot)>>3))
	c.row = Row{c.t.schema, row}
	return nil
}

// backPage knows the rows of one page that lie before the last one that Prev
// found: a page is its own restart point.
type backPage struct {
	first RowID   // of the page
	offs  []int32 // of the rows, in bytes from there
	row   RowID   // that Prev found last
	seen  uint64  // the version of the table
}

// before finds the row before the cursor's, 0 if there is none.
func (c *Cursor) before() (RowID, error) {
	b, at := &c.behind, c.id
	if at == 0 {
		at = c.next()
	}
	if b.row != at || b.seen != c.seen {
		b.offs, b.seen = b.offs[:0], c.seen
		b.first, b.row = at, 0
	}
	for p := positionOf(b.first); len(b.offs) == 0; {
		start, ok := c.pageBefore(p)
		if !ok {
			return 0, nil
		}
		if err := c.collect(start, p); err != nil {
			b.row = 0 // the page was not read
			return 0, err
		}
		p = start
	}
	n := len(b.offs) - 1
	b.row = b.first + RowID(b.offs[n]>>3)
	b.offs = b.offs[:n]
	return b.row, nil
}

// pageBefore returns the start of the page that the byte before p lies in.
func (c *Cursor) pageBefore(p position) (position, bool) {
	if p.off == 0 {
		p.block--
		if p.block == 0 {
			return p, false
		}
		p.off = c.t.space.Arena.Used(p.block)
	}
	p.off = (p.off - 1) &^ (allocator.DiskPage - 1)
	return p, p.off >= 0
}

// collect notes the rows of the page that starts at start, up to limit if that
// lies in it.
func (c *Cursor) collect(start, limit position) error {
	mem, err := c.t.space.Arena.ReadPage(start.block, start.off/allocator.DiskPage, &c.pin)
	if err != nil {
		return err
	}
	c.behind.first = start.id()
	if limit.block == start.block {
		mem = mem[:min(len(mem), limit.off-start.off)]
	} else {
		mem = mem[:min(len(mem), c.t.space.Arena.Used(start.block)-start.off)]
	}
	for off := 0; off+headerLen <= len(mem); {
		h := header(mem[off:])
		if rowLen(h) == 0 {
			break
		}
		if h&(flagDeleted|flagMoved|flagPiece) == 0 {
			c.behind.offs = append(c.behind.offs, int32(off))
		}
		off += rowLen(h)
	}
	return nil
}

// Seal ends all changes: from now on they return ErrSealed, and any number of
// goroutines may read with cursors of their own.
func (t *Table) Seal() error {
	if err := t.begin(); err != nil {
		return fmt.Errorf("temptable: seal %s: %w", t.name, err)
	}
	t.barred.Store(&errSealed)
	t.end()
	return nil
}

var errSealed = ErrSealed

// Split returns at most n cursors that together read a sealed table's rows, each
// a part of about the same size, in the order of the parts. ErrNotSealed if the
// table is not sealed.
func (t *Table) Split(n int) ([]*Cursor, error) {
	if e := t.barred.Load(); e != &errSealed {
		return nil, fmt.Errorf("temptable: split %s: %w", t.name, ErrNotSealed)
	}
	if err := t.beginRead(); err != nil {
		return nil, fmt.Errorf("temptable: split %s: %w", t.name, err)
	}
	defer t.endRead()
	cuts := t.evenly(max(n, 1))
	parts := make([]*Cursor, len(cuts))
	for i, from := range cuts {
		parts[i] = t.Cursor(ScanOptions{})
		parts[i].at, parts[i].all = from, false
		if i > 0 {
			parts[i-1].until = from.id()
		}
	}
	return parts, nil
}

// evenly returns the starts of at most n parts of the table, in whole pages.
func (t *Table) evenly(n int) []position {
	cuts := []position{positionOf(0)}
	a := &t.space.Arena
	var total, done int
	for b := 1; b <= a.Blocks(); b++ {
		total += a.Used(b)
	}
	for b := 1; b <= a.Blocks(); b++ {
		for off := 0; off < a.Used(b); off += allocator.DiskPage {
			if done >= total*len(cuts)/n && done > 0 {
				cuts = append(cuts, position{b, off})
			}
			done += min(allocator.DiskPage, a.Used(b)-off)
		}
	}
	return slices.Clip(cuts[:min(n, len(cuts))])
}

// Consume opens the one cursor that reads the table for the last time: while it
// reads, what it has passed is given back, block by block. Every other call on
// the table but Drop returns ErrConsumed from then on, and its indexes are freed
// at once. ErrConcurrentUse if another cursor is open.
func (t *Table) Consume() (*Cursor, error) {
	if err := t.use.enter(); err != nil {
		return nil, fmt.Errorf("temptable: consume %s: %w", t.name, err)
	}
	defer t.end()
	if e := t.failed.Load(); e != nil {
		return nil, fmt.Errorf("temptable: consume %s: %w", t.name, *e)
	}
	if t.changes.open.Load() > 0 {
		return nil, fmt.Errorf("temptable: consume %s: a cursor is open: %w", t.name, ErrConcurrentUse)
	}
	t.failed.Store(&errConsumed)
	t.barred.Store(&errConsumed)
	if t.index != nil {
		t.index.Free()
	}
	t.freeIndexes()
	c := t.Cursor(ScanOptions{})
	c.consume = true
	return c, nil
}

var errConsumed = ErrConsumed
