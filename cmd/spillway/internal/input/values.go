package input

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parse reads a value that travels as an integer.
func (c *Column) parse(text []byte) (int64, error) {
	info := types[c.Type]
	switch info.kind {
	case kindBit:
		return c.parseBit(text)
	case kindYear:
		return c.parseYear(string(text))
	case kindEnum:
		return c.parseEnum(string(text))
	case kindSet:
		return c.parseSet(string(text))
	case kindDate, kindTime, kindTimestamp:
		return c.parseTemporal(string(text))
	case kindUint:
		x, err := strconv.ParseUint(string(text), 10, info.bits)
		return int64(x), numError(c, text, err)
	}
	x, err := strconv.ParseInt(string(text), 10, info.bits)
	return x, numError(c, text, err)
}

// append appends the text of a value that travels as an integer.
func (c *Column) append(dst []byte, x int64) []byte {
	switch types[c.Type].kind {
	case kindBit:
		return c.appendBit(dst, uint64(x))
	case kindYear:
		return appendPadded(dst, x, 4)
	case kindEnum:
		return c.appendEnum(dst, x)
	case kindSet:
		return c.appendSet(dst, uint64(x))
	case kindDate, kindTime, kindTimestamp:
		return c.appendTemporal(dst, x)
	case kindUint:
		return strconv.AppendUint(dst, uint64(x), 10)
	}
	return strconv.AppendInt(dst, x, 10)
}

func numError(c *Column, text []byte, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s does not fit in %s", text, c)
	}
	return fmt.Errorf("%q is not a number", text)
}

// parseBit reads the bytes of a BIT, the highest first, as servers export it;
// or a literal: b'101' or 0x5.
func (c *Column) parseBit(text []byte) (int64, error) {
	var x uint64
	var err error
	s := string(text)
	switch {
	case strings.HasPrefix(s, "b'") && strings.HasSuffix(s, "'"):
		x, err = strconv.ParseUint(s[2:len(s)-1], 2, 64)
	case strings.HasPrefix(s, "0x"):
		x, err = strconv.ParseUint(s[2:], 16, 64)
	case len(s) > (c.Length+7)/8:
		return 0, fmt.Errorf("%q is no %s: neither its bytes nor a literal as b'101' or 0x5", s, c)
	default:
		for _, b := range text {
			x = x<<8 | uint64(b)
		}
	}
	if err != nil || c.Length < 64 && x>>c.Length > 0 {
		return 0, fmt.Errorf("%q does not fit in %s (write b'101', 0x5, or the bytes)", s, c)
	}
	return int64(x), nil
}

func (c *Column) appendBit(dst []byte, x uint64) []byte {
	for shift := (c.Length+7)/8*8 - 8; shift >= 0; shift -= 8 {
		dst = append(dst, byte(x>>shift))
	}
	return dst
}

func (c *Column) parseYear(s string) (int64, error) {
	x, ok := decimal(s, 4)
	if !ok || len(s) != 4 || x != 0 && (x < 1901 || x > 2155) {
		return 0, fmt.Errorf("%q is no year: 1901 to 2155, or 0000", s)
	}
	return x, nil
}

// parseEnum reads a member; the empty text is MySQL's mark of a wrong value.
func (c *Column) parseEnum(s string) (int64, error) {
	x, ok := c.member(s)
	if !ok && s != "" {
		return 0, fmt.Errorf("%q is no member of %s", s, c)
	}
	return x, nil
}

// member finds the number of a member, from 1.
func (c *Column) member(s string) (int64, bool) {
	for i, m := range c.Members {
		if m == s {
			return int64(i + 1), true
		}
	}
	return 0, false
}

func (c *Column) appendEnum(dst []byte, x int64) []byte {
	if x == 0 {
		return dst
	}
	return append(dst, c.Members[x-1]...)
}

func (c *Column) parseSet(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	var bits int64
	for _, m := range strings.Split(s, ",") {
		i, ok := c.member(m)
		if !ok {
			return 0, fmt.Errorf("%q is no member of %s", m, c)
		}
		bits |= 1 << (i - 1)
	}
	return bits, nil
}

func (c *Column) appendSet(dst []byte, bits uint64) []byte {
	comma := false
	for i, m := range c.Members {
		if bits>>i&1 == 0 {
			continue
		}
		if comma {
			dst = append(dst, ',')
		}
		dst, comma = append(dst, m...), true
	}
	return dst
}

// parseFloat reads a number as it is stored.
func (c *Column) parseFloat(text []byte) (float64, error) {
	if strings.Trim(string(text), "+-.0123456789eE") != "" {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	x, err := strconv.ParseFloat(string(text), types[c.Type].bits)
	return x, numError(c, text, err)
}

// appendFloat appends the shortest text that reads back as x, in the manner of
// MySQL.
func (c *Column) appendFloat(dst []byte, x float64) []byte {
	bits := types[c.Type].bits
	if a := math.Abs(x); a == 0 || a >= 1e-15 && a < 1e15 {
		return strconv.AppendFloat(dst, x, 'f', -1, bits)
	}
	mantissa, exp, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, bits), "e")
	n, _ := strconv.Atoi(exp)
	return strconv.AppendInt(append(append(dst, mantissa...), 'e'), int64(n), 10)
}
