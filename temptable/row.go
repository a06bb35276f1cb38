package temptable

import (
	"encoding/binary"
	"math"
	"time"
)

// The header of a row and of each piece of one: see docs/design.md, section 3.
const (
	headerLen = 2
	minRowLen = 16
	// maxPiece is the longest contiguous stored row; a longer encoding is wide
	// and stored in pieces.
	maxPiece = 4096

	lenMask       = 1<<10 - 1 // in units of 8 bytes
	flagDeleted   = 1 << 10
	flagForwarded = 1 << 11 // the bytes hold the id of the row's new place
	flagMoved     = 1 << 12 // a forwarding target: scans skip it
	flagChained   = 1 << 13 // the encoding goes on in another piece
	flagPiece     = 1 << 14 // such a piece: scans skip it
	flagLarge     = 1 << 15 // some values are references: see large.go
)

// header reads the header of a row or piece.
func header(row []byte) uint16 { return binary.LittleEndian.Uint16(row) }

// setHeader writes it.
func setHeader(row []byte, h uint16) { binary.LittleEndian.PutUint16(row, h) }

// rowLen is the stored length in bytes that h tells; 0 ends a page, and stands
// in the contiguous encoding of a wide row.
func rowLen(h uint16) int { return int(h&lenMask) * 8 }

// makeHeader is the header of n stored bytes, a multiple of 8 up to maxPiece.
func makeHeader(n int, flags uint16) uint16 { return uint16(n/8) | flags }

// align8 rounds up to a multiple of 8.
func align8(n int) int { return (n + 7) &^ 7 }

// Row is a row that a cursor has read. It is a small value over the cursor's
// buffer: it, and the byte slices that it gives, are valid until the next use
// of that cursor. A getter of NULL gives the zero value, and so does a getter
// that does not fit the column's type.
type Row struct {
	s *Schema
	// buf is the whole encoding, contiguous also where the row is stored in
	// pieces.
	buf []byte
}

// NumCols returns the number of columns.
func (r Row) NumCols() int { return len(r.s.cols) }

// IsNull reports whether column i is NULL.
func (r Row) IsNull(i int) bool { return r.s.cols[i].isNull(r.buf) }

// Int returns an integer, a YEAR, an ENUM's number, or a temporal value in the
// integer form that [Type] describes.
func (r Row) Int(i int) int64 {
	c := &r.s.cols[i]
	if c.kind == kindInt {
		return c.loadSigned(r.buf)
	}
	return c.intValue(r.buf)
}

// Uint returns what Int does, as the 64 bits of an unsigned integer, a BIT or
// a SET.
func (r Row) Uint(i int) uint64 {
	c := &r.s.cols[i]
	if c.kind == kindUint {
		return c.loadUnsigned(r.buf)
	}
	return uint64(c.intValue(r.buf))
}

// Time returns a TIME.
func (r Row) Time(i int) time.Duration {
	c := &r.s.cols[i]
	if c.kind != kindTime {
		return 0
	}
	return time.Duration(c.loadSigned(r.buf)*unitFSP[c.fsp&7]) * time.Microsecond
}

// Float returns a FLOAT or DOUBLE.
func (r Row) Float(i int) float64 {
	c := &r.s.cols[i]
	if !c.kind.float() {
		return 0
	}
	return c.loadedFloat(int64(c.loadUnsigned(r.buf)))
}

// Bytes returns a variable value, valid until the next use of the cursor; it
// must not be written to.
func (r Row) Bytes(i int) []byte {
	c := &r.s.cols[i]
	if c.width != 0 {
		return nil
	}
	return c.bytes(r.s, r.buf)
}

// String returns a copy of a variable value.
func (r Row) String(i int) string { return string(r.Bytes(i)) }

func (c *column) isNull(row []byte) bool { return row[c.nullOff]&c.nullMask != 0 }

func (c *column) loadSigned(row []byte) int64 {
	return int64(binary.LittleEndian.Uint64(row[c.load:])<<(c.lsh&63)) >> (c.rsh & 63)
}

func (c *column) loadUnsigned(row []byte) uint64 {
	return binary.LittleEndian.Uint64(row[c.load:]) << (c.lsh & 63) >> (c.rsh & 63)
}

// fixed is the stored integer of a fixed value of up to 8 bytes.
func (c *column) fixed(row []byte) int64 {
	if c.kind == kindInt || c.kind == kindTime {
		return c.loadSigned(row)
	}
	return int64(c.loadUnsigned(row))
}

func (c *column) intValue(row []byte) int64 {
	if c.kind >= kindFloat {
		return 0
	}
	return c.loaded(c.fixed(row))
}

// bytes is a variable value. The first one starts where the end offsets end.
func (c *column) bytes(s *Schema, row []byte) []byte {
	if header(row)&flagChained != 0 {
		return c.wideBytes(s, row)
	}
	from, to := int(c.base), int(c.base)+int(binary.LittleEndian.Uint16(row[c.off:]))
	if c.varIndex > 0 {
		from += int(binary.LittleEndian.Uint16(row[c.off-2:]))
	}
	return row[from:to:to]
}

// wideBytes is bytes where the end offsets have 4 bytes.
func (c *column) wideBytes(s *Schema, row []byte) []byte {
	v, large := c.wideSpan(s, row)
	if large {
		return nil
	}
	return v
}

// wideSpan is what a wide row has of a value, and whether that is a reference.
func (c *column) wideSpan(s *Schema, row []byte) (v []byte, large bool) {
	mask := endMask(row)
	from, at := s.wideBase(), s.endsOff+4*int(c.varIndex)
	end := binary.LittleEndian.Uint32(row[at:])
	to := from + int(end&mask)
	if c.varIndex > 0 {
		from += int(binary.LittleEndian.Uint32(row[at-4:]) & mask)
	}
	return row[from:to:to], end&^mask != 0
}

// endMask has the bits of a 4-byte end offset that are the offset.
func endMask(row []byte) uint32 {
	if header(row)&flagLarge != 0 {
		return endLarge - 1
	}
	return math.MaxUint32
}

// wideBase is where the variable bytes of a wide row start.
func (s *Schema) wideBase() int { return s.endsOff + 4*s.numVar }

// dataEnd is where the values of a row end: what follows are zeros, as many as
// its place has room for.
func (s *Schema) dataEnd(row []byte) int {
	switch base := len(s.template); {
	case s.numVar == 0:
		return base
	case header(row)&flagChained != 0:
		base = s.wideBase()
		return base + int(binary.LittleEndian.Uint32(row[base-4:])&endMask(row))
	default:
		return base + int(binary.LittleEndian.Uint16(row[base-2:]))
	}
}
