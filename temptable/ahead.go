package temptable

import (
	"runtime/debug"
	"sort"

	"github.com/spillway-db/spillway/internal/invariants"
	"github.com/spillway-db/spillway/internal/sys"
)

// Walking an ordered index would take the table's use word for each step, and for
// each row: two locked instructions, some 9 ns each. So a cursor copies entries of
// the leaf, then steps over its copies as long as the index does not change; and,
// once it has seen that the caller reads the rows, copies of these, too.

const (
	aheadLeast = 8  // entries to read ahead after a seek
	aheadMost  = 64 // then twice as many each time, up to this
	aheadBytes = 4 << 10
)

// rowsAhead are copies of rows of consecutive entries that the index cursor has
// read ahead.
type rowsAhead struct {
	buf     []byte
	ends    []int32 // in buf
	from    int     // which of the entries the first row is of
	version uint64  // of the table's rows
	wanted  bool    // the caller has read a row since the last readAhead
	on      bool    // the caller did so before it
	same    bool    // the entries are of the key that Find was about
}

// readAhead copies the entries that follow, up to the stop: those that Next goes
// to, or, if same is set, those of them that NextSame goes to.
func (c *IndexCursor) readAhead(same bool) {
	c.span = min(max(2*c.span, aheadLeast), aheadMost)
	c.ahead.ends, c.ahead.same = c.ahead.ends[:0], same
	c.ahead.on, c.ahead.wanted = c.ahead.wanted, false
	c.tree.Ahead(c.span)
	c.trim(&c.stop)
	if same {
		c.trim(&c.to)
	}
}

// trim gives up the entries from the first that is not on the right side of e on.
func (c *IndexCursor) trim(e *end) {
	if !e.on || c.tree.Copied() == 0 {
		return
	}
	c.rows.want = e.key
	c.tree.Trim(sort.Search(c.tree.Copied(), func(k int) bool {
		order, err := c.tree.CompareAt(k, e.key, &c.rows)
		return err != nil || !e.side.has(order)
	}))
}

// rowAhead returns the current row if it has been read ahead, or now is, with
// those to come.
func (c *IndexCursor) rowAhead() (Row, bool) {
	a, k := &c.ahead, c.tree.Ran()-1
	a.wanted = true
	if a.version != c.x.t.changes.version || k < a.from || k-a.from >= len(a.ends) {
		if !a.on || !c.fetchAhead(k) {
			return Row{}, false
		}
	}
	k -= a.from
	start := int32(0)
	if k > 0 {
		start = a.ends[k-1]
	}
	return Row{c.x.t.schema, c.lend(a.buf[start:a.ends[k]:a.ends[k]])}, true
}

// lend returns the row itself, or, in a checked build, a copy that the next call
// spoils.
func (c *IndexCursor) lend(row []byte) []byte {
	if !invariants.Enabled {
		return row
	}
	spoil(c.buf.row)
	c.buf.row = append(c.buf.row[:0], row...)
	return c.buf.row
}

// fetchAhead copies rows from that of the k-th entry on. It reports whether it
// got that one; if not, Get says why.
func (c *IndexCursor) fetchAhead(k int) bool {
	t := c.x.t
	if t.beginRead() != nil {
		return false
	}
	err := c.fetchGuarded(k)
	t.endRead()
	return err == nil && len(c.ahead.ends) > 0
}

func (c *IndexCursor) fetchGuarded(k int) (err error) {
	if c.x.t.space.Mapped() {
		defer sys.Recover(&err, &c.x.t.space, debug.SetPanicOnFault(true))
	}
	defer c.pin.Unpin()
	return c.fetchRows(k)
}

// fetchRows copies rows that are stored in place and in one piece, up to the
// first that is not.
func (c *IndexCursor) fetchRows(k int) error {
	a := &c.ahead
	a.buf, a.ends, a.from, a.version = a.buf[:0], a.ends[:0], k, c.x.t.changes.version
	for ; k < c.tree.Copied() && len(a.buf) < aheadBytes; k++ {
		mem, err := c.x.t.space.Arena.Read(RowID(c.tree.IDAt(k)), &c.pin)
		if err != nil {
			a.ends = a.ends[:0]
			return err
		}
		h := header(mem)
		n := rowLen(h)
		if h&^lenMask != 0 || n < minRowLen || n > len(mem) {
			return nil
		}
		a.buf = append(a.buf, mem[:n]...)
		a.ends = append(a.ends, int32(len(a.buf)))
	}
	return nil
}
