package input

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Type is a column's type.
type Type int

// The types that the tool reads.
const (
	TinyInt Type = iota
	SmallInt
	MediumInt
	Int
	BigInt
	UTinyInt
	USmallInt
	UMediumInt
	UInt
	UBigInt
	Time
	Varchar
)

const (
	maxVarchar = 65535
	// maxTime is 838:59:59.999999 in microseconds.
	maxTime = ((838*60+59)*60+60)*1e6 - 1
)

// Width is the number of bytes in which a server stores the column; 0 for
// strings.
func (c Column) Width() int {
	if c.Type == Time {
		return 3 + (c.FSP+1)/2
	}
	return types[c.Type].bits / 8
}

// kind groups the types whose text is alike.
type kind int

const (
	kindInt kind = iota
	kindUint
	kindTime
	kindString
)

// typeInfo is what the tool knows of a type.
type typeInfo struct {
	name string
	kind kind
	bits int // of integers
}

var types = [...]typeInfo{
	TinyInt:    {"tinyint", kindInt, 8},
	SmallInt:   {"smallint", kindInt, 16},
	MediumInt:  {"mediumint", kindInt, 24},
	Int:        {"int", kindInt, 32},
	BigInt:     {"bigint", kindInt, 64},
	UTinyInt:   {"tinyint", kindUint, 8},
	USmallInt:  {"smallint", kindUint, 16},
	UMediumInt: {"mediumint", kindUint, 24},
	UInt:       {"int", kindUint, 32},
	UBigInt:    {"bigint", kindUint, 64},
	Time:       {"time", kindTime, 0},
	Varchar:    {"varchar", kindString, 0},
}

// typeNames finds a type by its name in a schema.
var typeNames = map[string]Type{
	"tinyint": TinyInt, "smallint": SmallInt, "mediumint": MediumInt, "int": Int, "integer": Int, "bigint": BigInt,
	"tinyint unsigned": UTinyInt, "smallint unsigned": USmallInt, "mediumint unsigned": UMediumInt,
	"int unsigned": UInt, "integer unsigned": UInt, "bigint unsigned": UBigInt,
	"time": Time, "varchar": Varchar,
}

func knownTypes() string {
	return strings.Join(slices.Sorted(maps.Keys(typeNames)), ", ")
}

// parse reads a value that is not a string.
func (c *Column) parse(text []byte) (int64, error) {
	info := types[c.Type]
	switch info.kind {
	case kindTime:
		return parseTime(c, text)
	case kindUint:
		x, err := strconv.ParseUint(string(text), 10, info.bits)
		return int64(x), numError(c, text, err)
	}
	x, err := strconv.ParseInt(string(text), 10, info.bits)
	return x, numError(c, text, err)
}

// append appends the text of a value that is not a string.
func (c *Column) append(dst []byte, x int64) []byte {
	switch types[c.Type].kind {
	case kindTime:
		return appendTime(c, dst, x)
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

// parseTime reads [-]h:mm:ss[.ffffff], at most 838:59:59.999999 either way, as
// microseconds.
func parseTime(c *Column, text []byte) (int64, error) {
	digits := strings.TrimPrefix(string(text), "-")
	x, ok := microseconds(digits, c.FSP)
	if !ok {
		return 0, fmt.Errorf("%q is not a %s", text, c)
	}
	if x > maxTime {
		return 0, fmt.Errorf("%s is beyond 838:59:59.999999", text)
	}
	if len(digits) < len(text) {
		x = -x
	}
	return x, nil
}

func microseconds(s string, fsp int) (int64, bool) {
	s, frac, point := strings.Cut(s, ".")
	hms := strings.Split(s, ":")
	if len(hms) != 3 || len(frac) > fsp || point && frac == "" {
		return 0, false
	}
	h, ok1 := decimal(hms[0], 4)
	m, ok2 := decimal(hms[1], 2)
	sec, ok3 := decimal(hms[2], 2)
	f, ok4 := decimal((frac + "000000")[:6], 6)
	if !ok1 || !ok2 || !ok3 || !ok4 || m > 59 || sec > 59 {
		return 0, false
	}
	return ((h*60+m)*60+sec)*1e6 + f, true
}

// decimal reads 1 to most digits.
func decimal(s string, most int) (x int64, ok bool) {
	for _, d := range []byte(s) {
		if d < '0' || d > '9' {
			return 0, false
		}
		x = x*10 + int64(d-'0')
	}
	return x, len(s) > 0 && len(s) <= most
}

func appendTime(c *Column, dst []byte, x int64) []byte {
	if x < 0 {
		dst, x = append(dst, '-'), -x
	}
	sec := x / 1e6
	dst = append(appendPadded(dst, sec/3600, 2), ':')
	dst = append(appendPadded(dst, sec/60%60, 2), ':')
	dst = appendPadded(dst, sec%60, 2)
	if c.FSP > 0 {
		dst = appendPadded(append(dst, '.'), x%1e6, 6)
		dst = dst[:len(dst)-6+c.FSP]
	}
	return dst
}

// appendPadded appends x with at least width digits.
func appendPadded(dst []byte, x int64, width int) []byte {
	for limit := int64(10); width > 1; width, limit = width-1, limit*10 {
		if x < limit {
			dst = append(dst, '0')
		}
	}
	return strconv.AppendInt(dst, x, 10)
}

// checkText says whether a string fits in its column, in characters.
func checkText(c *Column, text []byte) error {
	if len(text) > c.Length && utf8.RuneCount(text) > c.Length {
		return fmt.Errorf("%d characters do not fit in %s", utf8.RuneCount(text), c)
	}
	return nil
}

// Unit is what a server stores as one step, in the terms of Vector.I64: TIME
// without fraction is stored in seconds.
func (c Column) Unit() int64 {
	unit := int64(1)
	if c.Type == Time {
		for range 6 - (c.FSP+1)/2*2 {
			unit *= 10
		}
	}
	return unit
}

// Unsigned says whether the column's integers have no sign.
func (c Column) Unsigned() bool { return types[c.Type].kind == kindUint }
