package temptable

import (
	"errors"
	"math"
	"slices"
)

// folds chooses what an upsert changes: columns outside of the distinct key.
func (h *harness) folds() (folds []Fold) {
	if h.tab.index == nil {
		return nil
	}
	for i, c := range h.m.cols {
		key := slices.ContainsFunc(h.m.indexes[0].spec.Key, func(p KeyPart) bool { return p.Col == i })
		if key || c.kind > modelFloat || h.r.IntN(4) == 0 {
			continue
		}
		op := FoldOp(h.r.IntN(4))
		if c.Type == TypeTime && op == Add {
			op = Replace
		}
		folds = append(folds, Fold{i, op})
	}
	return folds
}

func foldModel(k modelKind, op FoldOp, old, given modelVal) modelVal {
	switch {
	case given.null:
		return old
	case old.null || op == Replace:
		return given
	case k == modelInt:
		return modelVal{i: [...]int64{old.i + given.i, min(old.i, given.i), max(old.i, given.i)}[op]}
	}
	return modelVal{f: [...]float64{old.f + given.f, math.Min(old.f, given.f), math.Max(old.f, given.f)}[op]}
}

// upserted compares what became of an upsert with what the model says.
func (h *harness) upserted(vals []modelVal, folds []Fold, res Result) {
	x, other := h.m.conflict(vals, 0)
	if x == nil || x != h.m.indexes[0] || res.Added {
		h.took(vals, res)
		return
	}
	at, _ := h.m.at(other)
	id := h.m.rows[at].id
	changed := slices.Clone(h.m.rows[at].vals)
	for _, f := range folds {
		changed[f.Col] = foldModel(h.m.cols[f.Col].kind, f.Op, changed[f.Col], vals[f.Col])
	}
	x, other = h.m.conflict(changed, id)
	if x == nil {
		if res.ID != id || res.Index != 0 {
			h.fail("folded into %+v, want %#x", res, id)
		}
		h.m.replace(at, changed)
		return
	}
	if plain(res.ID) != other || res.Index != h.nth(x) {
		h.fail("fold refused by %+v, want %#x of %d", res, other, h.nth(x))
	}
}

func (h *harness) upsert() {
	folds := h.folds()
	u, err := h.tab.Upserter(h.ctx, folds...)
	if h.tab.index == nil {
		if !errors.Is(err, ErrNoKey) {
			h.fail("upserter without a key: %v", err)
		}
		return
	}
	h.must(err)
	for range 1 + h.r.IntN(8) {
		vals := h.vals()
		h.setAll(&u.setters, vals)
		h.tally.calls++
		id, added, err := u.Upsert()
		if h.refused(err) {
			return
		}
		res := Result{ID: id, Added: added}
		if c := u.Conflict(); c.Index != nil {
			res.Index = int32(c.Index.nth)
		}
		h.upserted(vals, folds, res)
	}
}

func (h *harness) upsertBatch() {
	if h.tab.index == nil {
		return
	}
	folds := h.folds()
	u, err := h.tab.Upserter(h.ctx, folds...)
	h.must(err)
	n := 1 + h.r.IntN(80)
	rows := h.rows(n)
	h.m.stale()
	h.tally.calls++
	done, err := u.UpsertBatch(h.ctx, &h.batch, h.res)
	if !h.refused(err) && done != n {
		h.fail("%d of %d rows done", done, n)
	}
	for k, vals := range rows[:done] {
		h.upserted(vals, folds, h.res[k])
	}
}

// handle changes a counter through a handle.
func (h *harness) handle() {
	at, ok := h.anyRow()
	i := h.r.IntN(len(h.m.cols))
	if c := h.m.cols[i]; !ok || c.kind != modelInt {
		return
	}
	row := h.m.rows[at]
	vals := slices.Clone(row.vals)
	hd := h.tab.Handle(row.id)
	h.tally.calls++
	var err error
	if vals[i] = (modelVal{i: int64(h.r.IntN(h.domain)) * 1e6}); h.m.cols[i].Type == TypeTime || h.r.IntN(2) == 0 {
		err = hd.SetInt(i, vals[i].i)
	} else {
		d := int64(h.r.IntN(5) - 2)
		vals[i].i = row.vals[i].i + d // of a NULL that is 0
		var got int64
		if got, err = hd.AddInt(i, d); err == nil && got != vals[i].i {
			h.fail("sum %d, want %d", got, vals[i].i)
		}
	}
	x, _ := h.m.conflict(vals, row.id)
	if fits := vals[i].i <= math.MaxInt32 || h.m.cols[i].Type != TypeInt; !fits || h.m.cols[i].Type == TypeTime && vals[i].i > maxTime {
		if !errors.Is(err, ErrRange) {
			h.fail("%d does not fit, but: %v", vals[i].i, err)
		}
		return
	}
	if errors.Is(err, ErrConflict) && x != nil || h.refused(err) {
		return
	}
	if x != nil {
		h.fail("a handle broke a unique index")
	}
	h.m.replace(at, vals)
}
