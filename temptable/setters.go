package temptable

import "time"

// setters are how a caller describes a row, or the key of one, column by column.
// They do not allocate once the scratch has grown to the longest row. An error
// sticks and comes out of the call that uses the row.
type setters struct{ rowWriter }

// SetInt sets an integer, YEAR, ENUM (its number) or temporal column, in the
// form that [Type] describes.
func (w *setters) SetInt(col int, v int64) { w.setInt(col, v) }

// SetUint sets an unsigned integer, BIT or SET (its bits).
func (w *setters) SetUint(col int, v uint64) { w.setUint(col, v) }

// SetTime sets a TIME.
func (w *setters) SetTime(col int, v time.Duration) { w.setTime(col, v) }

// SetFloat sets a FLOAT or DOUBLE.
func (w *setters) SetFloat(col int, v float64) { w.setFloat(col, v) }

// SetBytes sets a string or binary column; v is copied.
func (w *setters) SetBytes(col int, v []byte) { w.setBytes(col, v) }

// SetString is SetBytes for a string.
func (w *setters) SetString(col int, v string) { w.setString(col, v) }

// SetNull sets NULL, which every column has that was not set.
func (w *setters) SetNull(col int) { w.setNull(col) }
