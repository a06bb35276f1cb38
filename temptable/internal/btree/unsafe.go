package btree

import "unsafe"

// Nodes have exactly the size of a slot, so that a view never leaves its chunk.
var (
	_ [nodeSize]byte = [unsafe.Sizeof(node{})]byte{}
	_ [nodeSize]byte = [unsafe.Sizeof(inner{})]byte{}
)

// address is where a chunk begins.
type address = unsafe.Pointer

// nodeAt views slot i of a chunk as a node. base comes from baseOf of a chunk
// of more than i slots; node has no pointers, and chunks are aligned to 8.
func nodeAt(base address, i uint32) *node {
	return (*node)(unsafe.Add(base, i<<nodeShift))
}

// inner views n as an inner node: both types have the size of a slot and
// begin with the same header and entries.
func (n *node) inner() *inner { return (*inner)(unsafe.Pointer(n)) }

// node views n as far as it is like a leaf.
func (n *inner) node() *node { return (*node)(unsafe.Pointer(n)) }

// baseOf is the address of a chunk, which stays where it is while it is held:
// memory outside the Go heap, or a heap object that the pointer keeps alive.
func baseOf(mem []byte) address { return unsafe.Pointer(unsafe.SliceData(mem)) }
