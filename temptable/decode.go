package temptable

import (
	"encoding/binary"
	"math"
	"slices"
)

// decodeRows appends encoded rows, those between the offsets, to dst, which
// grows only where its capacity does not suffice. It returns how many it
// appended: all, unless a vector's bytes would pass 2 GiB.
func (s *Schema) decodeRows(dst *Batch, rows []byte, offs []int32) int {
	for len(dst.Cols) < len(s.cols) {
		dst.Cols = append(dst.Cols, Vector{})
	}
	dst.Sel = nil
	offs = s.cutToLimit(dst, rows, offs)
	for i := range s.cols {
		s.decodeColumn(&s.cols[i], &dst.Cols[i], dst.N, rows, offs)
	}
	n := max(0, len(offs)-1)
	dst.N += n
	return n
}

// maxDecimalText bounds the text of a DECIMAL: 65 digits, a 0, a point, a sign.
const maxDecimalText = maxDigits + 3

// cutToLimit drops the rows whose bytes a vector could not address.
func (s *Schema) cutToLimit(dst *Batch, rows []byte, offs []int32) []int32 {
	for i := range s.cols {
		c := &s.cols[i]
		room := math.MaxInt32 - len(dst.Cols[i].Bytes)
		if c.textual() && len(rows)+maxDecimalText*len(offs) > room {
			offs = c.cutToRoom(s, rows, offs, room)
		}
	}
	return offs
}

func (c *column) cutToRoom(s *Schema, rows []byte, offs []int32, room int) []int32 {
	for i := 1; i < len(offs); i++ {
		n := maxDecimalText
		if c.width == 0 {
			n = len(c.bytes(s, rows[offs[i-1]:offs[i]]))
		}
		if room -= n; room < 0 {
			return offs[:i]
		}
	}
	return offs
}

// textual reports whether values travel as bytes.
func (c *column) textual() bool { return c.width == 0 || c.kind == kindDecimal }

func (s *Schema) decodeColumn(c *column, v *Vector, n int, rows []byte, offs []int32) {
	c.decodeNulls(v, n, rows, offs)
	offs = offs[:max(0, len(offs)-1)]
	switch {
	case c.width == 0:
		c.decodeBytes(s, v, rows, offs)
	case c.kind == kindDecimal:
		c.decodeDecimals(v, rows, offs)
	case c.kind.float():
		c.decodeFloats(v, rows, offs)
	default:
		c.decodeInts(v, rows, offs)
	}
}

func (c *column) decodeInts(v *Vector, rows []byte, offs []int32) {
	var dst []int64
	v.I64, dst = extend(v.I64, len(offs))
	load, lsh, rsh := c.load, c.lsh&63, c.rsh&63
	if c.kind == kindInt {
		for i, off := range offs {
			k := off + load
			dst[i] = int64(binary.LittleEndian.Uint64(rows[k:k+8])<<lsh) >> rsh
		}
		return
	}
	for i, off := range offs {
		dst[i] = c.intValue(rows[off:])
	}
}

func (c *column) decodeFloats(v *Vector, rows []byte, offs []int32) {
	var dst []float64
	v.F64, dst = extend(v.F64, len(offs))
	for i, off := range offs {
		dst[i] = c.loadedFloat(int64(c.loadUnsigned(rows[off:])))
	}
}

// extend makes s n entries longer, and returns those too.
func extend[T any](s []T, n int) (all, added []T) {
	all = slices.Grow(s, n)[:len(s)+n]
	return all, all[len(s):]
}

// decodeNulls appends a validity bit for each row to those of n places.
func (c *column) decodeNulls(v *Vector, n int, rows []byte, offs []int32) {
	if c.nullMask == 0 {
		v.Valid = nil
		return
	}
	for i := 1; i < len(offs); i++ {
		p := n + i - 1
		if p&63 == 0 {
			v.Valid = append(v.Valid, 0)
		}
		if !c.isNull(rows[offs[i-1]:]) {
			v.Valid[p>>6] |= 1 << (p & 63)
		}
	}
}

