package temptable

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spillway-db/spillway/internal/sys"
)

// Upserter adds rows to a distinct table, or changes the ones that are there:
// GROUP BY, and the counters of INTERSECT ALL and EXCEPT ALL, in one call a row.
// Set all columns as with a Writer: they are the row of a new group, and the
// fold columns among them change the row of one that is there. It belongs to one
// goroutine.
type Upserter struct {
	setters
	t     *Table
	ctx   context.Context
	fold  *folder
	count int
	last  Result
}

// Upserter starts a statement that folds the given columns. The context is
// looked at every 1,024 rows.
//
// Errors: ErrNoKey if the table is not distinct; ErrColumn; ErrType for a column
// that cannot be folded so, or that is part of the distinct key.
func (t *Table) Upserter(ctx context.Context, folds ...Fold) (*Upserter, error) {
	f, err := t.newFolder(folds)
	if err != nil {
		return nil, fmt.Errorf("temptable: upsert into %s: %w", t.name, err)
	}
	u := &Upserter{t: t, ctx: ctx, fold: f}
	u.init(t.schema)
	return u, nil
}

func (t *Table) newFolder(folds []Fold) (*folder, error) {
	if t.index == nil {
		return nil, ErrNoKey
	}
	f, err := newFolder(t.schema, folds)
	if err == nil && f.touches(t.distinctIndex()) {
		err = fmt.Errorf("%w: a key column cannot be folded", ErrType)
	}
	if err == nil {
		f.plan(t)
	}
	return f, err
}

// Upsert adds the row that the setters described, or folds it into the one that
// has the same key, and starts a new row. id is that of the row; added says
// whether it is new. If another unique index refuses the row, or the change,
// Conflict says so, and the table is as it was.
//
// Errors: those of Writer.Insert, and ErrRange for a sum that does not fit. On
// an error the table is as it was.
func (u *Upserter) Upsert() (id RowID, added bool, err error) {
	if u.count++; u.count%ctxEvery == 0 {
		if err := canceled(u.ctx, "upsert into", u.t.name); err != nil {
			return 0, false, err
		}
	}
	row, err := u.finish()
	if err == nil {
		u.last, err = u.t.upsertOne(u.fold, row)
	}
	u.setters.begin()
	if err != nil {
		u.last = Result{}
		return 0, false, fmt.Errorf("temptable: upsert into %s: %w", u.t.name, err)
	}
	return u.last.ID, u.last.Added, nil
}

// Conflict says why the last Upsert did nothing: the zero Conflict if it did.
func (u *Upserter) Conflict() Conflict {
	if u.last.Index == 0 {
		return Conflict{}
	}
	return Conflict{u.t.nthIndex(u.last.Index), u.last.ID}
}

func (t *Table) upsertOne(f *folder, row []byte) (res Result, err error) {
	if err := t.begin(); err != nil {
		return res, err
	}
	defer t.endCalling()
	if t.space.Mapped() {
		res.ID, res.Added, err = t.upsertGuarded(f, row)
	} else {
		res.ID, res.Added, err = t.upsertHashed(f, row)
	}
	if err != nil {
		err = t.lost(err)
	}
	res.Index, t.clash = t.clash, 0
	return res, err
}

func (t *Table) upsertGuarded(f *folder, row []byte) (id RowID, added bool, err error) {
	defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	return t.upsertHashed(f, row)
}

func (t *Table) upsertHashed(f *folder, row []byte) (RowID, bool, error) {
	if f.word != nil && t.ext == nil {
		return t.upsertWord(f, row)
	}
	hash, err := t.schema.keyHash(row)
	if err != nil {
		return 0, false, err
	}
	return t.upsert(f, row, hash)
}

func (t *Table) upsert(f *folder, row []byte, hash uint64) (RowID, bool, error) {
	t.key = row
	slot, found, err := t.index.Find(hash, t)
	if err != nil {
		t.pin.Unpin()
		return 0, false, err
	}
	if found == 0 {
		t.pin.Unpin()
		return t.addGuarded(row, slot)
	}
	id, err := t.foldInto(f, RowID(found), row)
	return id, false, err
}

// foldInto changes the row at id: in place where the columns lie in its slot and
// nothing else depends on them.
func (t *Table) foldInto(f *folder, id RowID, row []byte) (RowID, error) {
	slot, err := t.space.Arena.Write(id, min(max(t.schema.endsOff, slotHead), maxPiece), &t.pin)
	if err != nil {
		return 0, err
	}
	if h := header(slot); h&(flagForwarded|flagChained) != 0 || t.ext != nil && !t.freely(f, id) {
		t.pin.Unpin()
		return t.foldAway(f, id, row)
	}
	err = f.apply(slot, row)
	t.pin.Unpin()
	if err != nil {
		return 0, err
	}
	t.changes.row(id)
	return t.tag(id), nil
}

// freely reports whether the fold columns of a row may change in place.
func (t *Table) freely(f *folder, id RowID) bool {
	for _, x := range t.ext.indexes {
		if f.touches(x) {
			return false
		}
	}
	return id >= t.floor
}

