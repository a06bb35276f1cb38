package temptable

import (
	"slices"
	"strings"
)

func (h *harness) openCursor() {
	if len(h.cursors) < 4 {
		h.tally.calls++
		h.cursors = append(h.cursors, &modelCursor{c: h.tab.Cursor(ScanOptions{})})
	}
}

func (h *harness) cloneCursor() {
	c := h.anyCursor()
	if c == nil || len(h.cursors) == 4 {
		return
	}
	if _, there := h.m.at(c.id); c.id != 0 && !there {
		return // the row is deleted
	}
	h.tally.calls++
	n, err := c.c.Clone(h.ctx)
	if h.refused(err) {
		return
	}
	h.cursors = append(h.cursors, &modelCursor{n, c.id, c.next})
}

func (h *harness) closeCursor() {
	if n := len(h.cursors); n > 0 {
		at := h.r.IntN(n)
		h.tally.calls++
		h.cursors[at].c.Close()
		h.cursors = slices.Delete(h.cursors, at, at+1)
	}
}

func (h *harness) closeCursors() {
	for len(h.cursors) > 0 {
		h.closeCursor()
	}
	for len(h.lookups) > 0 {
		h.closeLookup()
	}
}

func (h *harness) anyCursor() *modelCursor {
	if len(h.cursors) == 0 {
		return nil
	}
	return h.cursors[h.r.IntN(len(h.cursors))]
}

// on compares the row that a cursor is on with the model's row at at.
func (h *harness) on(c *modelCursor, at int) {
	row := h.m.rows[at]
	if c.c.ID() != row.id {
		h.t.Helper()
		h.fail("cursor is on %#x, want %#x", c.c.ID(), row.id)
	}
	h.same(c.c.Row(), row.vals)
	c.id, c.next = plain(row.id), plain(row.id)+1
}

// stepNext moves a cursor, which may have waited at the end.
func (h *harness) stepNext(c *modelCursor) bool {
	h.tally.calls++
	ok, err := c.c.Next(h.ctx)
	if h.refused(err) {
		return false
	}
	at, _ := h.m.at(c.next)
	if ok != (at < len(h.m.rows)) {
		h.fail("next is %t, %d of %d rows are behind", ok, at, len(h.m.rows))
	}
	if !ok {
		c.id, c.next = 0, max(c.next, h.m.top) // past deleted rows, too, which may come back
		return false
	}
	h.on(c, at)
	return true
}

func (h *harness) stepPrev(c *modelCursor) bool {
	h.tally.calls++
	ok, err := c.c.Prev(h.ctx)
	if h.refused(err) {
		return false
	}
	from := c.id
	if from == 0 {
		from = c.next
	}
	at, _ := h.m.at(from)
	if ok != (at > 0) {
		h.fail("prev is %t, %d rows are before", ok, at)
	}
	if !ok {
		c.id, c.next = 0, 0
		return false
	}
	h.on(c, at-1)
	return true
}

func (h *harness) next() {
	if c := h.anyCursor(); c != nil {
		for n := h.r.IntN(60); n > 0 && h.stepNext(c); n-- {
		}
	}
}

func (h *harness) prev() {
	if c := h.anyCursor(); c != nil {
		for n := h.r.IntN(60); n > 0 && h.stepPrev(c); n-- {
		}
	}
}

func (h *harness) seek() {
	c := h.anyCursor()
	at, ok := h.anyRow()
	if c == nil || !ok {
		return
	}
	h.tally.calls++
	if !h.refused(c.c.Seek(h.ctx, h.m.rows[at].id)) {
		h.on(c, at)
	}
}

// deleteInScan deletes rows as a cursor comes upon them.
func (h *harness) deleteInScan() {
	c := h.anyCursor()
	for n := h.r.IntN(40); c != nil && n > 0 && h.stepNext(c); n-- {
		if at, _ := h.m.at(c.id); h.r.IntN(2) == 0 {
			h.deleteAt(at)
		}
	}
}

// updateInScan updates rows as a cursor comes upon them.
func (h *harness) updateInScan() {
	c := h.anyCursor()
	for n := h.r.IntN(30); c != nil && n > 0 && h.stepNext(c); n-- {
		if at, _ := h.m.at(c.id); h.r.IntN(2) == 0 {
			h.updateAt(at)
		}
	}
}

// scanBatches reads everything by columns.
func (h *harness) scanBatches() {
	c := h.tab.Cursor(ScanOptions{})
	defer c.Close()
	at := 0
	for {
		h.tally.calls++
		n, err := c.ReadBatch(h.ctx, &h.out)
		if h.refused(err) {
			return
		}
		if n == 0 {
			break
		}
		if at+n > len(h.m.rows) {
			h.fail("a scan gives more than %d rows", len(h.m.rows))
		}
		for k := range n {
			h.sameInBatch(k, h.m.rows[at].vals)
			at++
		}
	}
	if at != len(h.m.rows) {
		h.fail("a scan gives %d rows, want %d", at, len(h.m.rows))
	}
}

func (h *harness) sameInBatch(k int, vals []modelVal) {
	for i, v := range vals {
		col := &h.out.Cols[i]
		got := modelVal{null: col.isNull(k)}
		switch h.m.cols[i].kind {
		case modelInt:
			got.i = col.I64[k]
		case modelFloat:
			got.f = col.F64[k]
		default:
			got.s = string(col.Bytes[col.Off[k]:col.Off[k+1]])
		}
		if !got.same(v) {
			h.fail("row %d of a batch, column %d is %+v, want %+v", k, i, got, v)
		}
	}
}

func (h *harness) savepoint() {
	if len(h.m.saves) == 3 {
		return
	}
	h.tally.calls++
	s, err := h.tab.Savepoint()
	h.must(err)
	h.m.saves = append(h.m.saves, modelSave{s, slices.Clone(h.m.rows), h.m.top})
}

func (h *harness) rollback() {
	if len(h.m.saves) == 0 {
		return
	}
	n := h.r.IntN(len(h.m.saves))
	s := h.m.saves[n]
	h.tally.calls++
	if err := s.s.RollbackTo(h.ctx); err != nil {
		if strings.Contains(err.Error(), "limit") { // an index was refused memory: the table has failed
			h.tally.refused++
			h.recreate()
			return
		}
		h.must(err)
	}
	h.m.rows, h.m.top = slices.Clone(s.rows), s.top
	h.m.saves = h.m.saves[:n+1]
	h.gone = h.gone[:0] // what comes next may lie across their places
	h.m.refill()
	h.clampCursors()
}

// clampCursors moves cursors that were behind the end back.
func (h *harness) clampCursors() {
	for _, c := range h.cursors {
		if c.id >= h.m.top {
			c.id = 0
		}
		c.next = min(c.next, h.m.top)
	}
}

func (h *harness) releaseSave() {
	if len(h.m.saves) == 0 {
		return
	}
	n := h.r.IntN(len(h.m.saves))
	h.tally.calls++
	h.must(h.m.saves[n].s.Release())
	h.m.saves = h.m.saves[:n]
}
