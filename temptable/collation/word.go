package collation

import endian "encoding/binary"

// Eight bytes at a time: each byte of a word is a lane, and no sum or difference
// below carries from one lane into the next.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

func load(b []byte) uint64                     { return endian.LittleEndian.Uint64(b) }
func store(b []byte, w uint64)                 { endian.LittleEndian.PutUint64(b, w) }
func appendWord(dst []byte, w uint64) []byte   { return endian.LittleEndian.AppendUint64(dst, w) }
func appendWeight(dst []byte, w uint16) []byte { return endian.BigEndian.AppendUint16(dst, w) }
func putWeight(b []byte, w uint16)             { endian.BigEndian.PutUint16(b, w) }

// atLeast has 0x80 in the lanes of w, ASCII characters, that are b or more.
func atLeast(w, b uint64) uint64 { return (w + (0x80-b)*ones) & highs }

// isPlain reports whether w is eight ASCII characters, none of them a control
// character below the space.
func isPlain(w uint64) bool {
	return w&highs == 0 && atLeast(w, ' ') == highs
}

// shiftWord returns the codes of eight plain characters by value: two more than
// the character, which leaves room around the space.
func shiftWord(w uint64) uint64 { return w + 2*ones }

// foldWord returns the codes of eight plain characters regardless of case: two
// more than the upper-case character, and from '{' on the character itself.
func foldWord(w uint64) uint64 {
	letter, brace := atLeast(w, 'a'), atLeast(w, '{')
	return shiftWord(w) - letter>>2 + brace>>2 - brace>>6
}
