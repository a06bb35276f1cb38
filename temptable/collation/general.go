package collation

import "unicode/utf8"

// generalCI is utf8mb4_general_ci: each character is compared as one other, its
// base letter in upper case where it has one. All characters beyond the BMP are
// equal, to each other and to U+FFFD, as in MySQL.
type generalCI struct{}

const generalInvalid = 0xFF // precedes an invalid byte; no UTF-8 holds it

func (generalCI) Name() string        { return "utf8mb4_general_ci" }
func (generalCI) PadSpace() bool      { return true }
func (generalCI) MaxKeyLen(n int) int { return 2*n + 1 }

func (generalCI) AppendKey(dst, src []byte) ([]byte, error) {
	return appendText(dst, src, appendGeneral)
}

func appendGeneral(dst, src []byte) ([]byte, int, error) {
	r, n := utf8.DecodeRune(src)
	if r == utf8.RuneError && n == 1 {
		return append(dst, generalInvalid, src[0]), 1, nil
	}
	w := generalWeight(r)
	if w < utf8.RuneSelf {
		return append(dst, asciiCodes[w]), n, nil
	}
	return utf8.AppendRune(dst, w), n, nil
}

// generalWeight returns the character that r is compared as.
func generalWeight(r rune) rune {
	if r > 0xFFFF {
		return utf8.RuneError
	}
	page := generalPages[generalIndex[r>>8]]
	if page == nil {
		return r
	}
	return rune(page[r&0xFF])
}
