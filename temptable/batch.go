package temptable

import "fmt"

// Batch is a run of rows by columns: what InsertBatch takes and ReadBatch
// gives.
type Batch struct {
	// N is the number of rows.
	N int
	// Sel, if not nil, selects them: row k is at place Sel[k] of the vectors.
	// Otherwise it is at place k.
	Sel []int32
	// Cols has a vector for each column of the table.
	Cols []Vector
}

// Vector is one column of a batch. Which of its fields count follows from the
// column's type: see [Type].
type Vector struct {
	// Valid has a bit for each place, set where there is a value; nil says that
	// there are no NULLs.
	Valid []uint64
	// I64 has integers and temporal values.
	I64 []int64
	// F64 has FLOAT and DOUBLE.
	F64 []float64
	// Off and Bytes have strings, and DECIMAL as text. Off has one entry more
	// than there are places: the value at place i is Bytes[Off[i]:Off[i+1]].
	Off   []int32
	Bytes []byte
}

// Reset empties b and keeps its memory.
func (b *Batch) Reset() {
	b.N, b.Sel = 0, nil
	for i := range b.Cols {
		v := &b.Cols[i]
		v.Valid, v.I64, v.F64, v.Off, v.Bytes = v.Valid[:0], v.I64[:0], v.F64[:0], v.Off[:0], v.Bytes[:0]
	}
}

// isNull reports whether place i has no value.
func (v *Vector) isNull(i int) bool {
	return v.Valid != nil && v.Valid[i>>6]&(1<<(i&63)) == 0
}

// checkShape makes sure that the vectors have all places that the rows are at.
func checkShape(s *Schema, b *Batch, from, to int) error {
	if from < 0 || to > b.N || b.Sel != nil && len(b.Sel) < to {
		return fmt.Errorf("%w: rows %d to %d of %d, %d selected", ErrBatch, from, to, b.N, len(b.Sel))
	}
	if len(b.Cols) != len(s.cols) {
		return fmt.Errorf("%w: %d vectors for %d columns", ErrBatch, len(b.Cols), len(s.cols))
	}
	places := to
	if b.Sel != nil {
		var err error
		if places, err = selected(b.Sel[from:to]); err != nil {
			return err
		}
	}
	for i := range s.cols {
		if have := b.Cols[i].places(&s.cols[i]); have < places {
			return fmt.Errorf("%w: column %d (%s) has %d places of %d", ErrBatch, i, s.public[i].Name, have, places)
		}
	}
	return nil
}

// selected is one more than the highest place in sel.
func selected(sel []int32) (int, error) {
	top := int32(-1)
	for _, p := range sel {
		if p < 0 {
			return 0, fmt.Errorf("%w: place %d is selected", ErrBatch, p)
		}
		top = max(top, p)
	}
	return int(top) + 1, nil
}

// places is the number of places that v has for a column.
func (v *Vector) places(c *column) int {
	n := len(v.I64)
	switch {
	case c.textual():
		n = max(0, len(v.Off)-1)
	case c.kind.float():
		n = len(v.F64)
	}
	if v.Valid != nil {
		n = min(n, 64*len(v.Valid))
	}
	return n
}
