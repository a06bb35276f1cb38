package temptable

import (
	"errors"
	"fmt"
	"slices"
)

// modelLookup is an open index cursor and the place in the index that it is at.
type modelLookup struct {
	c    *IndexCursor
	x    *modelIndex
	vals []modelVal // of the row that it is on, or was
	id   RowID      // plain; 0: nowhere yet
	side int        // 1: it was at the end behind the row, -1: at the one before
}

func (h *harness) addIndex() {
	if len(h.m.indexes) >= 5 {
		return
	}
	x := &modelIndex{keys: map[string]RowID{}}
	cols := h.r.Perm(len(h.m.cols))[:1+h.r.IntN(min(3, len(h.m.cols)))]
	for _, c := range cols {
		x.spec.Key = append(x.spec.Key, KeyPart{Col: c, Desc: h.r.IntN(3) == 0, NullsLast: h.r.IntN(3) == 0})
	}
	x.spec.Name = fmt.Sprint("x", len(h.m.indexes))
	x.spec.Ordered, x.spec.Unique = h.r.IntN(3) > 0, h.r.IntN(3) == 0
	x.spec.NullsDistinct = h.r.IntN(2) == 0
	h.tally.calls++
	ix, err := h.tab.AddIndex(h.ctx, x.spec)
	fits := x.fill(h.m)
	if h.unfit(err, x, fits) {
		return
	}
	if !fits {
		h.fail("an index that cannot be was added")
	}
	x.ix = ix
	h.m.indexes = append(h.m.indexes, x)
}

// unfit reports whether an index was refused for one of the good reasons.
func (h *harness) unfit(err error, x *modelIndex, fits bool) bool {
	switch {
	case errors.Is(err, ErrSavepointOpen):
		return x.spec.Unique && len(h.m.saves) > 0
	case errors.Is(err, ErrConflict):
		return !fits
	}
	return h.refused(err)
}

func (h *harness) anyIndex(ok func(*modelIndex) bool) *modelIndex {
	for _, i := range h.r.Perm(len(h.m.indexes)) {
		if ok(h.m.indexes[i]) {
			return h.m.indexes[i]
		}
	}
	return nil
}

func (h *harness) toggleIndex() {
	x := h.anyIndex(func(x *modelIndex) bool { return x.ix != nil })
	if x == nil {
		return
	}
	h.tally.calls++
	if !x.off {
		h.must(x.ix.Disable())
		x.off = true
		for _, l := range h.lookups {
			if l.x == x {
				l.id, l.side = 0, 0
			}
		}
		return
	}
	err := x.ix.Enable(h.ctx)
	fits := x.fill(h.m)
	if h.unfit(err, x, fits) {
		return
	}
	if x.off = false; !fits {
		h.fail("an index that cannot be was enabled")
	}
}

func (h *harness) engineIndex(x *modelIndex) *Index {
	if x.ix == nil {
		return h.tab.Index("distinct")
	}
	return x.ix
}

// wanted returns the values of a key that is there, or may be.
func (h *harness) wanted() []modelVal {
	if at, ok := h.anyRow(); ok && h.r.IntN(3) > 0 {
		return h.m.rows[at].vals
	}
	return h.vals()
}

func (h *harness) setKey(c *IndexCursor, x *modelIndex, vals []modelVal, n int) {
	for _, p := range x.spec.Key[:n] {
		set(&c.setters, h.m.cols[p.Col].kind, p.Col, vals[p.Col])
	}
}

// find looks for a key, or for a prefix of one, and for all that have the same.
func (h *harness) find() {
	x := h.anyIndex(func(*modelIndex) bool { return true })
	if x == nil {
		return
	}
	c := h.engineIndex(x).Cursor()
	defer c.Close()
	vals, n := h.wanted(), len(x.spec.Key)
	if x.spec.Ordered {
		n = 1 + h.r.IntN(n)
	}
	h.setKey(c, x, vals, n)
	h.tally.calls++
	ok, err := c.FindPrefix(h.ctx, n)
	if x.off {
		if !errors.Is(err, ErrDisabled) {
			h.fail("find in a disabled index: %v", err)
		}
		return
	}
	var got []RowID
	for ; ok && err == nil; ok, err = c.NextSame(h.ctx) {
		h.tally.calls++
		got = append(got, plain(c.ID()))
		if len(got) == 1 {
			h.sameRow(c)
		}
	}
	h.must(err)
	h.sameIDs(got, h.matching(x, vals, n))
}

// sameRow compares the row that a lookup is on with the model's.
func (h *harness) sameRow(c *IndexCursor) {
	at, there := h.m.at(c.ID())
	if !there {
		h.fail("no row %#x", c.ID())
	}
	row, err := c.Row()
	h.must(err)
	h.same(row, h.m.rows[at].vals)
}

func (h *harness) matching(x *modelIndex, vals []modelVal, n int) (ids []RowID) {
	rows := h.m.rows
	if x.spec.Ordered {
		rows = x.sorted(h.m)
	}
	for _, r := range rows {
		if x.compare(h.m, r.vals, vals, n) == 0 {
			ids = append(ids, plain(r.id))
		}
	}
	return ids
}

func (h *harness) sameIDs(got, want []RowID) {
	if !slices.Equal(got, want) {
		h.t.Helper()
		h.fail("rows %#x, want %#x", got, want)
	}
}

func isOrdered(x *modelIndex) bool { return x.spec.Ordered && !x.off }

