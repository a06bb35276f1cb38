package input

import (
	"errors"
	"fmt"
	"math"
)

// ErrTooLarge is returned when the text of a column exceeds 2 GiB.
var ErrTooLarge = errors.New("more than 2 GiB of text in one column")

// Table is N rows by columns.
type Table struct {
	Schema Schema
	N      int
	Cols   []Vector
}

// Vector is one column. Its shape is that of the engine's batches.
type Vector struct {
	// Valid has a bit for each row, set where there is a value; nil says that
	// there are no NULLs.
	Valid []uint64
	// I64 has integers, BIT, YEAR, the number of an ENUM's member, a SET's
	// bits; TIME in microseconds, TIMESTAMP in those since 1970; DATE and
	// DATETIME packed.
	I64 []int64
	// F64 has FLOAT and DOUBLE.
	F64 []float64
	// Off has N+1 entries for strings: the value of row k is
	// Bytes[Off[k]:Off[k+1]].
	Off   []int32
	Bytes []byte
}

// NewTable returns an empty table.
func NewTable(s Schema) *Table {
	t := &Table{Schema: s, Cols: make([]Vector, len(s))}
	for c := range s {
		switch {
		case s[c].isString():
			t.Cols[c].Off = []int32{0}
		case s[c].isFloat():
			t.Cols[c].F64 = []float64{}
		}
	}
	return t
}

// Slice returns the rows [from, to) without copying them. from must be a
// multiple of 64.
func (t *Table) Slice(from, to int) Table {
	s := Table{Schema: t.Schema, N: to - from, Cols: make([]Vector, len(t.Cols))}
	t.SliceInto(&s, from, to)
	return s
}

// SliceInto is Slice into s, which a former Slice of t returned; it does not
// allocate.
func (t *Table) SliceInto(s *Table, from, to int) {
	s.N = to - from
	for c := range t.Cols {
		s.Cols[c] = t.Cols[c].slice(from, to)
	}
}

func (v *Vector) slice(from, to int) Vector {
	s := Vector{Bytes: v.Bytes}
	if len(v.Valid) > 0 {
		s.Valid = v.Valid[from/64 : (to+63)/64]
	}
	switch {
	case v.Off != nil:
		s.Off = v.Off[from : to+1]
	case v.F64 != nil:
		s.F64 = v.F64[from:to]
	default:
		s.I64 = v.I64[from:to]
	}
	return s
}

// IsNull says whether row k of the column has no value.
func (v *Vector) IsNull(k int) bool {
	return len(v.Valid) > 0 && v.Valid[k>>6]>>(k&63)&1 == 0
}

// Text returns the bytes of row k of a string column.
func (v *Vector) Text(k int) []byte { return v.Bytes[v.Off[k]:v.Off[k+1]] }

// appendInt, appendFloat, appendText and appendNull add a value behind the n
// rows there.
func (v *Vector) appendInt(n int, x int64) {
	v.I64 = append(v.I64, x)
	v.mark(n, true)
}

func (v *Vector) appendFloat(n int, x float64) {
	v.F64 = append(v.F64, x)
	v.mark(n, true)
}

func (v *Vector) appendText(n int, s []byte) error {
	if len(v.Bytes)+len(s) > math.MaxInt32 {
		return ErrTooLarge
	}
	v.Bytes = append(v.Bytes, s...)
	v.Off = append(v.Off, int32(len(v.Bytes)))
	v.mark(n, true)
	return nil
}

func (v *Vector) appendNull(n int) {
	switch {
	case v.Off != nil:
		v.Off = append(v.Off, int32(len(v.Bytes)))
	case v.F64 != nil:
		v.F64 = append(v.F64, 0)
	default:
		v.I64 = append(v.I64, 0)
	}
	v.mark(n, false)
}

// mark sets the bit of row n; there are no bits before the first NULL.
func (v *Vector) mark(n int, valid bool) {
	if v.Valid == nil {
		if valid {
			return
		}
		v.Valid = allOnes(n)
	}
	if n>>6 == len(v.Valid) {
		v.Valid = append(v.Valid, 0)
	}
	if valid {
		v.Valid[n>>6] |= 1 << (n & 63)
	}
}

// allOnes returns a bitmap whose first n bits are set.
func allOnes(n int) []uint64 {
	bits := make([]uint64, n/64+1)
	for i := range n {
		bits[i>>6] |= 1 << (i & 63)
	}
	return bits
}

// appendRow copies row k of from, a table of the same schema, behind t.
func (t *Table) appendRow(from *Table, k int) error {
	for c := range t.Cols {
		if err := t.Cols[c].appendFrom(t.N, &from.Cols[c], k); err != nil {
			return fmt.Errorf("column %d (%s): %w", c+1, t.Schema[c].Name, err)
		}
	}
	t.N++
	return nil
}

func (v *Vector) appendFrom(n int, from *Vector, k int) error {
	switch {
	case from.IsNull(k):
		v.appendNull(n)
	case v.Off != nil:
		return v.appendText(n, from.Text(k))
	case v.F64 != nil:
		v.appendFloat(n, from.F64[k])
	default:
		v.appendInt(n, from.I64[k])
	}
	return nil
}
