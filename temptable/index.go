package temptable

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/spillway-db/spillway/hashindex"
	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/temptable/internal/btree"
)

// IndexSpec describes an index.
type IndexSpec struct {
	// Name is used in messages and by Table.Index.
	Name string
	// Key are the columns, the most significant first. Directions and the
	// place of NULLs count for ordered indexes only.
	Key []KeyPart
	// Unique refuses a row whose key is there already.
	Unique bool
	// NullsDistinct lets rows with a NULL in the key be as many as they like in
	// a unique index, as SQL's constraints do; otherwise NULL equals NULL.
	NullsDistinct bool
	// Ordered makes a B+tree, for ranges and for reading in order. Otherwise the
	// index finds rows by their whole key only, and faster.
	Ordered bool
}

// Asc is the ascending key of the columns.
func Asc(cols ...int) []KeyPart {
	key := make([]KeyPart, len(cols))
	for i, c := range cols {
		key[i].Col = c
	}
	return key
}

// Conflict says why a row was refused: which index, and which row is in the way.
// The zero Conflict is none.
type Conflict struct {
	Index *Index
	Row   RowID
}

// ConflictError is what AddIndex and Enable return for rows that a unique index
// cannot hold. It matches ErrConflict.
type ConflictError struct {
	Index string
	Row   RowID // the row that could not be added
	Other RowID // the row that has the same key
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: rows %#x and %#x in index %s", ErrConflict, uint64(e.Row), uint64(e.Other), e.Index)
}

// Is makes errors.Is(err, ErrConflict) hold.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// Index is an index of a table. The table keeps it in step with the rows; it
// ends with the table.
//
// A unique index that is not ordered is a hash index of (hash, row id); all
// others are B+trees: of (canonical key, row id), or, not ordered, of (hash, row
// id), so that rows of one key come in the order of their ids.
type Index struct {
	t    *Table
	spec IndexSpec
	nth  int     // as Result.Index names it
	view *Schema // a schema whose key is the index's

	order *keyOrder        // nil: not ordered
	hash  *hashindex.Index // nil: all rows are in tree
	tree  *btree.Tree      // nil: all rows are in hash
	off   bool             // disabled

	keyReader                // of calls that change the table
	slot      hashindex.Slot // where hash will take the new row
	key       []byte         // what tree will take
	gone      []byte         // what tree will lose
	changes   bool           // whether an update changes the key
	planned   bool           // whether tree has reserved
}

// newIndex makes an empty index, which takes no memory.
func (t *Table) newIndex(spec IndexSpec, nth int) (*Index, error) {
	spec.Key = slices.Clone(spec.Key)
	order, err := newKeyOrder(t.schema, spec.Key)
	if err != nil {
		return nil, err
	}
	if len(spec.Key) == 0 {
		return nil, fmt.Errorf("%w: index %s has no columns", ErrSchema, spec.Name)
	}
	x := &Index{t: t, spec: spec, nth: nth, view: t.schema.keyView(spec.Key)}
	x.keyReader = keyReader{x: x, pin: &t.pin, wide: &t.wide}
	if spec.Ordered {
		x.order = order
	} else if spec.Unique {
		x.hash = t.newHashIndex()
	}
	if x.hash == nil || spec.NullsDistinct {
		x.tree = btree.New(&t.space, nil)
	}
	return x, nil
}

// keyView is a schema of the same rows with another key.
func (s *Schema) keyView(key []KeyPart) *Schema {
	cols := make([]int, len(key))
	for i, k := range key {
		cols[i] = k.Col
	}
	v := &Schema{public: s.public, cols: s.cols, template: s.template, missing: s.missing,
		bitmapLen: s.bitmapLen, endsOff: s.endsOff, numVar: s.numVar}
	v.key = newKeyPlan(v, true, cols)
	v.whole = v.wholeKey()
	return v
}

// distinctName is what Table.Index calls the distinct key.
const distinctName = "distinct"

// distinctIndex is the table's distinct key as an index.
func (t *Table) distinctIndex() *Index {
	cols := t.schema.key.named
	if cols == nil {
		cols = seq(len(t.schema.cols))
	}
	x := &Index{t: t, spec: IndexSpec{Name: distinctName, Key: Asc(cols...), Unique: true}, view: t.schema, hash: t.index}
	x.keyReader = keyReader{x: x, pin: &t.pin, wide: &t.wide}
	return x
}

// Spec returns what the index was made with.
func (x *Index) Spec() IndexSpec { return x.spec }

// Len returns the number of rows in the index: 0 once the table is gone, has
// failed or is being consumed, and while a call is changing it.
func (x *Index) Len() (n int) {
	if x.t.beginRead() != nil {
		return 0
	}
	defer x.t.endRead()
	if x.hash != nil {
		n = x.hash.Len()
	}
	if x.tree != nil {
		n += x.tree.Len()
	}
	return n
}

