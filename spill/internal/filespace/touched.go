package filespace

import "math/bits"

// touched is a set of units of MinPiece bytes, addressed by the bytes of a
// piece: n is a power of two and off a multiple of it.
type touched []uint64

func newTouched(span int) touched { return make(touched, (span/MinPiece+63)/64) }

// words yields what a piece covers: whole words, or a part of one by mask.
func (t touched) words(off, n int) (words []uint64, mask uint64) {
	first, count := off/MinPiece, n/MinPiece
	if count >= 64 {
		return t[first/64 : (first+count)/64], ^uint64(0)
	}
	return t[first/64 : first/64+1], (1<<count - 1) << (first % 64)
}

// all says whether the whole piece is in the set.
func (t touched) all(off, n int) bool {
	words, mask := t.words(off, n)
	for _, w := range words {
		if w&mask != mask {
			return false
		}
	}
	return true
}

// add adds the piece and returns how many bytes of it are new.
func (t touched) add(off, n int) (fresh int) {
	words, mask := t.words(off, n)
	for i := range words {
		fresh += bits.OnesCount64(mask&^words[i]) * MinPiece
		words[i] |= mask
	}
	return fresh
}

// count is the number of bytes in the set.
func (t touched) count() (n int) {
	for _, w := range t {
		n += bits.OnesCount64(w) * MinPiece
	}
	return n
}
