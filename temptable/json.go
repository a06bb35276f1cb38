package temptable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrJSON is returned for text in a JSON column that is not JSON (RFC 8259), is
// nested deeper than 100 levels, or has a number beyond 10^±1,000,000,000. It
// shows where JSON is compared: a table that is not distinct by the column
// stores any bytes.
var ErrJSON = errors.New("temptable: invalid JSON")

// The tags that keys of JSON values start with, in the order of MySQL
// (https://dev.mysql.com/doc/refman/8.0/en/json.html, Comparison and Ordering of
// JSON Values). 0 ends an array or an object.
const (
	jsonNull = 1 + iota
	jsonNumber
	jsonString
	jsonObject
	jsonArray
	jsonFalse
	jsonTrue
)

const (
	maxJSONDepth    = 100 // as in MySQL
	maxJSONExponent = 1_000_000_000
)

// jsonCollation compares text as JSON: numbers by value (1 equals 1.0),
// strings by their bytes, arrays by their first difference, objects without
// regard to the order of members; of members with one name the last counts.
// Numbers are exact decimals, not doubles.
type jsonCollation struct{}

func (jsonCollation) Name() string        { return "json" }
func (jsonCollation) PadSpace() bool      { return false }
func (jsonCollation) MaxKeyLen(n int) int { return 8*n + 8 }

// AppendKey implements Collation; its errors are ErrJSON.
func (jsonCollation) AppendKey(dst, src []byte) ([]byte, error) {
	p := jsonKey{src: src, dst: dst}
	p.value(0)
	p.space()
	if p.bad || p.at < len(src) {
		return dst, fmt.Errorf("%w at byte %d", ErrJSON, p.at)
	}
	return p.dst, nil
}

// jsonKey is one text on its way to a key.
type jsonKey struct {
	src []byte
	at  int
	dst []byte
	bad bool
}

func (p *jsonKey) put(b ...byte) { p.dst = append(p.dst, b...) }

