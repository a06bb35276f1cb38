package btree

import (
	"errors"
	"sync"
)

// ErrRowID is returned for a row id that is 0 or does not fit 48 bits.
var ErrRowID = errors.New("ordered index: row id out of range")

// Tree is an ordered index. It serves one mutating call, or any number of
// cursors that read, at a time; the owner sees to that. Make one with [New].
type Tree struct {
	access // of the mutating calls
	nodes

	mem   Memory
	pages Pager

	root   uint32 // 0: empty
	first  uint32 // the leftmost leaf
	last   uint32 // the rightmost leaf
	depth  int    // levels
	leaves int
	length int
	rising bool // the last insertion was behind all others
	plan   plan // what Publish is to do

	want   want             // what Reserve or Delete is about
	path   [maxDepth]step   // where it is: root first, leaf last
	spare  [maxDepth]uint32 // nodes that Publish may use
	spares int

	version uint64 // grows with each change of what cursors see

	mu      sync.Mutex // guards the list against cursors opened by readers
	cursors *Cursor
}

// plan is what a successful Reserve leaves for Publish.
type plan uint8

const (
	nothing  plan = iota
	toPlace       // insert at the path
	toAppend      // add to the last leaf, which has room; no cursor is open
)

// step is a node on the way down and the index of the child, or of the entry,
// that the way goes through.
type step struct {
	no uint32
	i  int
}

// New returns an empty index that takes nothing before the first insertion.
// pages is where it goes when mem refuses; nil lets the refusal be an error.
func New(mem Memory, pages Pager) *Tree {
	t := &Tree{mem: mem, pages: pages}
	t.access.t = t
	t.base, t.chunks = make([]address, 1), make([]chunk, 1)
	t.reset()
	return t
}

// Len returns the number of entries.
func (t *Tree) Len() int { return t.length }

// Version tells whether the index has changed: it differs then.
func (t *Tree) Version() uint64 { return t.version }

// Clear removes all entries and keeps the memory. Cursors stand nowhere then.
func (t *Tree) Clear() {
	t.version++
	t.Cancel()
	t.nodes.reset()
	t.root, t.first, t.last = 0, 0, 0
	t.depth, t.leaves, t.length, t.spares = 0, 0, 0, 0
	t.rising = false
	t.forgetCursors()
}

// Free removes all entries and gives the memory back. The index is as new.
func (t *Tree) Free() {
	t.Clear()
	t.giveBack()
	t.want = want{}
}

// Stats says what an index is made of.
type Stats struct {
	Entries int
	Depth   int     // levels, 0 when empty
	Leaves  int     // nodes of 4 KiB
	Nodes   int     // leaves and inner nodes
	Bytes   int64   // taken from Memory, free nodes included
	Paged   int64   // bytes in pages, the same
	Fill    float64 // how full the leaves are, 0 to 1
}

// Stats returns the present state in O(1).
func (t *Tree) Stats() Stats {
	return Stats{
		Entries: t.length, Depth: t.depth, Leaves: t.leaves,
		Nodes: t.inUse - t.spares, Bytes: t.bytes, Paged: t.paged,
		Fill: float64(t.length) / float64(max(1, t.leaves)*leafCap),
	}
}
