package hashindex

import "math/bits"

const (
	segmentBytes = maxGroups * groupBytes
	segmentWords = segmentBytes / 8

	maxFilterBits = 10 // an entry, where memory allows
	minFilterBits = 4  // an entry; below that a filter is not worth its memory
)

// filter is a Bloom filter whose bits for a hash lie in one word, so that a
// test is one cache miss. It consists of segments. The zero filter says yes to
// everything.
//
// Four bits an entry at 10 bits of memory give some 2 % of false answers; the
// spread over words costs half of that. (Putze, Sanders, Singler, "Cache-,
// Hash- and Space-Efficient Bloom Filters", 2007.)
type filter []*group

// locate returns the word for m and the bits in it. It uses the low half of m,
// which neither the directory nor the home group depends on, and all of it
// for the word.
func (f filter) locate(m uint64) (*uint64, uint64) {
	h := m * 0x9e3779b97f4a7c15
	i, _ := bits.Mul64(h, uint64(len(f))*segmentWords)
	h = bits.RotateLeft64(h, 32) * 0xbf58476d1ce4e5b9
	mask := uint64(1)<<(h>>58) | 1<<(h>>52&63) | 1<<(h>>46&63) | 1<<(h>>40&63)
	return word(f[i/segmentWords], i%segmentWords), mask
}

func (f filter) add(m uint64) {
	w, mask := f.locate(m)
	*w |= mask
}

// has returns false if m was not added.
func (f filter) has(m uint64) bool {
	if len(f) == 0 {
		return true
	}
	w, mask := f.locate(m)
	return *w&mask == mask
}

// filterSegments returns how many segments make a filter of that many bits an
// entry for n entries.
func filterSegments(n, bitsEach int) int {
	return (n*bitsEach + segmentBytes*8 - 1) / (segmentBytes * 8)
}
