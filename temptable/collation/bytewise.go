package collation

import "slices"

// bytewise is a collation with PAD SPACE of a character set of one byte a
// character. codes holds the key byte of each; those of plain ASCII agree with
// foldWord.
type bytewise struct {
	name  string
	codes *[256]byte
}

func (c bytewise) Name() string      { return c.name }
func (bytewise) PadSpace() bool      { return true }
func (bytewise) MaxKeyLen(n int) int { return n + 1 }

func (c bytewise) AppendKey(dst, src []byte) ([]byte, error) {
	src = trimSpaces(src)
	start := len(dst)
	dst = slices.Grow(dst, len(src)+1)[:start+len(src)]
	return finish(dst, start, c.fold(dst[start:], src)), nil
}

// fold writes the codes of src to key, which is as long, and reports whether
// there are control characters. A last word that is not whole begins earlier.
func (c bytewise) fold(key, src []byte) (controls bool) {
	i, last := 0, len(src)-8
	for ; i <= last; i += 8 {
		if w := load(src[i:]); isPlain(w) {
			store(key[i:], foldWord(w))
		} else if c.foldBytes(key[i:i+8], src[i:i+8]) {
			controls = true
		}
	}
	if last >= 0 && isPlain(load(src[last:])) {
		store(key[last:], foldWord(load(src[last:])))
		return controls
	}
	return c.foldBytes(key[i:], src[i:]) || controls
}

// foldBytes is fold, a byte at a time.
func (c bytewise) foldBytes(key, src []byte) (controls bool) {
	key = key[:len(src)]
	for i, b := range src {
		key[i] = c.codes[b]
		controls = controls || isControl(b)
	}
	return controls
}