// peek is the byte at the cursor, or 0 at the end, where it is no JSON.
func (p *jsonKey) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *jsonKey) space() {
	for c := p.peek(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = p.peek() {
		p.at++
	}
}

// take steps over c, after space, if it is there.
func (p *jsonKey) take(c byte) bool {
	p.space()
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// need fails unless ok.
func (p *jsonKey) need(ok bool) { p.bad = p.bad || !ok }

func (p *jsonKey) value(depth int) {
	if p.space(); p.bad {
		return
	}
	switch c := p.peek(); {
	case c == '{':
		p.at++
		p.object(depth + 1)
	case c == '[':
		p.at++
		p.array(depth + 1)
	case c == '"':
		p.at++
		p.put(jsonString)
		p.text()
	case c == '-' || isDigit(c):
		p.number()
	default:
		p.word()
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (p *jsonKey) word() {
	rest := string(p.src[p.at:min(p.at+5, len(p.src))])
	switch {
	case strings.HasPrefix(rest, "null"):
		p.at += 4
		p.put(jsonNull)
	case strings.HasPrefix(rest, "true"):
		p.at += 4
		p.put(jsonTrue)
	case rest == "false":
		p.at += 5
		p.put(jsonFalse)
	default:
		p.bad = true
	}
}

// array puts the keys of the elements and 0, so that a shorter array is before
// one that goes on.
func (p *jsonKey) array(depth int) {
	p.need(depth <= maxJSONDepth)
	p.put(jsonArray)
	for more := !p.take(']'); more && !p.bad; {
		p.value(depth)
		if more = p.take(','); !more {
			p.need(p.take(']'))
		}
	}
	p.put(0)
}

// jsonMember is where a member's key is: the name's key, and the value's behind
// it.
type jsonMember struct{ name, value, end int }

// object puts the number of members and their keys in the order of the names.
func (p *jsonKey) object(depth int) {
	p.need(depth <= maxJSONDepth)
	var few [8]jsonMember
	members, start := few[:0], len(p.dst)
	for more := !p.take('}'); more && !p.bad; {
		members = append(members, p.member(depth))
		if more = p.take(','); !more {
			p.need(p.take('}'))
		}
	}
	if !p.bad {
		p.sortMembers(start, members)
	}
}

func (p *jsonKey) member(depth int) (m jsonMember) {
	m.name = len(p.dst)
	p.need(p.take('"'))
	p.text()
	m.value = len(p.dst)
	p.need(p.take(':'))
	p.value(depth)
	m.end = len(p.dst)
	return m
}

func (p *jsonKey) sortMembers(start int, members []jsonMember) {
	keys := bytes.Clone(p.dst[start:])
	name := func(m jsonMember) []byte { return keys[m.name-start : m.value-start] }
	slices.Reverse(members) // of equal names the last comes first
	slices.SortStableFunc(members, func(a, b jsonMember) int { return bytes.Compare(name(a), name(b)) })
	members = slices.CompactFunc(members, func(a, b jsonMember) bool { return bytes.Equal(name(a), name(b)) })
	p.dst = append(p.dst[:start], jsonObject)
	p.dst = binary.BigEndian.AppendUint32(p.dst, uint32(len(members)))
	for _, m := range members {
		p.dst = append(p.dst, keys[m.name-start:m.end-start]...)
	}
}

// text puts a string, the cursor behind its first quote: UTF-8 with 00 as 00 FF,
// ended by 00 01.
func (p *jsonKey) text() {
	for !p.bad {
		c := p.peek()
		switch {
		case c == '"':
			p.at++
			p.put(0, 1)
			return
		case c == '\\':
			p.at++
			p.escape()
		case c >= utf8.RuneSelf:
			p.multibyte()
		default:
			p.need(c >= ' ')
			p.at++
			p.put(c)
		}
	}
}

func (p *jsonKey) multibyte() {
	r, n := utf8.DecodeRune(p.src[p.at:])
	p.need(r != utf8.RuneError || n > 1)
	p.put(p.src[p.at : p.at+n]...)
	p.at += n
}

// escape puts what \ and the next characters stand for.
func (p *jsonKey) escape() {
	c := p.peek()
	p.at++
	switch i := strings.IndexByte(`"\/bfnrt`, c); {
	case c == 'u':
		p.unicode()
	case i < 0:
		p.bad = true
	default:
		p.put("\"\\/\b\f\n\r\t"[i])
	}
}

// unicode puts the character of four hexadecimal digits, or of a pair of
// surrogates.
func (p *jsonKey) unicode() {
	r := p.hex()
	if utf16.IsSurrogate(r) {
		p.need(p.peek() == '\\')
		p.at++
		p.need(p.peek() == 'u')
		p.at++
		r = utf16.DecodeRune(r, p.hex())
		p.need(r != utf8.RuneError)
	}
	if r == 0 {
		p.put(0, 0xFF)
		return
	}
	p.dst = utf8.AppendRune(p.dst, r)
}

func (p *jsonKey) hex() rune {
	end := min(p.at+4, len(p.src))
	v, err := strconv.ParseUint(string(p.src[min(p.at, end):end]), 16, 16)
	p.need(err == nil && end == p.at+4)
	p.at = end
	return rune(v)
}

// number puts 80 for zero, otherwise 81, the power of ten of 0.ddd, the digits
// ddd without zeros at either end, and 0; for a negative number all turned.
func (p *jsonKey) number() {
	start := len(p.dst) + 1
	p.put(jsonNumber)
	negative := p.peek() == '-'
	if negative {
		p.at++
	}
	whole := p.digits()
	p.need(len(whole) == 1 || len(whole) > 1 && whole[0] != '0')
	fraction := p.fraction()
	exponent := len(whole) + p.exponent()
	all := bytes.TrimRight(fraction, "0")
	if len(all) == 0 {
		whole = bytes.TrimRight(whole, "0")
	}
	for len(whole) > 0 && whole[0] == '0' {
		whole, exponent = whole[1:], exponent-1
	}
	for len(whole) == 0 && len(all) > 0 && all[0] == '0' {
		all, exponent = all[1:], exponent-1
	}
	if len(whole)+len(all) == 0 {
		p.put(0x80)
		return
	}
	p.need(exponent >= -maxJSONExponent && exponent <= maxJSONExponent)
	p.put(0x81)
	p.dst = binary.BigEndian.AppendUint32(p.dst, uint32(exponent+1<<31))
	p.put(whole...)
	p.put(all...)
	p.put(0)
	if negative {
		turn(p.dst[start:])
	}
}

// digits steps over digits and returns them.
func (p *jsonKey) digits() []byte {
	from := p.at
	for isDigit(p.peek()) {
		p.at++
	}
	return p.src[from:p.at]
}

func (p *jsonKey) fraction() []byte {
	if p.peek() != '.' {
		return nil
	}
	p.at++
	d := p.digits()
	p.need(len(d) > 0)
	return d
}

func (p *jsonKey) exponent() int {
	if c := p.peek(); c != 'e' && c != 'E' {
		return 0
	}
	p.at++
	from := p.at
	if c := p.peek(); c == '-' || c == '+' {
		p.at++
	}
	p.digits()
	e, ok := parseExponent(p.src[from:p.at])
	p.need(ok)
	return e
}
