package btree

import "math/bits"

const (
	nodeSize = 1 << nodeShift // bytes

	leafCap  = (nodeSize - 16) / 16            // entries: 255
	innerCap = (nodeSize - 16 - 4) / 20        // separators: 203
	leafMin  = leafCap / 4                     // below it a leaf is merged or filled up
	innerMin = innerCap / 4                    // the same for an inner node
	leafFit  = leafCap * 3 / 4                 // the most entries two leaves are merged into
	innerFit = innerCap * 3 / 4                // the most separators
	innerPad = nodeSize - 20 - innerCap*20     // bytes
	freeNode = 0xff                            // the level of a node on the free list
	maxDepth = 12                              // 51 children at least, 2^32 nodes at most: 7
	_        = uint(leafFit - leafMin*2)       // two minimal leaves merge
	_        = uint(innerFit - innerMin*2 - 1) // and so do two minimal inner nodes
)

// header begins every node. Nodes hold no pointers.
type header struct {
	count uint16 // entries or separators
	level uint8  // 0 is a leaf
	dirty uint8  // written since it was pinned; 0 at rest
	prev  uint32 // leaves: the neighbours, 0 at the ends
	next  uint32 // free nodes: the next free one
	_     uint32
}

// node is a leaf, or what an inner node has in common with one.
type node struct {
	header
	entries [leafCap]entry
}

// inner is an inner node: kids[i] holds what is less than entries[i], which is
// a copy of the first entry below kids[i+1].
type inner struct {
	header
	entries [innerCap]entry
	kids    [innerCap + 1]uint32
	_       [innerPad]byte
}

// less is 1 if e is less than (hi, lo), else 0, without a branch.
func less(e entry, hi, lo uint64) int {
	_, b := bits.Sub64(e.lo, lo, 0)
	_, b = bits.Sub64(e.hi, hi, b)
	return int(b)
}

// lower returns the index of the first entry not less than (hi, lo).
func (n *node) lower(hi, lo uint64) int {
	base, size := 0, int(n.count)
	for size > 1 {
		half := size >> 1
		base += half & -less(n.entries[base+half-1], hi, lo)
		size -= half
	}
	if size == 1 {
		base += less(n.entries[base], hi, lo)
	}
	return base
}

func (n *node) insert(i int, e entry) {
	copy(n.entries[i+1:n.count+1], n.entries[i:n.count])
	n.entries[i] = e
	n.count++
	n.dirty = 1
}

func (n *node) remove(i int) {
	copy(n.entries[i:], n.entries[i+1:n.count])
	n.count--
	n.dirty = 1
}

// insert puts a separator at i and the child right of it at i+1.
func (n *inner) insert(i int, e entry, kid uint32) {
	c := int(n.count)
	copy(n.entries[i+1:c+1], n.entries[i:c])
	copy(n.kids[i+2:c+2], n.kids[i+1:c+1])
	n.entries[i], n.kids[i+1] = e, kid
	n.count++
	n.dirty = 1
}

// remove takes the separator i and the child right of it out.
func (n *inner) remove(i int) {
	c := int(n.count)
	copy(n.entries[i:], n.entries[i+1:c])
	copy(n.kids[i+1:], n.kids[i+2:c+1])
	n.count--
	n.dirty = 1
}
