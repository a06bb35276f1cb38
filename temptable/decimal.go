package temptable

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"math/bits"
)

// maxDigits is the most digits of a DECIMAL
// (https://dev.mysql.com/doc/refman/8.0/en/precision-math-decimal-characteristics.html).
const maxDigits = 65

// wide256 is an unsigned integer of 256 bits, low word first: room for 10^65.
type wide256 [4]uint64

// decimalWidth is the stored width of n digits: the least number of bytes that
// have the digits and a sign.
func decimalWidth(digits int) uint8 {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return uint8(limit.BitLen()/8 + 1)
}

// pow19 is 10^19, the largest power of ten in 64 bits; it has digits19 zeros.
const (
	pow19    = 10_000_000_000_000_000_000
	digits19 = 19
)

// mulAdd sets u to u*m+a.
func (u *wide256) mulAdd(m, a uint64) {
	for i := range u {
		hi, lo := bits.Mul64(u[i], m)
		var carry uint64
		u[i], carry = bits.Add64(lo, a, 0)
		a = hi + carry
	}
}

// divMod sets u to u/d and returns the remainder.
func (u *wide256) divMod(d uint64) (rem uint64) {
	for i := len(u) - 1; i >= 0; i-- {
		u[i], rem = bits.Div64(rem, u[i], d)
	}
	return rem
}

// negate is the two's complement.
func (u *wide256) negate() {
	carry := uint64(1)
	for i := range u {
		u[i], carry = bits.Add64(^u[i], 0, carry)
	}
}

// pow10 are the powers of ten in 64 bits.
var pow10 = [digits19 + 1]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// putDecimal stores the number that text is, in units of the column's last
// digit, as two's complement with the sign bit turned, big-endian: bytes.Compare
// is the order. It reports false for text that is no number, or not one that
// the column can hold exactly.
func (c *column) putDecimal(dst, text []byte) bool {
	d, ok := parseDecimal(text)
	if !ok || !d.scale(int(c.scale), int(c.digits)) {
		return false
	}
	u := d.value()
	if d.negative {
		u.negate()
	}
	var b [32]byte
	for i := range u {
		binary.BigEndian.PutUint64(b[24-8*i:], u[i])
	}
	dst = dst[:c.width]
	copy(dst, b[32-len(dst):])
	dst[0] ^= 0x80
	return true
}

// decimal is a number taken apart: its n significant digits, the last of them
// not 0, times 10^exp.
type decimal struct {
	negative bool
	n, exp   int
	digits   [maxDigits]byte
}

// parseDecimal takes text apart: a sign, digits with at most one point, and an
// exponent; all but one digit may be missing.
func parseDecimal(text []byte) (d decimal, ok bool) {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		d.negative = text[0] == '-'
		text = text[1:]
	}
	mantissa, exponent, hasExp := cutExponent(text)
	if hasExp {
		if d.exp, ok = parseExponent(exponent); !ok {
			return d, false
		}
	}
	return d, d.mantissa(mantissa)
}

func cutExponent(text []byte) (mantissa, exponent []byte, ok bool) {
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, nil, false
}

// parseExponent reads a signed integer; what is far out of reach stays so.
func parseExponent(text []byte) (e int, ok bool) {
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	for _, ch := range text {
		if ch < '0' || ch > '9' {
			return 0, false
		}
		e = min(e*10+int(ch-'0'), 1<<40)
	}
	if negative {
		e = -e
	}
	return e, len(text) > 0
}

// mantissa reads digits and a point.
func (d *decimal) mantissa(text []byte) bool {
	seen, point, zeros := false, false, 0
	for _, ch := range text {
		switch {
		case ch == '.' && !point:
			point = true
			continue
		case ch < '0' || ch > '9':
			return false
		case ch == '0':
			zeros++
		case !d.push(zeros, ch-'0'):
			return false
		default:
			zeros = 0
		}
		seen = true
		if point {
			d.exp--
		}
	}
	d.exp += zeros
	return seen
}

// push appends a digit that is not 0, behind the zeros that came before it.
func (d *decimal) push(zeros int, digit byte) bool {
	if d.n > 0 {
		d.n += zeros
	}
	if d.n >= maxDigits {
		return false
	}
	d.digits[d.n] = digit
	d.n++
	return true
}

// scale makes exp the zeros to append in units of 10^-scale, and reports whether
// the number is one of so many digits.
func (d *decimal) scale(scale, digits int) bool {
	if d.n == 0 {
		d.negative, d.exp = false, 0
		return true
	}
	d.exp += scale
	return d.exp >= 0 && d.n+d.exp <= digits
}

// value is the digits with exp zeros.
func (d *decimal) value() (u wide256) {
	acc, k := uint64(0), 0
	for i := range d.n + d.exp {
		digit := byte(0)
		if i < d.n {
			digit = d.digits[i]
		}
		acc = acc*10 + uint64(digit)
		if k++; k == digits19 {
			u.mulAdd(pow19, acc)
			acc, k = 0, 0
		}
	}
	u.mulAdd(pow10[k], acc)
	return u
}

// appendDecimal appends the text of a stored number, with all digits of its
// scale.
func (c *column) appendDecimal(dst, stored []byte) []byte {
	u, negative := loadDecimal(stored[:c.width])
	if negative {
		dst = append(dst, '-')
	}
	var digits [4 * digits19]byte
	i := len(digits)
	for least := len(digits) - 1 - int(c.scale); u != (wide256{}) || i > least; {
		i -= digits19
		putDigits(digits[i:i+digits19], u.divMod(pow19))
	}
	whole := len(digits) - int(c.scale)
	for i < whole-1 && digits[i] == '0' {
		i++
	}
	dst = append(dst, digits[i:whole]...)
	if c.scale > 0 {
		dst = append(append(dst, '.'), digits[whole:]...)
	}
	return dst
}

// putDigits fills dst with v, zeros in front.
func putDigits(dst []byte, v uint64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = '0' + byte(v%10)
		v /= 10
	}
}

// loadDecimal undoes putDecimal.
func loadDecimal(stored []byte) (u wide256, negative bool) {
	var b [32]byte
	negative = stored[0]&0x80 == 0
	if negative {
		turn(b[:])
	}
	copy(b[32-len(stored):], stored)
	b[32-len(stored)] ^= 0x80
	for i := range u {
		u[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	if negative {
		u.negate()
	}
	return u, negative
}

// validDecimal reports whether the digits of a stored number are not too many.
func (c *column) validDecimal(stored []byte) bool {
	u, _ := loadDecimal(stored[:c.width])
	return u.less(powerOf10(int(c.digits)))
}

// powerOf10 is 10^n.
func powerOf10(n int) (u wide256) {
	u[0] = 1
	for ; n >= digits19; n -= digits19 {
		u.mulAdd(pow19, 0)
	}
	u.mulAdd(pow10[n], 0)
	return u
}

func (u wide256) less(v wide256) bool {
	for i := len(u) - 1; i > 0; i-- {
		if u[i] != v[i] {
			return u[i] < v[i]
		}
	}
	return u[0] < v[0]
}
