package legacy

// Column says how the old engine stored a column's values.
type Column struct {
	// Width is the number of bytes of an integer, 1 to 8; 0 for a string.
	Width int
	// Unit is what one step of the stored integer is worth in Vector.I64:
	// 1,000,000 for a TIME without fraction given in microseconds; 0 means 1.
	Unit int64
	// Unsigned integers have no sign bit.
	Unsigned bool
	// Packed integers have microseconds in their low 24 bits and whole seconds,
	// in whatever form, above; Unit is in microseconds of all of it.
	Packed bool
	// Float columns have IEEE 754 numbers, of Width bytes, in Vector.F64.
	Float bool
	// Key, if set, appends what a string is compared by.
	Key func(dst, value []byte) []byte
}

const microBits = 24 // of a packed integer

// steps turns an integer into steps of the column's unit, integer undoes it.
func (c *Column) steps(x int64) int64 {
	if c.Packed {
		x = x>>microBits*1e6 + x&(1<<microBits-1)
	}
	return x / c.unit()
}

func (c *Column) integer(steps int64) int64 {
	x := steps * c.unit()
	if c.Packed {
		return x/1e6<<microBits | x%1e6
	}
	return x
}

func (c Column) unit() int64 { return max(c.Unit, 1) }

// Batch is N rows of typed values, a vector a column.
type Batch struct {
	N    int
	Cols []Vector
}

// Vector is a column's values: I64 for integers, F64 for floats; for strings the bytes
// Bytes[Off[k]:Off[k+1]] of row k. A clear bit of Valid is a NULL; nil means
// that there are none.
type Vector struct {
	Valid []uint64
	I64   []int64
	F64   []float64
	Off   []int32
	Bytes []byte
}

func (v *Vector) null(k int) bool {
	return v.Valid != nil && v.Valid[k>>6]>>(k&63)&1 == 0
}

func (v *Vector) bytes(k int) []byte { return v.Bytes[v.Off[k]:v.Off[k+1]] }

// reset empties v and keeps its memory.
func (v *Vector) reset(str bool) {
	v.Valid, v.I64, v.F64, v.Off, v.Bytes = v.Valid[:0], v.I64[:0], v.F64[:0], v.Off[:0], v.Bytes[:0]
	if str {
		v.Off = append(v.Off, 0)
	}
}

// setValid appends the bit of row k.
func (v *Vector) setValid(k int, valid bool) {
	if k&63 == 0 {
		v.Valid = append(v.Valid, 0)
	}
	if valid {
		v.Valid[k>>6] |= 1 << (k & 63)
	}
}
