package temptable

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/hashindex"
	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/spill/disktable"
)

// RowID names a row for as long as it exists, on whatever tier it lies. 0 is
// no row. It is unique within its table.
type RowID = allocator.RowID

// Table is a temporary table. See the package comment for concurrency.
type Table struct {
	eng    *Engine
	schema *Schema
	name   string
	limits Limits

	use    useWord
	space  allocator.Space
	index  *hashindex.Index      // nil: duplicates are welcome
	rows   int64                 // of the call under way; use has the number for others
	failed atomic.Pointer[error] // not nil: every call but Drop returns it
	barred atomic.Pointer[error] // the same for calls that would change it

	ext     *extras // nil: rows were inserted at the end, and nothing else
	changes changes // what cursors must learn of
	floor   RowID   // rows below it are not overwritten: a savepoint is open
	clash   int32   // the index that refused a row; reported and set back to 0
	ordered bool    // a scan must give the rows in insert order

	key   []byte        // the encoded row whose key is being looked for
	pin   allocator.Pin // of the row that is compared with key
	wide  []byte        // a row that is stored in pieces, put together
	tail  RowID         // what follows the pieces of the row that is being stored
	armed bool          // a guard is on for the whole call

	created  time.Time
	labelled context.Context // of the call under way, nil if it has no labels
	removed  atomic.Int64    // rows that are gone, for statistics
}

// TableOption sets what a table may have beyond its schema.
type TableOption func(*Table)

// Named gives the table a name for errors and statistics.
func Named(name string) TableOption { return func(t *Table) { t.name = name } }

// Limited bounds the table (tmp_table_size).
func Limited(l Limits) TableOption { return func(t *Table) { t.limits = l } }

// AppendOrder makes scans return the rows in the order in which they were
// inserted: the place of a deleted row is not used again.
func AppendOrder() TableOption { return func(t *Table) { t.ordered = true } }

func newTable(e *Engine, s *Schema) *Table {
	t := &Table{eng: e, schema: s, name: "table"}
	if s.key.distinct {
		t.index = t.newHashIndex()
	}
	return t
}

// Schema returns the table's schema.
func (t *Table) Schema() *Schema { return t.schema }

// Len returns the number of rows. It may be called at any time.
func (t *Table) Len() int64 { return t.use.rows() }

// Drop gives back everything that the table holds. Its cursors, writers and
// row ids are void. Dropping again does nothing. ErrConcurrentUse if a call on
// the table is under way.
func (t *Table) Drop() error {
	switch err := t.use.drop(); err {
	case nil:
		t.release()
		return nil
	case ErrClosed:
		return nil
	default:
		return fmt.Errorf("temptable: drop %s: %w", t.name, err)
	}
}

// dropWait is Drop, after the call that is under way, if one is.
func (t *Table) dropWait() error {
	for i := 0; ; i++ {
		switch t.use.drop() {
		case nil:
			t.release()
			return nil
		case ErrClosed:
			return nil
		}
		pause(i)
	}
}

func (t *Table) release() {
	t.setRows(0)
	t.pin.Unpin()
	if t.index != nil {
		t.index.Free()
	}
	t.freeIndexes()
	t.space.Free()
	t.key, t.wide = nil, nil
	t.ext.release()
}

// Truncate removes all rows and keeps the memory for the next ones. Row ids
// and savepoints are void, cursors start again.
func (t *Table) Truncate() error {
	if err := t.begin(); err != nil {
		return fmt.Errorf("temptable: truncate %s: %w", t.name, err)
	}
	defer t.end()
	if t.index != nil {
		t.index.Clear()
	}
	t.clearExtras()
	t.space.Arena.Reset()
	t.setRows(0)
	t.changes.cut(0)
	return nil
}

func (t *Table) setRows(n int64) {
	if n < t.rows {
		t.removed.Add(t.rows - n)
	}
	t.rows = n
}

// begin starts a call that may change the table.
func (t *Table) begin() error {
	if err := t.use.enter(); err != nil {
		return err
	}
	if e := t.barred.Load(); e != nil {
		t.end()
		return *e
	}
	return nil
}

func (t *Table) end() { t.use.leave(t.rows) }

// endCalling is end, to be deferred by a call that may change the table and runs
// code of the caller's, most often a collation. If that panics, the call has
// stopped anywhere: the panic goes on, and the table has failed, but can be
// dropped.
func (t *Table) endCalling() {
	defer t.end()
	if p := recover(); p != nil {
		_ = t.fail(fmt.Errorf("a panic interrupted a change: %v", p))
		panic(p)
	}
}

// beginRead starts a call that only reads.
func (t *Table) beginRead() error {
	if err := t.use.enterRead(); err != nil {
		return err
	}
	if e := t.failed.Load(); e != nil {
		t.use.leaveRead()
		return *e
	}
	return nil
}

func (t *Table) endRead() { t.use.leaveRead() }

// TryLock takes the table for moving its blocks, if no call is under way.
func (t *Table) TryLock() bool { return t.use.lockIdle() }

// Unlock ends TryLock.
func (t *Table) Unlock() { t.use.unlockIdle() }

// lost makes the table fail if err lost data that it had: from then on every
// call returns that error. Readers may find out at the same time.
func (t *Table) lost(err error) error {
	if err == nil || !errors.Is(err, disktable.ErrIO) && !errors.Is(err, sys.ErrFault) && !errors.Is(err, ErrCorrupt) {
		return err
	}
	var refused *LimitError // nothing was taken; unless it was for what is lost, nothing is
	if errors.As(err, &refused) && t.space.Lost() == nil {
		return err
	}
	return t.fail(err)
}

// fail makes err the table's last word.
func (t *Table) fail(err error) error {
	err = fmt.Errorf("%w: %s: %w", ErrTableFailed, t.name, err)
	switch {
	case t.failed.CompareAndSwap(nil, &err):
		t.eng.events.failed(t, err)
	case t.failed.Load() == &errConsumed:
		return err
	}
	t.barred.Store(t.failed.Load())
	return *t.failed.Load()
}

// pause waits a little, longer the more often it was called in a row.
func pause(i int) {
	if i < 16 {
		runtime.Gosched()
		return
	}
	time.Sleep(20 * time.Microsecond)
}

// ctxEvery is how many rows may pass between two looks at a context: a block
// of small rows.
const ctxEvery = 1024

func canceled(ctx context.Context, what, table string) error {
	if ctx == nil { // nobody can cancel it
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("temptable: %s %s: %w", what, table, err)
	}
	return nil
}
