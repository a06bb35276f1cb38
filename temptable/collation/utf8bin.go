package collation

// utf8Bin compares bytes, which for UTF-8 is the order of code points, with PAD
// SPACE. A code is the byte plus two; the three highest bytes, which no UTF-8
// holds, follow an escape.
type utf8Bin struct{}

const binEscape = 0xFF // precedes bytes whose code would not fit

func (utf8Bin) Name() string        { return "utf8mb4_bin" }
func (utf8Bin) PadSpace() bool      { return true }
func (utf8Bin) MaxKeyLen(n int) int { return 2*n + 1 }

func (utf8Bin) AppendKey(dst, src []byte) ([]byte, error) {
	start, controls := len(dst), false
	src = trimSpaces(src)
	for ; len(src) >= 8; src = src[8:] {
		if w := load(src); isPlain(w) {
			dst = appendWord(dst, shiftWord(w))
		} else {
			dst = appendBinCodes(dst, src[:8], &controls)
		}
	}
	dst = appendBinCodes(dst, src, &controls)
	return finish(dst, start, controls), nil
}

// appendBinCodes appends the codes of src; controls becomes true if any is a
// control character's.
func appendBinCodes(dst, src []byte, controls *bool) []byte {
	for _, b := range src {
		switch {
		case isControl(b):
			*controls = true
			dst = append(dst, b)
		case b < binEscape-2:
			dst = append(dst, b+2)
		default:
			dst = append(dst, binEscape, b)
		}
	}
	return dst
}
