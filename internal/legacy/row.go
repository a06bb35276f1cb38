package legacy

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
)

// A row chunk: its length (8 bytes), a cell of 16 bytes a column, the data.
// A cell: NULL flag (4), data length (4), offset of the data in the row (8; the
// old engine had a pointer there).
const (
	rowHeader = 8
	cellSize  = 16
)

var le = binary.LittleEndian

// rowSize is the number of bytes of row k of b, rounded to 8.
func rowSize(cols []Column, b *Batch, k int) int {
	n := rowHeader + cellSize*len(cols)
	for c := range cols {
		n += cellLen(&cols[c], &b.Cols[c], k)
	}
	return roundUp(n)
}

func cellLen(c *Column, v *Vector, k int) int {
	switch {
	case v.null(k):
		return 0
	case c.Width > 0:
		return c.Width
	}
	return int(v.Off[k+1] - v.Off[k])
}

// encodeRow writes row k of b to row, which has its size.
func encodeRow(row []byte, cols []Column, b *Batch, k int) {
	le.PutUint64(row, uint64(len(row)))
	at := rowHeader + cellSize*len(cols)
	for c := range cols {
		v := &b.Cols[c]
		n := cellLen(&cols[c], v, k)
		putCell(row[rowHeader+cellSize*c:], v.null(k), n, at)
		if n > 0 {
			putValue(row[at:at+n], &cols[c], v, k)
		}
		at += n
	}
}

func putCell(cell []byte, null bool, n, at int) {
	flag := uint32(0)
	if null {
		flag = 1
	}
	le.PutUint32(cell, flag)
	le.PutUint32(cell[4:], uint32(n))
	le.PutUint64(cell[8:], uint64(at))
}

func putValue(dst []byte, c *Column, v *Vector, k int) {
	if c.Width == 0 {
		copy(dst, v.bytes(k))
		return
	}
	x := uint64(0)
	if c.Float {
		x = c.floatBits(v.F64[k])
	} else {
		x = uint64(c.steps(v.I64[k]))
	}
	for i := range dst {
		dst[i] = byte(x >> (8 * i))
	}
}

// floatBits are the bits of x in the column's width.
func (c *Column) floatBits(x float64) uint64 {
	if c.Width == 4 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

func (c *Column) float(bits uint64) float64 {
	if c.Width == 4 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// rowCell returns the data of column c of row.
func rowCell(row []byte, c int) (data []byte, null bool) {
	cell := row[rowHeader+cellSize*c:]
	n, at := int(le.Uint32(cell[4:])), int(le.Uint64(cell[8:]))
	return row[at : at+n], le.Uint32(cell) == 1
}

// keyed returns what the cell is compared by, in *scratch where that is not its
// bytes.
func (c *Column) keyed(cell []byte, scratch *[]byte) []byte {
	switch {
	case c.Key != nil:
		*scratch = c.Key((*scratch)[:0], cell)
		return *scratch
	case c.Float && c.float(load(cell)) == 0:
		return nil // 0 and -0
	}
	return cell
}

// comparer compares rows cell by cell; NULL equals NULL.
type comparer struct {
	cols []Column
	seed maphash.Seed
	a, b []byte // scratch
}

// hash combines the hashes of the cells.
func (m *comparer) hash(row []byte) uint64 {
	h := uint64(len(m.cols))
	for c := range m.cols {
		data, null := rowCell(row, c)
		if null {
			h = h*31 + 1
			continue
		}
		h = h*31 + maphash.Bytes(m.seed, m.cols[c].keyed(data, &m.a))
	}
	return h
}

func (m *comparer) equal(a, b []byte) bool {
	for c := range m.cols {
		x, xnull := rowCell(a, c)
		y, ynull := rowCell(b, c)
		col := &m.cols[c]
		if xnull != ynull || !xnull && !bytes.Equal(col.keyed(x, &m.a), col.keyed(y, &m.b)) {
			return false
		}
	}
	return true
}

// appendRow decodes row as row k of b.
func appendRow(b *Batch, cols []Column, row []byte, k int) {
	for c := range cols {
		data, null := rowCell(row, c)
		v := &b.Cols[c]
		v.setValid(k, !null)
		switch {
		case cols[c].Float:
			v.F64 = append(v.F64, cols[c].float(load(data)))
		case cols[c].Width > 0:
			v.I64 = append(v.I64, cols[c].integer(cols[c].extend(data)))
		default:
			v.Bytes = append(v.Bytes, data...)
			v.Off = append(v.Off, int32(len(v.Bytes)))
		}
	}
}

// load reads a little-endian number of up to 8 bytes; none is 0.
func load(data []byte) (x uint64) {
	for i, b := range data {
		x |= uint64(b) << (8 * i)
	}
	return x
}

// extend reads an integer with its sign.
func (c *Column) extend(data []byte) int64 {
	x := load(data)
	if c.Unsigned || len(data) == 0 {
		return int64(x)
	}
	shift := 64 - 8*len(data)
	return int64(x<<shift) >> shift
}