// AddIndex adds an index, over the rows that are there and all that come. Cost:
// one scan, and an insertion into the index a row.
//
// Errors: a *ConflictError, which matches ErrConflict, if the rows do not fit a
// unique index; ErrSavepointOpen for a unique index; ErrColumn; the limit that refused; the context's. On an error
// the table is as it was.
func (t *Table) AddIndex(ctx context.Context, spec IndexSpec) (*Index, error) {
	x, err := t.addIndex(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("temptable: add index %s to %s: %w", spec.Name, t.name, err)
	}
	return x, nil
}

func (t *Table) addIndex(ctx context.Context, spec IndexSpec) (*Index, error) {
	if err := t.begin(); err != nil {
		return nil, err
	}
	defer t.endCalling()
	defer t.operate(ctx, "spillway.index", true).end()
	x, err := t.newIndex(spec, len(t.more().declared)+1)
	if err != nil {
		return nil, err
	}
	if err := x.fill(ctx); err != nil {
		return nil, err
	}
	t.declare(x)
	return x, nil
}

// fill builds an index for AddIndex and Enable. Going back to a savepoint could
// bring rows that a unique index made since cannot hold.
func (x *Index) fill(ctx context.Context) (err error) {
	if x.spec.Unique && len(x.t.more().saves) > 0 {
		return ErrSavepointOpen
	}
	if err = x.buildGuarded(ctx); err != nil {
		err = x.t.lost(err)
	}
	return err
}

func (x *Index) buildGuarded(ctx context.Context) (err error) {
	if x.t.space.MayMap() {
		x.t.armed = true
		defer func() { x.t.armed = false }()
		defer sys.Recover(&err, &x.t.space, debug.SetPanicOnFault(true))
	}
	return x.build(ctx)
}

// declare takes an index, which holds all rows, into use.
func (t *Table) declare(x *Index) {
	e := t.more()
	e.declared = append(e.declared, x)
	t.keep(x)
}

// keep keeps the index in step from now on.
func (t *Table) keep(x *Index) {
	e := t.more()
	e.indexes = append(e.indexes, x)
	slices.SortFunc(e.indexes, func(a, b *Index) int { return a.nth - b.nth })
}

// Index returns the index with the given name, nil if there is none. The
// distinct key of a table is the index "distinct".
func (t *Table) Index(name string) *Index {
	if t.ext != nil {
		for _, x := range t.ext.declared {
			if x.spec.Name == name {
				return x
			}
		}
	}
	if name != distinctName || t.index == nil {
		return nil
	}
	if t.ext != nil {
		return t.ext.indexes[0]
	}
	return t.distinctIndex()
}

// Disable empties the index and stops keeping it. Lookups give ErrDisabled.
func (x *Index) Disable() error {
	if err := x.t.begin(); err != nil {
		return fmt.Errorf("temptable: disable index %s of %s: %w", x.spec.Name, x.t.name, err)
	}
	defer x.t.end()
	if x.nth == 0 {
		return fmt.Errorf("temptable: disable index %s of %s: %w", x.spec.Name, x.t.name, errors.ErrUnsupported)
	}
	x.stop()
	return nil
}

func (x *Index) stop() {
	e := x.t.ext
	e.indexes = slices.DeleteFunc(e.indexes, func(y *Index) bool { return y == x })
	x.off = true
	x.free()
}

// Enable fills a disabled index again and keeps it from then on. Errors are
// those of AddIndex; the index stays disabled then.
func (x *Index) Enable(ctx context.Context) error {
	if err := x.enable(ctx); err != nil {
		return fmt.Errorf("temptable: enable index %s of %s: %w", x.spec.Name, x.t.name, err)
	}
	return nil
}

func (x *Index) enable(ctx context.Context) error {
	if err := x.t.begin(); err != nil {
		return err
	}
	defer x.t.endCalling()
	if !x.off {
		return nil
	}
	if err := x.fill(ctx); err != nil {
		return err
	}
	x.off = false
	x.t.keep(x)
	return nil
}

// clear empties the index and keeps its memory.
func (x *Index) clear() {
	if x.hash != nil && x.nth != 0 {
		x.hash.Clear()
	}
	if x.tree != nil {
		x.tree.Clear()
	}
}

// free gives the memory back.
func (x *Index) free() {
	if x.hash != nil && x.nth != 0 {
		x.hash.Free()
	}
	if x.tree != nil {
		x.tree.Free()
	}
}

func (t *Table) freeIndexes() {
	if t.ext != nil {
		for _, x := range t.ext.declared {
			x.free()
		}
	}
}
