package temptable

import (
	"errors"
	"fmt"
)

// Errors of NewSchema.
var (
	// ErrSchema is returned by NewSchema for a description that cannot be a
	// table; the text names every fault.
	ErrSchema = errors.New("temptable: invalid schema")
)

// Errors of values. They come out of Insert and InsertBatch, and name the
// column, in a batch the row too.
var (
	// ErrNull is returned for a NULL in, or no value for, a NOT NULL column.
	ErrNull = errors.New("temptable: NULL in a NOT NULL column")
	// ErrRange is returned for a number or time that the column cannot hold
	// exactly.
	ErrRange = errors.New("temptable: value out of range")
	// ErrTooLong is returned for a string above Column.Length, or a row above
	// the largest that offsets can address (4 GiB).
	ErrTooLong = errors.New("temptable: value too long")
	// ErrType is returned for a setter, or a vector, that does not fit the
	// column's type.
	ErrType = errors.New("temptable: wrong type for the column")
	// ErrColumn is returned for a column that the table does not have.
	ErrColumn = errors.New("temptable: no such column")
	// ErrBatch is returned for a batch whose parts contradict each other: too
	// few vectors, vectors too short, selections or offsets out of bounds.
	ErrBatch = errors.New("temptable: malformed batch")
	// ErrCorrupt is returned for bytes that are not a row of the schema.
	ErrCorrupt = errors.New("temptable: corrupt row")
)

// valueError is a fault of one value. It costs an allocation, on the error
// path only.
type valueError struct {
	cause error
	row   int // in the batch, -1 outside of one
	col   int
	name  string
	note  string
}

func (e *valueError) Error() string {
	where := fmt.Sprintf("column %d", e.col)
	if e.name != "" {
		where += fmt.Sprintf(" (%s)", e.name)
	}
	if e.row >= 0 {
		where = fmt.Sprintf("row %d, %s", e.row, where)
	}
	if e.note != "" {
		where += ": " + e.note
	}
	return e.cause.Error() + ": " + where
}

func (e *valueError) Unwrap() error { return e.cause }

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
