package temptable

import "sync/atomic"

// changes is what cursors, which copy rows ahead, must know of the table's past.
type changes struct {
	version uint64 // grows with each change of a row that was there
	at      RowID  // the row that the last one changed
	cuts    []cut
	open    atomic.Int32 // cursors that scan, so that slots must stay
	voided  bool         // the end was moved back once: an id may be void, and lie amid a row
}

// cut is a moving back of the table's end. Cursors behind it go back, too.
type cut struct {
	version uint64
	end     RowID
}

// row notes that a row was changed or deleted.
func (c *changes) row(id RowID) {
	c.version++
	c.at = id
}

// cut notes that the table now ends before end. Cuts that the new one goes
// beyond are forgotten.
func (c *changes) cut(end RowID) {
	c.version++
	c.at = 0
	c.voided = true
	n := len(c.cuts)
	if c.open.Load() == 0 {
		n = 0
	}
	for n > 0 && c.cuts[n-1].end >= end {
		n--
	}
	if c.open.Load() != 0 {
		c.cuts = append(c.cuts[:n], cut{c.version, end})
	}
}

// behind returns where a cursor is that was at next when the version was seen.
func (c *changes) behind(seen uint64, next RowID) RowID {
	for _, k := range c.cuts {
		if k.version > seen {
			next = min(next, k.end)
		}
	}
	return next
}
