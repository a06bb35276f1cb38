package temptable

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime/debug"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/temptable/internal/btree"
)

// Bound is a side of a key, in the order of the index: with a descending column
// AtOrAfter finds smaller values.
type Bound uint8

// The sides.
const (
	AtOrAfter  Bound = iota // >=
	After                   // >
	AtOrBefore              // <=
	Before                  // <
)

// IndexCursor finds rows through an index. Set the key's columns as with a
// Writer, then Find, FindPrefix or Seek; each use of the key starts a new one,
// all NULL. Rows may be inserted, updated and deleted between its steps, the row
// that it stands on included: the next step goes to what is then the next row in
// order. It belongs to one goroutine; several may read one table. Close it.
//
// Every step returns false without an error if there is no such row. Errors:
// those of the setters; ErrDisabled; ErrNotOrdered from what needs an ordered
// index; ErrTableFailed and what it wraps; ErrClosed; ErrConcurrentUse; the
// context's.
type IndexCursor struct {
	setters
	x    *Index
	rows keyReader
	tree btree.Cursor
	id   RowID // of the current row, 0: none
	buf  RowBuffer

	look []byte // the row whose key is looked for
	part []byte // its key, or some columns of that
	at   end    // where a seek goes
	to   end    // what Find's rows are on one side of
	stop end    // what the caller's rows are on one side of
	jump end    // where the group of the row jumper goes on
	one  bool   // Find's row is the only one, and was found in hash

	jumper RowID
	jumpN  int

	span  int       // how many entries to read ahead
	ahead rowsAhead // rows of these

	pin  allocator.Pin
	wide []byte
}

// Cursor opens a cursor that stands on no row. It takes no memory.
func (x *Index) Cursor() *IndexCursor {
	c := &IndexCursor{x: x}
	c.init(x.t.schema)
	c.rows = keyReader{x: x, pin: &c.pin, wide: &c.wide}
	if x.tree != nil {
		c.tree.Open(x.tree)
	}
	return c
}

// Close ends the use of the cursor. Closing again does nothing.
func (c *IndexCursor) Close() { c.tree.Close() }

// ID returns the id of the current row, 0 if there is none.
func (c *IndexCursor) ID() RowID { return c.id }

// Row reads the current row; it is valid until the next call of Row. ErrRowGone
// if there is none, or it was deleted since.
//
// Cost: that of Get. A walk in order that reads its rows reads some of those to
// come with it, up to 4 KiB, which then cost a few nanoseconds each.
func (c *IndexCursor) Row() (Row, error) {
	if c.id != 0 && c.tree.Fresh() {
		if row, ok := c.rowAhead(); ok {
			return row, nil
		}
	}
	return c.x.t.Get(c.id, &c.buf)
}

// Find goes to the first row whose key is the one that was set. NULL finds NULL.
func (c *IndexCursor) Find(ctx context.Context) (bool, error) {
	return c.walk(ctx, stepFind, len(c.x.spec.Key))
}

// FindPrefix goes to the first row whose first n key columns are as set.
func (c *IndexCursor) FindPrefix(ctx context.Context, n int) (bool, error) {
	return c.walk(ctx, stepFind, n)
}

// NextSame goes to the next row that Find or FindPrefix is about.
//
// The context and the table are looked at as by Next.
func (c *IndexCursor) NextSame(ctx context.Context) (bool, error) {
	if c.ahead.same && c.tree.Step() {
		c.id = c.x.t.tag(RowID(c.tree.ID()))
		return true, nil
	}
	return c.walk(ctx, stepSame, 0)
}

// Seek goes to the row nearest to the key that was set, of which the first n
// columns count, on the given side: to the first one at or after it, or after
// all rows that have it, or to the last one at or before it, or before.
func (c *IndexCursor) Seek(ctx context.Context, b Bound, n int) (bool, error) {
	return c.walk(ctx, stepSeek+step(b), n)
}

// Stop makes Next, Prev and the seeks return false where a row is not on the
// given side of the key that was set, of which the first n columns count: with
// AtOrBefore or Before it is the upper end of a range, with the others the lower
// end. It holds until the next Stop; n of 0 lifts it.
func (c *IndexCursor) Stop(b Bound, n int) error {
	c.tree.Forget()
	c.stop.on = false
	if n == 0 {
		return nil
	}
	err := c.takeKey(n)
	if err == nil {
		err = c.limit(&c.stop, b, n)
	}
	return c.wrap(err)
}

// First and Last go to the ends of the index.
func (c *IndexCursor) First(ctx context.Context) (bool, error) { return c.walk(ctx, stepFirst, 0) }
func (c *IndexCursor) Last(ctx context.Context) (bool, error)  { return c.walk(ctx, stepLast, 0) }

