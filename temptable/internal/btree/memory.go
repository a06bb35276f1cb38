package btree

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrFull is returned when an index has used up its node numbers: 2^21 chunks,
// or pages, at 8 GiB or more.
var ErrFull = errors.New("ordered index: out of node numbers")

// Memory gives chunks of nodes that stay addressable: RAM or mapped extents.
type Memory interface {
	// AllocIndex returns n zeroed bytes aligned to 8, n a power of two of at
	// least 4 KiB. An error says that neither RAM nor an extent can be had.
	AllocIndex(n int) ([]byte, error)
	// FreeIndex takes back what AllocIndex returned, whole.
	FreeIndex(mem []byte)
}

// PageSize is the size in bytes of a [Pager]'s pages.
const PageSize = 16 << 10

// Pager gives pages behind a cache, for when Memory refuses. Any number of
// cursors may pin at the same time as each other.
type Pager interface {
	// AllocPage makes a page of unspecified content and returns its number.
	AllocPage() (uint32, error)
	FreePage(no uint32)
	// Pin returns the PageSize bytes of a page, aligned to 8, which stay where
	// they are until Unpin. Pins nest.
	Pin(no uint32) ([]byte, error)
	Unpin(no uint32, dirty bool)
}

const (
	slotBits  = 23 - nodeShift // a chunk has at most 2^11 nodes: 8 MiB
	slotMask  = 1<<slotBits - 1
	maxChunks = 1 << (32 - slotBits)
	minChunk  = 4 << 10
	midChunk  = 16 << 10
	maxChunk  = nodeSize << slotBits // bytes
)

// chunk is a run of nodes. A node's number is its chunk's number, from 1, in
// the upper 21 bits, and its slot in the lower 11; 0 is no node.
type chunk struct {
	mem  []byte // nil: a page
	page uint32
}

func (c chunk) slots() uint32 {
	if c.mem == nil {
		return PageSize / nodeSize
	}
	return uint32(len(c.mem) / nodeSize)
}

// nodes hands out the numbers of free nodes.
type nodes struct {
	base   []address // address of each chunk, nil for 0 and for pages
	chunks []chunk   // what they are; 0 is not used
	bytes  int64     // in chunks of Memory
	paged  int64     // in pages
	next   uint32    // the first node that has not been used since reset
	free   uint32    // nodes that were given back, linked by next
	inUse  int
}

func (s *nodes) reset() {
	s.next, s.free, s.inUse = 1<<slotBits, 0, 0
}

// resident returns the node no, nil if it is in a page or no is 0.
func (s *nodes) resident(no uint32) *node {
	if base := s.base[no>>slotBits]; base != nil {
		return nodeAt(base, no&slotMask)
	}
	return nil
}

// access is the one way to a node. The nodes that it reaches in pages stay
// pinned until release.
type access struct {
	t    *Tree
	held []held
	err  error // why node returned nil
}

// held is a pinned page.
type held struct {
	mem  []byte
	page uint32
}

// node returns the node no, nil if its page cannot be had: err then says why.
// A node that is held already can always be had.
func (a *access) node(no uint32) *node {
	if n := a.t.resident(no); n != nil {
		return n
	}
	return a.pin(no)
}

func (a *access) pin(no uint32) *node {
	page := a.t.chunks[no>>slotBits].page
	for i := range a.held {
		if a.held[i].page == page {
			return nodeAt(baseOf(a.held[i].mem), no&slotMask)
		}
	}
	mem, err := a.t.pages.Pin(page)
	if err != nil {
		a.err = fmt.Errorf("ordered index: pinning page %d: %w", page, err)
		return nil
	}
	a.held = append(a.held, held{mem, page})
	return nodeAt(baseOf(mem), no&slotMask)
}

// release unpins every page. Those with a written node are dirty.
func (a *access) release() {
	if len(a.held) != 0 {
		a.unpin()
	}
}

func (a *access) unpin() {
	for _, h := range a.held {
		a.t.pages.Unpin(h.page, clean(h.mem))
	}
	clear(a.held)
	a.held = a.held[:0]
}

// clean takes back the dirty marks of a page's nodes and says if one was set.
func clean(mem []byte) (dirty bool) {
	for i := range uint32(PageSize / nodeSize) {
		if n := nodeAt(baseOf(mem), i); n.dirty == 1 {
			n.dirty, dirty = 0, true
		}
	}
	return dirty
}

// take returns the number of a free node, of unspecified content.
func (t *Tree) take() (uint32, error) {
	no := t.free
	if no != 0 {
		n := t.node(no)
		if n == nil {
			return 0, t.err
		}
		t.free = n.next
	} else if no = t.nextUnused(); no == 0 {
		if err := t.grow(); err != nil {
			return 0, err
		}
		no = t.nextUnused()
	}
	t.inUse++
	return no, nil
}

// nextUnused goes on through the chunks; it returns 0 behind the last.
func (t *Tree) nextUnused() uint32 {
	c := t.next >> slotBits
	if int(c) == len(t.chunks) {
		return 0
	}
	no := t.next
	if t.next++; no&slotMask+1 == t.chunks[c].slots() {
		t.next = (c + 1) << slotBits
	}
	return no
}

// give puts a node that is held on the free list.
func (t *Tree) give(no uint32) {
	n := t.node(no)
	poison(n)
	n.header = header{level: freeNode, dirty: 1, next: t.free}
	t.free = no
	t.inUse--
}

// grow adds a chunk of the size that suits what there is, or a smaller one, or
// a page.
func (t *Tree) grow() error {
	if len(t.chunks) == maxChunks {
		return ErrFull
	}
	size := chunkSize(t.bytes)
	if t.paged > 0 {
		size = min(size, PageSize) // what has been refused will be again
	}
	mem, err := t.alloc(size)
	if err == nil {
		t.bytes += int64(len(mem))
		t.add(chunk{mem: mem}, baseOf(mem))
		return nil
	}
	if t.pages == nil {
		return fmt.Errorf("ordered index: growing from %d bytes: %w", t.bytes, err)
	}
	page, err := t.pages.AllocPage()
	if err != nil {
		return fmt.Errorf("ordered index: growing from %d bytes: %w", t.bytes+t.paged, err)
	}
	t.paged += PageSize
	t.add(chunk{page: page}, nil)
	return nil
}

func (s *nodes) add(c chunk, base address) {
	s.chunks = append(s.chunks, c)
	s.base = append(s.base, base)
}

// alloc asks for n bytes, and for less where n is refused.
func (t *Tree) alloc(n int) ([]byte, error) {
	for {
		mem, err := t.mem.AllocIndex(n)
		if err == nil || n == minChunk {
			return mem, err
		}
		n /= 2
	}
}

// chunkSize is the size of the next chunk of an index that has n bytes: 4, 4,
// 8, 16 KiB, then a sixteenth, so that little is unused at any size.
func chunkSize(n int64) int {
	want := max(minChunk, min(n, midChunk), min(n/16, maxChunk))
	return 1 << (bits.Len64(uint64(want)) - 1)
}

// giveBack returns all chunks and pages.
func (t *Tree) giveBack() {
	for _, c := range t.chunks[1:] {
		if c.mem != nil {
			t.mem.FreeIndex(c.mem)
		} else {
			t.pages.FreePage(c.page)
		}
	}
	clear(t.chunks)
	clear(t.base)
	t.chunks, t.base = t.chunks[:1], t.base[:1]
	t.bytes, t.paged = 0, 0
}
