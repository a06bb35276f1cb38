package buddy

import "math/bits"

// bitmap is a set of small integers that finds its smallest member quickly: a
// bit of sum says that a word of bits is not zero.
type bitmap struct {
	bits, sum []uint64
}

// newBitmap makes a set for members below n.
func newBitmap(n int) bitmap {
	words := (n + 63) / 64
	return bitmap{make([]uint64, words), make([]uint64, (words+63)/64)}
}

func (b *bitmap) has(i int) bool {
	return i>>6 < len(b.bits) && b.bits[i>>6]>>(i&63)&1 != 0
}

func (b *bitmap) add(i int) {
	w := i >> 6
	b.bits[w] |= 1 << (i & 63)
	b.sum[w>>6] |= 1 << (w & 63)
}

func (b *bitmap) remove(i int) {
	w := i >> 6
	if b.bits[w] &^= 1 << (i & 63); b.bits[w] == 0 {
		b.sum[w>>6] &^= 1 << (w & 63)
	}
}

// first is the smallest member, -1 if there is none.
func (b *bitmap) first() int { return b.next(0) }

// next is the smallest member that is at least i, -1 if there is none.
func (b *bitmap) next(i int) int {
	w := i >> 6
	if w >= len(b.bits) {
		return -1
	}
	if word := b.bits[w] >> (i & 63); word != 0 {
		return i + bits.TrailingZeros64(word)
	}
	if w = b.nextWord(w + 1); w < 0 {
		return -1
	}
	return w<<6 + bits.TrailingZeros64(b.bits[w])
}

// nextWord is the first word from w on that is not zero, -1 if there is none.
func (b *bitmap) nextWord(w int) int {
	for s := w >> 6; s < len(b.sum); s++ {
		word := b.sum[s]
		if s == w>>6 {
			word &= ^uint64(0) << (w & 63)
		}
		if word != 0 {
			return s<<6 + bits.TrailingZeros64(word)
		}
	}
	return -1
}