// Next goes to the next row in order; from no row to the first.
//
// The context is looked at, and the table's use word taken, once for up to 64
// rows, as long as the index does not change.
func (c *IndexCursor) Next(ctx context.Context) (bool, error) {
	if c.tree.Step() {
		c.id = c.x.t.tag(RowID(c.tree.ID()))
		return true, nil
	}
	return c.walk(ctx, stepNext, 0)
}

// Prev goes to the row before; from no row to the last.
func (c *IndexCursor) Prev(ctx context.Context) (bool, error) { return c.walk(ctx, stepPrev, 0) }

// NextGroup goes to the next row that differs from the current one in the first
// n key columns, without reading those between: a loose scan. From no row it
// goes to the first.
func (c *IndexCursor) NextGroup(ctx context.Context, n int) (bool, error) {
	return c.walk(ctx, stepGroup, n)
}

// step is what a cursor is asked to do.
type step uint8

const (
	stepFind step = iota
	stepSame
	stepFirst
	stepLast
	stepNext
	stepPrev
	stepGroup
	stepSeek // and the Bound
)

// walk does one step under the table's use word.
func (c *IndexCursor) walk(ctx context.Context, s step, n int) (ok bool, err error) {
	t := c.x.t
	c.tree.Forget()
	if err = canceled(ctx, "look up in", t.name); err == nil {
		err = t.beginRead()
	}
	if err != nil {
		return false, c.wrap(err)
	}
	ok, err = c.reading(s, n)
	if !ok || err != nil {
		c.id = 0
	}
	if err != nil {
		return false, c.wrap(t.lost(err))
	}
	return ok, nil
}

func (c *IndexCursor) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("temptable: index %s of %s: %w", c.x.spec.Name, c.x.t.name, err)
}

// reading ends the use of the table even if a collation panics.
func (c *IndexCursor) reading(s step, n int) (bool, error) {
	defer c.x.t.endRead()
	return c.guarded(s, n)
}

func (c *IndexCursor) guarded(s step, n int) (ok bool, err error) {
	if c.x.t.space.Mapped() {
		defer sys.Recover(&err, &c.x.t.space, debug.SetPanicOnFault(true))
	}
	defer c.pin.Unpin()
	switch {
	case c.x.off:
		return false, ErrDisabled
	case c.x.order == nil:
		return c.unordered(s, n)
	}
	return c.ordered(s, n)
}

// takeKey makes look the row that was set, and starts a new one.
func (c *IndexCursor) takeKey(n int) error {
	if err := c.checkParts(n); err != nil {
		return err
	}
	row, err := c.finishKey()
	if err == nil {
		c.look = append(c.look[:0], row...)
	}
	c.begin()
	return err
}

func (c *IndexCursor) checkParts(n int) error {
	switch {
	case n < 1 || n > len(c.x.spec.Key):
		return fmt.Errorf("%w: %d columns of a key of %d", ErrColumn, n, len(c.x.spec.Key))
	case n < len(c.x.spec.Key) && c.x.order == nil:
		return ErrNotOrdered
	}
	return nil
}

// unordered serves an index that finds whole keys only.
func (c *IndexCursor) unordered(s step, n int) (bool, error) {
	switch {
	case s == stepFind:
		if err := c.takeKey(n); err != nil {
			return false, err
		}
		return c.findHash()
	case s == stepSame && c.one:
		return false, nil
	case s == stepSame && c.x.tree != nil:
		ok, err := c.tree.Next()
		return c.verify(ok, err)
	}
	return false, ErrNotOrdered
}

func (c *IndexCursor) findHash() (bool, error) {
	h, err := c.x.view.keyHash(c.look)
	if err != nil {
		return false, err
	}
	c.rows.row = c.look
	if c.one = c.x.hashed(c.look); c.one {
		_, id, err := c.x.hash.Find(h, &c.rows)
		c.id = c.x.t.tag(RowID(id))
		return id != 0, err
	}
	c.part = binary.BigEndian.AppendUint64(c.part[:0], h)
	ok, err := c.tree.SeekGE(c.part, &c.rows)
	return c.verify(ok, err)
}

// verify goes on from an entry to the first one of the key that is looked for,
// among those of its hash.
func (c *IndexCursor) verify(ok bool, err error) (bool, error) {
	for ok && err == nil {
		var order int
		if order, err = c.tree.Compare(c.part, &c.rows); order != 0 || err != nil {
			return false, err
		}
		id := c.tree.ID()
		if ok, err = c.rows.Equal(id); ok && err == nil {
			c.id = c.x.t.tag(RowID(id))
			return true, nil
		}
		if err == nil {
			ok, err = c.tree.Next()
		}
	}
	return false, err
}

