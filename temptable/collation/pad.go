package collation

import "bytes"

// The codes around the space; doc.go says why there are three.
const (
	spaceBeforeLower = 0x20 // in a run that a weight below the space follows
	textEnd          = 0x21
	spaceBeforeUpper = 0x22 // in a run that any other weight follows
)

// isControl reports whether b, a byte of text or of a key, is the weight of a
// character below the space. In every collation with PAD SPACE these are the
// bytes 0x00 to 0x1F, and their codes are themselves.
func isControl(b byte) bool { return b < ' ' }

// trimSpaces cuts the trailing spaces of src.
func trimSpaces(src []byte) []byte {
	if len(src) > 0 && src[len(src)-1] == ' ' {
		return bytes.TrimRight(src, " ")
	}
	return src
}

// finish ends a key, dst[start:], the codes of trimmed text in which every space
// has the code spaceBeforeUpper. Only text with control characters has spaces
// that need the lower one.
func finish(dst []byte, start int, controls bool) []byte {
	if controls {
		lowerSpaces(dst[start:])
	}
	return append(dst, textEnd)
}

// lowerSpaces gives spaces that a control character follows, perhaps after
// further spaces, the lower code. No other character's code holds a space's.
func lowerSpaces(key []byte) {
	lower := false
	for i := len(key) - 1; i >= 0; i-- {
		switch {
		case key[i] != spaceBeforeUpper:
			lower = isControl(key[i])
		case lower:
			key[i] = spaceBeforeLower
		}
	}
}