// foldAway is foldInto by way of a whole row. If an index refuses the new one,
// the id is that of the row in the way, and t.clash says which.
func (t *Table) foldAway(f *folder, id RowID, row []byte) (RowID, error) {
	old, err := t.fetch(id)
	if err != nil {
		return 0, err
	}
	if f.w == nil {
		f.w = newRowWriter(t.schema)
	}
	f.w.load(old)
	t.pin.Unpin()
	if err := f.apply(f.w.buf, row); err != nil {
		return 0, err
	}
	changed, err := f.w.finish()
	if err != nil {
		return 0, err
	}
	other, err := t.updateRow(t.tag(id), changed)
	if other != 0 || err != nil {
		return other, err
	}
	return t.tag(id), nil
}

// UpsertBatch upserts the rows of b in their order. b is borrowed until return;
// res is nil or has at least b.N elements, and says of each row whether it was
// added, or refused by an index beside the distinct key. On an error exactly rows
// [0, n) were processed.
//
// Cost: that of InsertBatch, and a few nanoseconds a fold.
func (u *Upserter) UpsertBatch(ctx context.Context, b *Batch, res []Result) (n int, err error) {
	return u.t.insertBatch(ctx, b, res, u.fold)
}

// foldAll upserts the encoded rows of the scratch.
func (i *inserter) foldAll(hashes []uint64) error {
	for k, h := range hashes {
		id, added, err := i.t.upsert(i.fold, i.s.row(k), h)
		if err != nil {
			return err
		}
		i.report(id, added)
	}
	return nil
}

// Handle reads and changes single columns of one stored row, for counters that
// an executor keeps itself. Only integers are meant; a change in place costs a
// few nanoseconds.
type Handle struct {
	t  *Table
	id RowID
}

// Handle returns a handle of the row with the given id, as Insert returned it.
func (t *Table) Handle(id RowID) Handle { return Handle{t, id} }

// ID returns the row's id.
func (h Handle) ID() RowID { return h.id }

// AddInt adds d to an integer column and returns the sum; a NULL becomes d. Errors:
// ErrRowGone; ErrColumn; ErrType for a column that is not an integer one;
// ErrRange if the sum does not fit; ErrConflict if a unique index forbids it; those
// of an update. On an error the row is as it was.
func (h Handle) AddInt(col int, d int64) (int64, error) { return h.change(Fold{col, Add}, d) }

// SetInt replaces the value of an integer or temporal column. Errors are those of
// AddInt.
func (h Handle) SetInt(col int, v int64) error {
	_, err := h.change(Fold{col, Replace}, v)
	return err
}

func (h Handle) change(d Fold, v int64) (got int64, err error) {
	if got, err = h.t.patchOne(h.id, d, v); err != nil {
		return 0, fmt.Errorf("temptable: change row %#x of %s: %w", uint64(h.id), h.t.name, err)
	}
	return got, nil
}

func (t *Table) patchOne(id RowID, d Fold, v int64) (int64, error) {
	if err := t.begin(); err != nil {
		return 0, err
	}
	defer t.endCalling()
	got, err := t.patchGuarded(id, d, v)
	t.clash = 0
	return got, t.lost(err)
}

func (t *Table) patchGuarded(id RowID, d Fold, v int64) (got int64, err error) {
	if t.space.MayMap() {
		t.armed = true
		defer func() { t.armed = false }()
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	return t.patch(id, d, v)
}

// patch changes one column of a row by way of a whole row.
func (t *Table) patch(id RowID, d Fold, v int64) (int64, error) {
	if _, err := t.locate(id); err != nil {
		return 0, err
	}
	id, _ = t.untag(id)
	old, err := t.fetch(id)
	if err != nil {
		return 0, err
	}
	t.more()
	w := t.ext.patcher(t.schema)
	w.load(old)
	t.pin.Unpin()
	if d.Op == Add && d.Col >= 0 && d.Col < len(w.cols) {
		if v, err = w.cols[d.Col].sum(w.buf, v); err != nil {
			return 0, err
		}
	}
	w.setInt(d.Col, v)
	row, err := w.finish()
	if err != nil {
		return 0, err
	}
	other, err := t.updateRow(t.tag(id), row)
	if other != 0 {
		err = ErrConflict
	}
	return v, err
}

// sum adds d to the value in row, where both fit 64 bits.
func (c *column) sum(row []byte, d int64) (int64, error) {
	if c.kind > kindUint {
		return 0, &valueError{cause: ErrType, row: -1, col: int(c.index)}
	}
	if c.isNull(row) {
		return d, nil
	}
	old := c.fixed(row)
	sum := old + d
	if c.kind == kindInt && (sum >= old) != (d >= 0) || c.kind == kindUint && (uint64(sum) >= uint64(old)) != (d >= 0) {
		return 0, &valueError{cause: ErrRange, row: -1, col: int(c.index)}
	}
	return sum, nil
}

// patcher returns the extras' own writer.
func (e *extras) patcher(s *Schema) *rowWriter {
	if e.patch == nil {
		e.patch = newRowWriter(s)
	}
	return e.patch
}
