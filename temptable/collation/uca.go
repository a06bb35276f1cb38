package collation

import (
	"slices"
	"unicode/utf8"
)

// uca900 is the Unicode Collation Algorithm with the default weights of Unicode
// 9.0.0 and NO PAD, as MySQL runs it. A key is the characters' weights of the
// first level, then, behind a zero weight each, those of the further levels:
// accents, then case and variants. Ignorable characters have no weights.
type uca900 struct {
	name   string
	levels int // 1: base letters alone count; 3: accents and case count too
}

func (c uca900) Name() string { return c.name }
func (uca900) PadSpace() bool { return false }

// MaxKeyLen allows for a character of 3 bytes that expands to 8 collation
// elements, 16 bytes a level (U+FDFA), and for an invalid byte, 3 bytes.
func (c uca900) MaxKeyLen(n int) int {
	if c.levels == 1 {
		return 6 * n
	}
	return 16*n + 4
}

func (c uca900) AppendKey(dst, src []byte) ([]byte, error) {
	dst = appendLevel(dst, src, 0)
	for l := 1; l < c.levels; l++ {
		dst = appendLevel(append(dst, 0, 0), src, l)
	}
	return dst, nil
}

// appendLevel appends the weights that src has on level l.
func appendLevel(dst, src []byte, l int) []byte {
	for {
		var n int
		dst, n = appendASCII(dst, src, &ucaASCII[l])
		if src = src[n:]; len(src) == 0 {
			return dst
		}
		dst, n = appendChar900(dst, src, l)
		src = src[n:]
	}
}

// appendASCII appends the weights of the ASCII text that src begins with and
// says how long it is. It writes weights of zero, too, and overwrites them.
func appendASCII(dst, src []byte, weights *[128]uint16) ([]byte, int) {
	end := len(dst)
	dst = slices.Grow(dst, 2*len(src))[:end+2*len(src)]
	for n, b := range src {
		if b >= utf8.RuneSelf {
			return dst[:end], n
		}
		w := weights[b]
		putWeight(dst[end:], w)
		if w != 0 {
			end += 2
		}
	}
	return dst[:end], len(src)
}

// appendChar900 appends the weights of the first character of src, which is not
// ASCII, and says how many bytes it read.
func appendChar900(dst, src []byte, l int) ([]byte, int) {
	r, n := utf8.DecodeRune(src)
	if r == utf8.RuneError && n == 1 {
		return appendInvalid(dst, src[0], l), 1
	}
	return appendWeights(dst, r, l), n
}

// appendInvalid appends a weight above all others, and the byte; on the first
// level only, which tells such bytes from everything.
func appendInvalid(dst []byte, b byte, l int) []byte {
	if l > 0 {
		return dst
	}
	return append(dst, 0xFF, 0xFF, b)
}

// appendWeights appends the weights of r on level l.
func appendWeights(dst []byte, r rune, l int) []byte {
	switch id := ucaID(r); id {
	case ucaHangul:
		return appendHangul(dst, r, l)
	case ucaUnassigned, ucaHan, ucaHanExtension:
		return appendImplicit(dst, implicitBase[id]+uint16(r>>15), uint16(r)|0x8000, l)
	case ucaTangut:
		return appendImplicit(dst, implicitBase[id], uint16(r-0x17000)|0x8000, l)
	default:
		return append(dst, ucaLevels[l].weights(id)...)
	}
}

// Ids of characters whose weights are computed (UTS #10, version 9.0.0, section
// 10.1). Any other id is a place in the table.
const (
	ucaUnassigned = iota
	ucaHan
	ucaHanExtension
	ucaTangut
	ucaHangul
	ucaComputed // how many there are
)

var implicitBase = [...]uint16{
	ucaUnassigned: 0xFBC0, ucaHan: 0xFB40, ucaHanExtension: 0xFB80, ucaTangut: 0xFB00,
}

// appendImplicit appends level l of the elements [.a.0020.0002][.b.0000.0000].
func appendImplicit(dst []byte, a, b uint16, l int) []byte {
	switch l {
	case 0:
		return appendWeight(appendWeight(dst, a), b)
	case 1:
		return appendWeight(dst, 0x0020)
	}
	return appendWeight(dst, 0x0002)
}

// appendHangul appends the weights of a syllable's two or three letters (Unicode
// 9.0.0, section 3.12).
func appendHangul(dst []byte, r rune, l int) []byte {
	const vowels, finals = 21, 28
	s := r - 0xAC00
	dst = appendWeights(dst, 0x1100+s/(vowels*finals), l)
	dst = appendWeights(dst, 0x1161+s/finals%vowels, l)
	if final := s % finals; final != 0 {
		dst = appendWeights(dst, 0x11A7+final, l)
	}
	return dst
}
