package temptable

import "math"

// column is where and how the codec stores one column: 64 bytes, one cache
// line. Fixed values are read by one 8-byte load that ends with the value (or
// begins with the row, where there are fewer than 8 bytes before), and two
// shifts.
type column struct {
	kind     kind
	width    uint8 // of a fixed value; 0: variable
	fsp      uint8
	nullMask byte  // 0: NOT NULL
	lsh, rsh uint8 // of the load: left first, then right
	digits   uint8 // of a decimal
	scale    uint8

	index    int32 // in the schema
	nullOff  int32 // of the byte in the row that nullMask is about
	off      int32 // of a fixed value; for a variable one the offset of its 2-byte end
	load     int32 // where the 8-byte load starts
	varIndex int32 // among the variable columns
	base     int32 // where the variable bytes start, behind 2-byte ends
	length   int32 // the bound of a string; MaxValueLen where there is none

	min, max int64 // of kindInt; kindUint reads max as unsigned
	coll     *collated
}

// layout places the columns: header, null bitmap, fixed values, end offsets.
func (s *Schema) layout() {
	s.cols = make([]column, len(s.public))
	s.missing = make([]uint64, (len(s.cols)+63)/64)
	nullable := 0
	for i := range s.cols {
		c := &s.cols[i]
		*c = describe(s.public[i])
		c.index = int32(i)
		if s.public[i].NotNull {
			s.missing[i/64] |= 1 << (i % 64)
			continue
		}
		c.nullOff, c.nullMask = int32(headerLen+nullable/8), 1<<(nullable%8)
		nullable++
	}
	s.bitmapLen = (nullable + 7) / 8
	s.placeFixed(headerLen + s.bitmapLen)
	s.placeVariable()
	s.template = make([]byte, s.endsOff+2*s.numVar)
	for i := range s.cols {
		c := &s.cols[i]
		if c.nullMask != 0 {
			s.template[c.nullOff] |= c.nullMask
		}
	}
}

func (s *Schema) placeFixed(off int) {
	for i := range s.cols {
		c := &s.cols[i]
		if c.width == 0 {
			continue
		}
		c.off = int32(off)
		off += int(c.width)
		c.load = int32(max(0, off-8))
		c.lsh = uint8(8 * (int(c.load) + 8 - off))
		c.rsh = 64 - 8*min(8, c.width)
	}
	s.endsOff = off
}

func (s *Schema) placeVariable() {
	for i := range s.cols {
		c := &s.cols[i]
		if c.width != 0 {
			continue
		}
		c.varIndex = int32(s.numVar)
		c.off = int32(s.endsOff + 2*s.numVar)
		s.numVar++
	}
	for i := range s.cols {
		s.cols[i].base = int32(s.endsOff + 2*s.numVar)
	}
}

func describe(p Column) column {
	t := types[p.Type]
	c := column{kind: t.kind, width: t.width, fsp: uint8(p.FSP), length: MaxValueLen}
	switch t.kind {
	case kindInt:
		c.max = math.MaxInt64 >> (64 - 8*t.width)
		c.min = -c.max - 1
	case kindUint:
		describeUint(&c, p)
	case kindTime:
		c.width = 3 + fractionWidth(p.FSP)
	case kindTimestamp:
		c.width = 4 + fractionWidth(p.FSP)
	case kindDatetime:
		c.width = 5 + fractionWidth(p.FSP)
	case kindDecimal:
		c.width, c.digits, c.scale = decimalWidth(p.Length), uint8(p.Length), uint8(p.Scale)
	}
	if t.kind.variable() {
		describeVariable(&c, p)
	}
	return c
}

// fractionWidth is the number of bytes MySQL gives to fsp digits of a second.
func fractionWidth(fsp int) uint8 { return uint8(fsp+1) / 2 }

// describeUint sets the largest value and, where Length decides it, the width.
func describeUint(c *column, p Column) {
	bits := 8 * int(c.width)
	switch p.Type {
	case TypeBit:
		bits = p.Length
		c.width = uint8(bits+7) / 8
	case TypeSet:
		bits = p.Length
		c.width = setWidth(bits)
	case TypeEnum:
		c.width = 1
		if p.Length > 255 {
			c.width = 2
		}
		c.max = int64(p.Length)
		return
	}
	c.max = int64(uint64(math.MaxUint64) >> (64 - bits))
}

// setWidth is the width of a SET of n members: 1, 2, 3, 4 or 8 bytes.
func setWidth(n int) uint8 {
	w := uint8(n+7) / 8
	if w > 4 {
		return 8
	}
	return w
}

func describeVariable(c *column, p Column) {
	if p.Length > 0 {
		c.length = int32(p.Length)
	}
	c.coll = newCollated(p.Collation)
	if p.Type == TypeJSON {
		c.coll = newCollated(jsonCollation{})
	}
}