// rangeScan reads a range in one direction.
func (h *harness) rangeScan() {
	x := h.anyIndex(isOrdered)
	if x == nil {
		return
	}
	c := x.ix.Cursor()
	defer c.Close()
	lo, hi := h.wanted(), h.wanted()
	nLo, nHi := 1+h.r.IntN(len(x.spec.Key)), 1+h.r.IntN(len(x.spec.Key))
	bLo, bHi := AtOrAfter+Bound(h.r.IntN(2)), AtOrBefore+Bound(h.r.IntN(2))
	back := h.r.IntN(2) == 0
	h.setKey(c, x, hi, nHi)
	h.tally.calls++
	var ok bool
	var err error
	if back {
		c.begin()
		h.setKey(c, x, lo, nLo)
		h.must(c.Stop(bLo, nLo))
		h.setKey(c, x, hi, nHi)
		ok, err = c.Seek(h.ctx, bHi, nHi)
	} else {
		h.must(c.Stop(bHi, nHi))
		h.setKey(c, x, lo, nLo)
		ok, err = c.Seek(h.ctx, bLo, nLo)
	}
	var got []RowID
	for ok && err == nil {
		h.tally.calls++
		got = append(got, plain(c.ID()))
		if back {
			ok, err = c.Prev(h.ctx)
		} else {
			ok, err = c.Next(h.ctx)
		}
	}
	h.must(err)
	var want []RowID
	for _, r := range x.sorted(h.m) {
		below, above := x.compare(h.m, r.vals, lo, nLo), x.compare(h.m, r.vals, hi, nHi)
		if (below > 0 || below == 0 && bLo == AtOrAfter) && (above < 0 || above == 0 && bHi == AtOrBefore) {
			want = append(want, plain(r.id))
		}
	}
	if back {
		slices.Reverse(want)
	}
	h.sameIDs(got, want)
}

// groups reads one row for each prefix of the key.
func (h *harness) groups() {
	x := h.anyIndex(isOrdered)
	if x == nil {
		return
	}
	c := x.ix.Cursor()
	defer c.Close()
	n := 1 + h.r.IntN(len(x.spec.Key))
	var got, want []RowID
	h.tally.calls++
	ok, err := c.NextGroup(h.ctx, n)
	for ; ok && err == nil; ok, err = c.NextGroup(h.ctx, n) {
		h.tally.calls++
		got = append(got, plain(c.ID()))
	}
	h.must(err)
	rows := x.sorted(h.m)
	for i, r := range rows {
		if i == 0 || x.compare(h.m, r.vals, rows[i-1].vals, n) != 0 {
			want = append(want, plain(r.id))
		}
	}
	h.sameIDs(got, want)
}

func (h *harness) openLookup() {
	x := h.anyIndex(isOrdered)
	if x == nil || len(h.lookups) == 3 {
		return
	}
	h.tally.calls++
	h.lookups = append(h.lookups, &modelLookup{c: x.ix.Cursor(), x: x})
}

func (h *harness) closeLookup() {
	if n := len(h.lookups); n > 0 {
		h.tally.calls++
		h.lookups[n-1].c.Close()
		h.lookups = h.lookups[:n-1]
	}
}

// walkLookup moves an open index cursor some steps, wherever the rows around it
// have gone since.
func (h *harness) walkLookup() {
	if len(h.lookups) == 0 {
		return
	}
	l := h.lookups[h.r.IntN(len(h.lookups))]
	if l.x.off {
		return
	}
	rows := l.x.sorted(h.m)
	for range h.r.IntN(12) {
		h.tally.calls++
		switch h.r.IntN(8) {
		case 0:
			l.id, l.side = 0, 0
			ok, err := l.c.First(h.ctx)
			h.landed(l, rows, ok, err, 0)
		case 1:
			l.id, l.side = 0, 0
			ok, err := l.c.Last(h.ctx)
			h.landed(l, rows, ok, err, len(rows)-1)
		case 2, 3, 4:
			ok, err := l.c.Next(h.ctx)
			h.landed(l, rows, ok, err, h.placeOf(l, rows, true))
		default:
			ok, err := l.c.Prev(h.ctx)
			h.landed(l, rows, ok, err, h.placeOf(l, rows, false)-1)
		}
	}
}

// placeOf returns the place of the first row behind the cursor, or of the first
// that is not before it.
func (h *harness) placeOf(l *modelLookup, rows []*modelRow, behind bool) int {
	if l.id == 0 || l.side > 0 {
		if behind && l.id == 0 {
			return 0
		}
	}
	if l.id == 0 {
		return len(rows)
	}
	n, _ := slices.BinarySearchFunc(rows, l, func(r *modelRow, l *modelLookup) int {
		c := l.x.compare(h.m, r.vals, l.vals, len(l.x.spec.Key))
		if c == 0 {
			switch {
			case plain(r.id) < l.id:
				c = -1
			case plain(r.id) > l.id:
				c = 1
			case behind && l.side >= 0, !behind && l.side > 0:
				c = -1
			default:
				c = 1
			}
		}
		return c
	})
	return n
}

func (h *harness) landed(l *modelLookup, rows []*modelRow, ok bool, err error, at int) {
	h.must(err)
	if ok != (at >= 0 && at < len(rows)) {
		h.fail("lookup found %t, want place %d of %d", ok, at, len(rows))
	}
	if !ok { // it stays at its row, or in the gap where that was
		if l.side = 1; at < 0 {
			l.side = -1
		}
		return
	}
	if l.c.ID() != rows[at].id {
		h.fail("lookup is on %#x, want %#x", l.c.ID(), rows[at].id)
	}
	l.id, l.vals, l.side = plain(rows[at].id), rows[at].vals, 0
}
