package btree

import "math/bits"

const (
	nodeSize = 1 << nodeShift // bytes
	stride   = 32             // entries between those of a search's first pass

	leafCap  = (nodeSize - 16) / 16                         // entries: 255
	innerCap = (nodeSize-16-4)/20/stride*stride - 1         // separators: 191
	leafMin  = leafCap / 4                                  // below it a leaf is merged or filled up
	innerMin = innerCap / 4                                 // the same for an inner node
	leafFit  = leafCap * 3 / 4                              // the most entries two leaves are merged into
	innerFit = innerCap * 3 / 4                             // the most separators
	innerPad = nodeSize - 16 - innerCap*16 - 4*innerCap - 4 // bytes
	freeNode = 0xff                                         // the level of a node on the free list
	maxDepth = 16                                           // 48 children at least, 2^32 nodes at most: 7
)

// Every stride-th entry has stride-1 others before it, and so has the end.
var (
	_ [(leafCap + 1) % stride]int  = [0]int{}
	_ [(innerCap + 1) % stride]int = [0]int{}
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

// node is a leaf, or what an inner node has in common with one. Entries behind
// the last are vacant.
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

// vacant is greater than every entry and ties with none.
var vacant = entry{^uint64(0), ^uint64(0)}

func vacate(list []entry) {
	for i := range list {
		list[i] = vacant
	}
}

// less is 1 if e is less than (hi, lo), else 0, without a branch.
func less(e *entry, hi, lo uint64) int {
	_, b := bits.Sub64(e.lo, lo, 0)
	_, b = bits.Sub64(e.hi, hi, b)
	return int(b)
}

// lower returns the index of the first entry not less than (hi, lo), in all
// the entries of a node, the vacant ones included. It counts what is less
// among every 32nd, then among every 8th between two of these, then between two
// of those. The loads of a pass do not wait for each other and no branch
// depends on what is there, as in a binary search: a node that is not in the
// cache costs two or three delays instead of eight.
func lower(list []entry, hi, lo uint64) int {
	at := 0
	for i := stride - 1; i < len(list); i += stride {
		at += less(&list[i], hi, lo)
	}
	at *= stride
	part := (*[stride - 1]entry)(list[at:])
	k := 8 * (less(&part[7], hi, lo) + less(&part[15], hi, lo) + less(&part[23], hi, lo))
	at += k
	rest := (*[7]entry)(part[k:])
	at += less(&rest[0], hi, lo) + less(&rest[1], hi, lo) + less(&rest[2], hi, lo) + less(&rest[3], hi, lo)
	return at + less(&rest[4], hi, lo) + less(&rest[5], hi, lo) + less(&rest[6], hi, lo)
}

// all returns the entries or separators of n, the vacant ones included.
func (n *node) all() []entry {
	if n.level != 0 {
		return n.entries[:innerCap]
	}
	return n.entries[:]
}

// begin makes n an empty node.
func (n *node) begin(h header) {
	n.header = h
	n.dirty = 1
	vacate(n.all())
}

func (n *node) insert(i int, e entry) {
	if c := int(n.count); i < c {
		copy(n.entries[i+1:c+1], n.entries[i:c])
	}
	n.entries[i] = e
	n.count++
	n.dirty = 1
}

func (n *node) remove(i int) {
	c := int(n.count)
	copy(n.entries[i:], n.entries[i+1:c])
	n.resize(c - 1)
}

// resize sets the count and vacates what is no longer used.
func (n *node) resize(count int) {
	if old := int(n.count); count < old {
		vacate(n.entries[count:old])
	}
	n.count = uint16(count)
	n.dirty = 1
}

// insert puts a separator at i and the child right of it at i+1.
func (n *inner) insert(i int, e entry, kid uint32) {
	c := int(n.count)
	copy(n.kids[i+2:c+2], n.kids[i+1:c+1])
	n.kids[i+1] = kid
	n.node().insert(i, e)
}

// remove takes the separator i and the child right of it out.
func (n *inner) remove(i int) {
	c := int(n.count)
	copy(n.kids[i+1:], n.kids[i+2:c+1])
	n.node().remove(i)
}