func (c *column) decodeBytes(s *Schema, v *Vector, rows []byte, offs []int32) {
	text, ends := v.Bytes, v.ends(len(offs))
	for i, off := range offs {
		text = append(text, c.bytes(s, rows[off:])...)
		ends[i] = int32(len(text))
	}
	v.Bytes = text
}

func (c *column) decodeDecimals(v *Vector, rows []byte, offs []int32) {
	text, ends := v.Bytes, v.ends(len(offs))
	for i, off := range offs {
		if row := rows[off:]; !c.isNull(row) {
			text = c.appendDecimal(text, row[c.off:])
		}
		ends[i] = int32(len(text))
	}
	v.Bytes = text
}

// ends appends n offsets, to be filled, and returns them.
func (v *Vector) ends(n int) []int32 {
	if len(v.Off) == 0 {
		v.Off = append(v.Off, 0)
	}
	var added []int32
	v.Off, added = extend(v.Off, n)
	return added
}

// validate reports whether row is the one encoding of some values: the getters
// are safe on what passes, and writing the values again gives the same bytes.
func (s *Schema) validate(row []byte) error {
	if len(row) < minRowLen || len(row)%8 != 0 {
		return corrupt("%d bytes", len(row))
	}
	end, err := s.validateFrame(row)
	if err != nil {
		return err
	}
	if len(row) != align8(max(end, minRowLen)) || !allZero(row[end:]) {
		return corrupt("%d bytes with values up to %d", len(row), end)
	}
	if err := s.validateBitmap(row); err != nil {
		return err
	}
	for i := range s.cols {
		if !s.cols[i].validValue(s, row) {
			return corrupt("column %d (%s)", i, s.public[i].Name)
		}
	}
	return nil
}

// validateFrame checks the header and the end offsets, and returns where the
// values end.
func (s *Schema) validateFrame(row []byte) (int, error) {
	h := header(row)
	wide := h == flagChained
	base, width := len(s.template), 2
	if wide {
		base, width = s.wideBase(), 4
	}
	if !wide && h != makeHeader(len(row), 0) || base > len(row) {
		return 0, corrupt("header %#04x of %d bytes", h, len(row))
	}
	end := 0
	for at := s.endsOff; at < base; at += width {
		next := int(binary.LittleEndian.Uint16(row[at:]))
		if wide {
			next = int(binary.LittleEndian.Uint32(row[at:]))
		}
		if next < end || next > len(row)-base {
			return 0, corrupt("a value ends at %d, the one before at %d", next, end)
		}
		end = next
	}
	if narrow := align8(max(len(s.template)+end, minRowLen)); wide != (narrow > maxPiece) {
		return 0, corrupt("wide is %t with %d bytes", wide, narrow)
	}
	return base + end, nil
}

// validateBitmap refuses bits that no column has.
func (s *Schema) validateBitmap(row []byte) error {
	for i := headerLen; i < headerLen+s.bitmapLen; i++ {
		if row[i]&^s.template[i] != 0 {
			return corrupt("null bitmap")
		}
	}
	return nil
}

// validValue checks one value against its column.
func (c *column) validValue(s *Schema, row []byte) bool {
	null := c.isNull(row)
	switch {
	case c.width == 0:
		v := c.bytes(s, row)
		keep, ok := c.fit(v)
		return null && len(v) == 0 || !null && ok && keep == len(v)
	case null:
		return allZero(row[c.off : c.off+int32(c.width)])
	case c.kind == kindDecimal:
		return c.validDecimal(row[c.off:])
	case c.kind.float():
		v := c.fixed(row)
		q, ok := c.storedFloat(c.loadedFloat(v)) // false for a signalling NaN
		return ok && q == v
	}
	v := c.fixed(row)
	q, ok := c.stored(c.loaded(v))
	return ok && q == v
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
