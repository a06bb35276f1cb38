package temptable

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spillway-db/spillway/internal/sys"
)

// Stream writes a string or binary value of the row with the given id to w, and
// returns its length: 0 for NULL. A value that was streamed in is never in
// memory as a whole. The table is in use for reading until Stream returns; w
// must not change it.
//
// Errors: w's; ErrRowGone; ErrColumn; ErrType; ErrTableFailed and what it wraps;
// ErrClosed; ErrConcurrentUse; the context's.
func (t *Table) Stream(ctx context.Context, id RowID, col int, w io.Writer) (n int64, err error) {
	if err = t.beginRead(); err == nil {
		n, err = t.streamHeld(ctx, id, col, w)
	}
	if err != nil {
		return n, fmt.Errorf("temptable: stream column %d of row %#x of %s: %w", col, uint64(id), t.name, t.lost(err))
	}
	return n, nil
}

// streamHeld ends the use of the table even if w panics.
func (t *Table) streamHeld(ctx context.Context, id RowID, col int, w io.Writer) (int64, error) {
	defer t.endRead()
	c, err := t.streamable(col)
	if err != nil {
		return 0, err
	}
	var buf RowBuffer
	row, err := t.readStored(id, &buf)
	if err != nil || c.isNull(row) {
		return 0, err
	}
	return t.streamContent(ctx, c, row, w)
}

// Stream is Table.Stream for the row that the cursor stands on.
func (c *Cursor) Stream(ctx context.Context, col int, w io.Writer) (n int64, err error) {
	if err := c.enter(ctx); err != nil {
		return 0, err
	}
	defer c.leave()
	k, err := c.t.streamable(col)
	switch {
	case err != nil:
	case c.id == 0 || c.row.s == nil:
		err = ErrRowGone
	case !k.isNull(c.row.buf):
		n, err = c.t.streamContent(ctx, k, c.row.buf, w)
	}
	return n, c.wrap(err)
}

func (t *Table) streamable(col int) (*column, error) {
	if uint(col) >= uint(len(t.schema.cols)) {
		return nil, ErrColumn
	}
	c := &t.schema.cols[col]
	if c.width != 0 {
		return nil, ErrType
	}
	return c, nil
}

func (t *Table) streamContent(ctx context.Context, c *column, row []byte, w io.Writer) (n int64, err error) {
	k := new(chunks)
	k.open(t, c, t.schema, row)
	for i := 0; ; i++ {
		if i%piecesEvery == 0 {
			if err := canceled(ctx, "stream from", t.name); err != nil {
				return n, err
			}
		}
		p, err := t.readGuarded(k)
		if len(p) == 0 || err != nil {
			return n, err
		}
		m, err := w.Write(p)
		n += int64(m)
		if err == nil && m < len(p) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, err
		}
	}
}

func (t *Table) readGuarded(k *chunks) (p []byte, err error) {
	if t.space.Mapped() {
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	return k.read()
}

func (t *Table) inflateGuarded(row []byte, wide *[]byte) (out []byte, err error) {
	if t.space.Mapped() {
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	return t.inflate(row, wide)
}

// Len returns the length in bytes of a variable value, 0 for NULL and for other
// columns. Where large values are skipped it is the only way to learn of them.
func (r Row) Len(i int) int64 {
	c := &r.s.cols[i]
	if c.width != 0 {
		return 0
	}
	if ref, ok := c.large(r.s, r.buf); ok {
		return ref.n
	}
	return int64(len(c.bytes(r.s, r.buf)))
}
