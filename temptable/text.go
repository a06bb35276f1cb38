package temptable

import (
	"math"
	"strconv"
)

// AppendText appends the text of column i, as MySQL shows it: nothing for NULL,
// BIT as its bytes, ENUM and SET as their number, TIMESTAMP in UTC. It does not
// allocate if dst has room.
func (r Row) AppendText(dst []byte, i int) []byte {
	c := &r.s.cols[i]
	switch {
	case c.isNull(r.buf):
		return dst
	case c.width == 0:
		return append(dst, c.bytes(r.s, r.buf)...)
	case c.kind == kindDecimal:
		return c.appendDecimal(dst, r.buf[c.off:])
	case c.kind.float():
		return c.appendFloat(dst, r.Float(i))
	case r.s.public[i].Type == TypeBit:
		return appendBig(dst, c.loadUnsigned(r.buf), c.width)
	}
	return c.appendInteger(dst, c.intValue(r.buf))
}

func (c *column) appendInteger(dst []byte, v int64) []byte {
	switch c.kind {
	case kindInt:
		return strconv.AppendInt(dst, v, 10)
	case kindYear:
		return appendPadded(dst, int(v), 4)
	case kindTime:
		return appendTime(dst, v, int(c.fsp))
	case kindTimestamp:
		return appendDatetime(dst, civil(v), int(c.fsp))
	case kindDate:
		return appendDatetime(dst, v, -1)
	case kindDatetime:
		return appendDatetime(dst, v, int(c.fsp))
	}
	return strconv.AppendUint(dst, uint64(v), 10)
}

// appendFloat writes the shortest text that reads back the same, with an
// exponent from 10^15 up and below 10^-15, as MySQL does.
func (c *column) appendFloat(dst []byte, v float64) []byte {
	size := 8 * int(c.width)
	if a := math.Abs(v); a == 0 || a >= 1e-15 && a < 1e15 {
		return strconv.AppendFloat(dst, v, 'f', -1, size)
	}
	start := len(dst)
	return trimExponent(strconv.AppendFloat(dst, v, 'e', -1, size), start)
}

// trimExponent turns e+20 into e20 and e-09 into e-9.
func trimExponent(b []byte, start int) []byte {
	for i := start; i < len(b); i++ {
		if b[i] != 'e' {
			continue
		}
		exp := b[i+2:]
		if exp[0] == '0' {
			exp = exp[1:]
		}
		n := i + 1
		if b[n] == '-' {
			n++
		}
		return append(b[:n], exp...)
	}
	return b
}

func appendPadded(dst []byte, v, width int) []byte {
	for p := 10; width > 1; width, p = width-1, p*10 {
		if v < p {
			for range width - 1 {
				dst = append(dst, '0')
			}
			break
		}
	}
	return strconv.AppendInt(dst, int64(v), 10)
}

// appendTime writes [-]HH:MM:SS[.ffffff] of so many microseconds.
func appendTime(dst []byte, v int64, fsp int) []byte {
	if v < 0 {
		dst, v = append(dst, '-'), -v
	}
	s := int(v / 1e6)
	return appendClock(dst, s/3600, s/60%60, s%60, int(v%1e6), fsp)
}

func appendClock(dst []byte, hour, minute, second, micro, fsp int) []byte {
	dst = append(appendPadded(dst, hour, 2), ':')
	dst = append(appendPadded(dst, minute, 2), ':')
	dst = appendPadded(dst, second, 2)
	if fsp == 0 {
		return dst
	}
	return appendPadded(append(dst, '.'), micro/int(unitFSP[fsp]), fsp)
}

// appendDatetime writes a packed date, and the time unless fsp is negative.
func appendDatetime(dst []byte, v int64, fsp int) []byte {
	year, month, day, hour, minute, second, micro := UnpackDatetime(v)
	dst = append(appendPadded(dst, year, 4), '-')
	dst = append(appendPadded(dst, month, 2), '-')
	dst = appendPadded(dst, day, 2)
	if fsp < 0 {
		return dst
	}
	return appendClock(append(dst, ' '), hour, minute, second, micro, fsp)
}
