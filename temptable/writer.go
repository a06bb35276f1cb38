package temptable

import (
	"context"
	"fmt"
	"time"
)

// Writer inserts rows into a table one at a time. Setters do not allocate
// (once the scratch has grown to the longest row); an error of a setter sticks
// and comes out of Insert. A Writer belongs to one goroutine.
type Writer struct {
	rowWriter
	t     *Table
	ctx   context.Context
	count int
}

// Writer starts a statement. The context is looked at every 1,024 rows.
func (t *Table) Writer(ctx context.Context) *Writer {
	w := &Writer{t: t, ctx: ctx}
	w.init(t.schema)
	return w
}

// Insert adds the row that the setters described, or finds its duplicate, and
// starts a new row: all columns NULL. added is false for a duplicate; id is
// then the row that is there. On an error the table is as it was.
//
// Errors: those of the setters; ErrNull; the limit that refused; ErrTableFailed
// and what ErrTableFailed wraps; ErrClosed; ErrConcurrentUse; the context's.
func (w *Writer) Insert() (id RowID, added bool, err error) {
	if w.count++; w.count%ctxEvery == 0 {
		if err := canceled(w.ctx, "insert into", w.t.name); err != nil {
			return 0, false, err
		}
	}
	row, err := w.finish()
	if err == nil {
		id, added, err = w.t.insertOne(row)
	}
	w.begin()
	if err != nil {
		return 0, false, fmt.Errorf("temptable: insert into %s: %w", w.t.name, err)
	}
	return id, added, nil
}

// SetInt sets an integer, YEAR, ENUM (its number) or temporal column, in the
// form that [Type] describes.
func (w *Writer) SetInt(col int, v int64) { w.setInt(col, v) }

// SetUint sets an unsigned integer, BIT or SET (its bits).
func (w *Writer) SetUint(col int, v uint64) { w.setUint(col, v) }

// SetTime sets a TIME.
func (w *Writer) SetTime(col int, v time.Duration) { w.setTime(col, v) }

// SetFloat sets a FLOAT or DOUBLE.
func (w *Writer) SetFloat(col int, v float64) { w.setFloat(col, v) }

// SetBytes sets a string or binary column; v is copied.
func (w *Writer) SetBytes(col int, v []byte) { w.setBytes(col, v) }

// SetString is SetBytes for a string.
func (w *Writer) SetString(col int, v string) { w.setString(col, v) }

// SetNull sets NULL, which every column has that was not set.
func (w *Writer) SetNull(col int) { w.setNull(col) }
