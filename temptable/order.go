package temptable

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// KeyPart is one column of an ordered key.
type KeyPart struct {
	Col int
	// Desc turns the order around, but not the place of NULLs.
	Desc bool
	// NullsLast puts NULLs behind all values; otherwise they are before them.
	NullsLast bool
}

// keyOrder makes canonical keys: bytes.Compare of two keys is the order of the
// rows, and equal keys are equal rows. It is the one definition of equality,
// hash and order; where bytes of the row compare alike, those are used instead.
//
//	NULL, or that there is a value    1 byte, unless the column is NOT NULL
//	integers, times, years            big-endian, sign turned
//	FLOAT, DOUBLE                     IEEE bits turned so that they compare as
//	                                  integers; -0 is 0, all NaNs are one, above
//	                                  +Inf
//	DECIMAL                           as stored
//	strings                           the collation's key, or the bytes; 00 is
//	                                  escaped as 00 FF, 00 01 ends. Nothing is
//	                                  escaped, and nothing ends, at the end of an
//	                                  ascending key
//
// A part in descending order has all bits of its value turned.
type keyOrder struct {
	s     *Schema
	parts []KeyPart
}

// newKeyOrder checks the parts.
func newKeyOrder(s *Schema, parts []KeyPart) (*keyOrder, error) {
	for _, p := range parts {
		if p.Col < 0 || p.Col >= len(s.cols) {
			return nil, fmt.Errorf("%w: %d in a key", ErrColumn, p.Col)
		}
	}
	return &keyOrder{s, parts}, nil
}

// wholeKey is the ascending key of the columns that the schema is distinct by.
func (s *Schema) wholeKey() *keyOrder {
	parts := make([]KeyPart, len(s.key.parts))
	for i := range parts {
		parts[i].Col = int(s.key.parts[i].col.index)
	}
	return &keyOrder{s, parts}
}

// appendKey appends the key of an encoded row. On an error, which is a
// collation's, dst comes back with bytes behind its length undefined.
func (o *keyOrder) appendKey(dst, row []byte) ([]byte, error) {
	return o.appendParts(dst, row, len(o.parts))
}

// key is appendKey into scratch, whose bytes are lost, or no copy at all where
// the key is in the row as it is: for one binary NOT NULL string, ascending. The
// key lives as long as both; grown is the scratch for the next call.
func (o *keyOrder) key(row, scratch []byte) (key, grown []byte, err error) {
	if len(o.parts) == 1 && !o.parts[0].Desc {
		if c := &o.s.cols[o.parts[0].Col]; c.width == 0 && c.coll == nil && c.nullMask == 0 {
			return c.bytes(o.s, row), scratch, nil
		}
	}
	key, err = o.appendKey(scratch[:0], row)
	return key, key, err
}

// appendPrefix appends the key of the first k parts, which the keys of all rows
// that agree in them start with. k is less than the number of parts.
func (o *keyOrder) appendPrefix(dst, row []byte, k int) ([]byte, error) {
	return o.appendParts(dst, row, k)
}

func (o *keyOrder) appendParts(dst, row []byte, k int) ([]byte, error) {
	var err error
	for i, p := range o.parts[:k] {
		open := i == len(o.parts)-1 && !p.Desc
		if dst, err = o.s.cols[p.Col].appendKey(dst, o.s, row, p, open); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendKey appends one part; an open one is not terminated.
func (c *column) appendKey(dst []byte, s *Schema, row []byte, p KeyPart, open bool) ([]byte, error) {
	null := c.isNull(row)
	if c.nullMask != 0 {
		dst = append(dst, nullByte(null, p.NullsLast))
	}
	if null {
		return dst, nil
	}
	start := len(dst)
	dst, err := c.appendValueKey(dst, s, row, open)
	if p.Desc {
		turn(dst[start:])
	}
	return dst, err
}

func nullByte(null, last bool) byte {
	switch {
	case !null:
		return 1
	case last:
		return 2
	}
	return 0
}

func turn(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

func (c *column) appendValueKey(dst []byte, s *Schema, row []byte, open bool) ([]byte, error) {
	switch {
	case c.kind == kindDecimal:
		return append(dst, row[c.off:c.off+int32(c.width)]...), nil
	case c.width != 0:
		return appendBig(dst, c.orderBits(row), c.width), nil
	}
	if _, ok := c.large(s, row); ok {
		return dst, c.noKey(s)
	}
	start := len(dst)
	dst, err := c.appendStringKey(dst, c.bytes(s, row))
	if err != nil || open {
		return dst, err
	}
	return append(escapeZeros(dst, start), 0, 1), nil
}

func (c *column) appendStringKey(dst, v []byte) ([]byte, error) {
	if c.coll == nil {
		return append(dst, v...), nil
	}
	return c.coll.AppendKey(dst, v)
}

// escapeZeros makes every 00 from start on 00 FF.
func escapeZeros(b []byte, start int) []byte {
	zeros := bytes.Count(b[start:], []byte{0})
	if zeros == 0 {
		return b
	}
	from := len(b) - 1
	for range zeros {
		b = append(b, 0xFF)
	}
	for to := len(b) - 1; to > from; from, to = from-1, to-1 {
		b[to] = b[from]
		if b[from] == 0 {
			b[to] = 0xFF
			to--
			b[to] = 0
		}
	}
	return b
}

// orderBits is a fixed value as an unsigned integer of the same order, in the
// low bytes.
func (c *column) orderBits(row []byte) uint64 {
	switch c.kind {
	case kindInt, kindTime:
		return c.loadUnsigned(row) ^ 1<<(8*c.width-1)
	case kindFloat:
		b := uint64(math.Float32bits(float32(c.canonicalFloat(row))))
		return turnNegative(b, 1<<31) & math.MaxUint32
	case kindDouble:
		return turnNegative(math.Float64bits(c.canonicalFloat(row)), 1<<63)
	}
	return c.loadUnsigned(row)
}

// turnNegative makes IEEE bits compare as integers: of negative numbers all bits
// are turned, of others the sign.
func turnNegative(b, sign uint64) uint64 {
	if b&sign != 0 {
		return ^b
	}
	return b | sign
}

// canonicalFloat is the one value that stands for all that are equal: 0 for both
// zeros, one NaN.
func (c *column) canonicalFloat(row []byte) float64 {
	f := c.loadedFloat(int64(c.loadUnsigned(row)))
	if f != f {
		return math.NaN()
	}
	return f + 0
}

// appendBig appends the low width bytes of v, big-endian.
func appendBig(dst []byte, v uint64, width uint8) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], v)
	return append(dst, b[8-width:]...)
}
