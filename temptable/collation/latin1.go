package collation

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// latin1Text is latin1_swedish_ci of text that is UTF-8.
type latin1Text struct{}

// Latin1SwedishUTF8 returns latin1_swedish_ci for text that is UTF-8: the key is
// that of the text converted to latin1. AppendKey returns ErrCharset for a
// character that latin1 lacks and for invalid UTF-8.
func Latin1SwedishUTF8() Collation { return latin1Text{} }

func (latin1Text) Name() string        { return "latin1_swedish_ci" }
func (latin1Text) PadSpace() bool      { return true }
func (latin1Text) MaxKeyLen(n int) int { return n + 1 }

func (latin1Text) AppendKey(dst, src []byte) ([]byte, error) {
	return appendText(dst, src, appendLatin1)
}

func appendLatin1(dst, src []byte) ([]byte, int, error) {
	r, n := utf8.DecodeRune(src)
	b, ok := latin1Byte(r)
	if !ok || n == 1 {
		return dst, 0, fmt.Errorf("latin1_swedish_ci: character %q: %w", src[:n], ErrCharset)
	}
	return append(dst, latin1Codes[b]), n, nil
}

// latin1Byte returns the latin1 byte of r, which is not ASCII. Between 0x80 and
// 0x9F latin1 is cp1252, the five bytes that cp1252 lacks being themselves.
func latin1Byte(r rune) (byte, bool) {
	if r >= 0xA0 && r <= 0xFF {
		return byte(r), true
	}
	i := slices.Index(cp1252[:], r)
	return byte(0x80 + i), i >= 0
}

// cp1252 holds the characters of the bytes 0x80 to 0x9F.
var cp1252 = [32]rune{
	0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
	0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D, 0x017D, 0x008F,
	0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
	0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
}
