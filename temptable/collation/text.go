package collation

import "unicode/utf8"

// A charAppender appends the code of the first character of src, which is not
// ASCII or not valid, and says how many bytes it read.
type charAppender func(dst, src []byte) (grown []byte, n int, err error)

// appendText appends the key, with PAD SPACE, of UTF-8 text that folds as ASCII
// does, other characters by other.
func appendText(dst, src []byte, other charAppender) ([]byte, error) {
	start, controls := len(dst), false
	for src = trimSpaces(src); len(src) > 0; {
		if len(src) >= 8 && isPlain(load(src)) {
			dst = appendWord(dst, foldWord(load(src)))
			src = src[8:]
			continue
		}
		for stop := len(src) - 8; len(src) > max(stop, 0); {
			grown, n, err := appendChar(dst, src, other)
			if err != nil {
				return dst[:start], err
			}
			controls = controls || isControl(src[0])
			dst, src = grown, src[n:]
		}
	}
	return finish(dst, start, controls), nil
}

func appendChar(dst, src []byte, other charAppender) ([]byte, int, error) {
	if b := src[0]; b < utf8.RuneSelf {
		return append(dst, asciiCodes[b]), 1, nil
	}
	return other(dst, src)
}