// ordered serves an ordered index.
func (c *IndexCursor) ordered(s step, n int) (ok bool, err error) {
	if ok, err = c.goTo(s, n); ok && err == nil && s <= stepSame {
		ok, err = c.within(&c.to)
	}
	if ok && err == nil {
		ok, err = c.within(&c.stop)
	}
	if !ok || err != nil {
		return false, err
	}
	c.id = c.x.t.tag(RowID(c.tree.ID()))
	switch s {
	case stepGroup:
		err = c.prepareJump(n)
	case stepNext, stepSame:
		c.readAhead(s == stepSame)
	default:
		c.span = 0
	}
	return err == nil, err
}

func (c *IndexCursor) goTo(s step, n int) (bool, error) {
	switch s {
	case stepFirst:
		return c.tree.First()
	case stepLast:
		return c.tree.Last()
	case stepNext, stepSame:
		return c.tree.Next()
	case stepPrev:
		return c.tree.Prev()
	case stepGroup:
		return c.nextGroup(n)
	}
	err := c.takeKey(n)
	if err == nil && s == stepFind {
		err = c.limit(&c.to, AtOrBefore, n)
		s = stepSeek + step(AtOrAfter)
	}
	if err == nil {
		err = c.limit(&c.at, Bound(s-stepSeek), n)
	}
	if err != nil {
		return false, err
	}
	return c.seek(&c.at)
}

// nextGroup jumps behind the keys that begin as the current row's.
func (c *IndexCursor) nextGroup(n int) (bool, error) {
	if err := c.checkParts(n); err != nil {
		return false, err
	}
	if c.id == 0 {
		return c.tree.Next()
	}
	if c.jumper != c.id || c.jumpN != n {
		if err := c.prepareJump(n); err != nil {
			return false, err
		}
	}
	return c.seek(&c.jump)
}

// prepareJump notes where the group of the current row ends, which may be
// deleted before the jump.
func (c *IndexCursor) prepareJump(n int) error {
	if !c.tree.Valid() {
		return ErrRowGone
	}
	row, err := c.x.t.fetchBy(RowID(c.tree.ID()), &c.pin, &c.wide)
	if err != nil {
		return err
	}
	c.look = append(c.look[:0], row...)
	c.pin.Unpin()
	c.jumper, c.jumpN = c.id, n
	return c.limit(&c.jump, After, n)
}

// end is one end of a range of keys: those on the given side of key.
type end struct {
	key  []byte
	side Bound
	on   bool // false: all keys are in the range
	none bool // no key is
}

// limit makes the end that b and the first n columns of look say. All keys that
// begin with those of n columns, fewer than there are, lie below one key; so what
// is after them, or at or before them, is said with that one.
func (c *IndexCursor) limit(e *end, b Bound, n int) (err error) {
	e.side, e.on, e.none = b, true, false
	if n == len(c.x.spec.Key) {
		e.key, err = c.x.order.appendKey(e.key[:0], c.look)
		return err
	}
	if c.part, err = c.x.order.appendPrefix(c.part[:0], c.look, n); err != nil {
		return err
	}
	switch b {
	case After:
		e.side = AtOrAfter
	case AtOrBefore:
		e.side = Before
	default:
		e.key = append(e.key[:0], c.part...)
		return nil
	}
	e.key, e.on = btree.PrefixEnd(e.key[:0], c.part)
	e.none = !e.on && b == After
	return nil
}

// seek goes to the row that is nearest to the end, inside of the range.
func (c *IndexCursor) seek(e *end) (bool, error) {
	c.rows.want = e.key
	switch {
	case e.none:
		return false, nil
	case !e.on:
		return c.tree.Last()
	}
	switch e.side {
	case AtOrAfter:
		return c.tree.SeekGE(e.key, &c.rows)
	case After:
		return c.tree.SeekGT(e.key, &c.rows)
	case AtOrBefore:
		return c.tree.SeekLE(e.key, &c.rows)
	}
	return c.tree.SeekLT(e.key, &c.rows)
}

// within reports whether the tree's current entry is on the right side of e.
func (c *IndexCursor) within(e *end) (bool, error) {
	if !e.on {
		return !e.none, nil
	}
	c.rows.want = e.key
	order, err := c.tree.Compare(e.key, &c.rows)
	if err != nil {
		return false, err
	}
	return e.side.has(order), nil
}

// has reports whether a row is on the side b of a key, by the order of that key
// against the row's.
func (b Bound) has(order int) bool {
	switch b {
	case AtOrAfter:
		return order <= 0
	case After:
		return order < 0
	case AtOrBefore:
		return order >= 0
	}
	return order > 0
}
