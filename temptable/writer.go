package temptable

import (
	"context"
	"fmt"
)

// Writer inserts rows into a table one at a time. Setters do not allocate
// (once the scratch has grown to the longest row); an error of a setter sticks
// and comes out of Insert. A Writer belongs to one goroutine.
type Writer struct {
	setters
	t     *Table
	ctx   context.Context
	count int
	last  Result

	sources []source // readers of the row
}

// Writer starts a statement. The context is looked at every 1,024 rows.
func (t *Table) Writer(ctx context.Context) *Writer {
	w := &Writer{t: t, ctx: ctx}
	w.init(t.schema)
	return w
}

// Insert adds the row that the setters described, or finds its duplicate, and
// starts a new row: all columns NULL. added is false for a duplicate; id is
// then the row that is there, and Conflict says which index is meant if there
// are several. On an error the table is as it was.
//
// Errors: those of the setters; ErrNull; the limit that refused; ErrTableFailed
// and what ErrTableFailed wraps; ErrClosed; ErrConcurrentUse; the context's.
func (w *Writer) Insert() (id RowID, added bool, err error) {
	if w.count++; w.count%ctxEvery == 0 {
		if err := canceled(w.ctx, "insert into", w.t.name); err != nil {
			return 0, false, err
		}
	}
	if len(w.sources) > 0 {
		w.last, err = w.insertStreamed()
	} else if row, e := w.finish(); e == nil {
		w.last, err = w.t.insertOne(row)
	} else {
		err = e
	}
	w.begin()
	if err != nil {
		w.last = Result{}
		return 0, false, fmt.Errorf("temptable: insert into %s: %w", w.t.name, err)
	}
	return w.last.ID, w.last.Added, nil
}

// Conflict says why the last Insert added nothing: the zero Conflict if it did,
// or returned an error.
func (w *Writer) Conflict() Conflict {
	if w.last.Added || w.last.ID == 0 {
		return Conflict{}
	}
	return Conflict{w.t.nthIndex(w.last.Index), w.last.ID}
}
