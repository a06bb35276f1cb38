package allocator

import (
	"fmt"
	"math/bits"

	"github.com/spillway-db/spillway/spill/disktable"
)

// A row id is the number of a block and an offset in it, in units of 8 bytes.
const (
	offBits   = 20 // 8 MiB / 8
	offMask   = 1<<offBits - 1
	maxBlocks = 1 << 28
)

// RowID is the address of a piece of a row: its block's number and its offset
// there. 0 is nil. It stays the same when the block moves to another tier.
type RowID uint64

// ID makes the id of what starts at off, a multiple of 8, in a block.
func ID(block, off int) RowID { return RowID(block)<<offBits | RowID(off>>3) }
func (id RowID) block() int   { return int(id >> offBits) }
func (id RowID) offset() int  { return int(id&offMask) << 3 }
func roundUp(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }
func floorPow2(n int) int     { return 1 << (bits.Len(uint(n)) - 1) }
func ceilPow2(n int) int      { return 1 << bits.Len(uint(n-1)) }

// Place returns the block that the id lies in and the offset there.
func (id RowID) Place() (block, off int) { return id.block(), id.offset() }

// Arena is the rows of one table: blocks numbered from 1, filled one after the
// other. It never gives back a block while the table lives, except through
// Trim: Release and Reset only move the end back, so no boundary can thrash.
type Arena struct {
	space *Space
	mem   [][]byte // by block number, nil where the block is on disk; mem[0] is nil
	block []Block  // by block number
	cur   int      // the block that the end lies in, 0 before the first
	off   int      // the end: where the next piece goes in it
	size  int64    // bytes of all blocks
	tail  Pin      // the page that the end lies in, while that block is on disk
	cold  int      // the blocks below this number have been considered for moving down

	inlineMem   [4][]byte
	inlineBlock [4]Block
}

func (a *Arena) init(s *Space) {
	a.space = s
	a.mem, a.block = a.inlineMem[:1], a.inlineBlock[:1]
	a.cold = 1
}

// Mark is a position of the end of an Arena.
type Mark struct{ cur, off int }

// Mark returns the present end.
func (a *Arena) Mark() Mark { return Mark{a.cur, a.off} }

// End returns an id that is above those of all pieces before the end and not
// above that of any piece appended later.
func (a *Arena) End() RowID { return RowID(a.cur)<<offBits + RowID(a.off>>3) }

// Release moves the end back to m, a mark taken since the last Reset. What was
// appended after it is gone; its blocks are used again by what comes next.
func (a *Arena) Release(m Mark) { a.cur, a.off = m.cur, m.off }

// Reset empties the arena and keeps its blocks.
func (a *Arena) Reset() { a.Release(Mark{}) }

// Append copies piece to the end and returns its id. The length is a positive
// multiple of 8, at most MaxPiece. On an error the arena is as it was. Cost: a
// copy; a block's worth of pieces pays once for the next block.
func (a *Arena) Append(piece []byte) (RowID, error) {
	end := a.off + len(piece)
	if a.cur != 0 && a.mem[a.cur] != nil && end <= a.off|(DiskPage-1)+1 && end <= len(a.mem[a.cur]) {
		copy(a.mem[a.cur][a.off:end], piece)
		id := ID(a.cur, a.off)
		a.off = end
		return id, nil
	}
	return a.appendSlow(piece)
}

// appendSlow is Append at the end of a page, at the end of a block, and on the
// disk tier.
func (a *Arena) appendSlow(piece []byte) (RowID, error) {
	was := a.Mark()
	if err := a.seek(len(piece)); err != nil {
		a.Release(was)
		return 0, err
	}
	if err := a.write(piece); err != nil {
		a.Release(was)
		return 0, err
	}
	id := ID(a.cur, a.off)
	a.off += len(piece)
	return id, nil
}

// seek moves the end to where n bytes fit: here, on the next page or in the
// next block. What is left of a page is marked unused by a zero header.
func (a *Arena) seek(n int) error {
	if a.cur == 0 {
		return a.nextBlock()
	}
	size := a.block[a.cur].size
	page := min(roundUp(a.off+1, DiskPage), size)
	if a.off+n <= page {
		return nil
	}
	if a.off < page {
		if err := a.write(endOfPage[:]); err != nil {
			return err
		}
	}
	if page < size {
		a.off = page
		return nil
	}
	return a.nextBlock()
}

// endOfPage is the header of a row of no length: the rest of the page is
// unused.
var endOfPage [8]byte

// write copies p to the end, which has room for it, and does not move the end.
func (a *Arena) write(p []byte) error {
	if mem := a.mem[a.cur]; mem != nil {
		copy(mem[a.off:a.off+len(p)], p)
		return nil
	}
	in, how := a.off&(DiskPage-1), disktable.Read
	if in == 0 {
		how = disktable.New
	}
	mem, err := a.tail.page(a, a.cur, a.off/DiskPage, how)
	if err != nil {
		return err
	}
	a.tail.frame.Dirty()
	copy(mem[in:in+len(p)], p)
	a.tail.Unpin()
	return nil
}

// nextBlock moves the end to the start of the next block, which is taken if
// there is none.
func (a *Arena) nextBlock() error {
	if a.cur+1 < len(a.block) {
		a.cur, a.off = a.cur+1, 0
		return nil
	}
	if len(a.block) == maxBlocks {
		return fmt.Errorf("allocator: table has %d blocks: %w", len(a.block), ErrTableLimit)
	}
	b, err := a.space.take(a.nextSize(), Page, Rows)
	if err != nil {
		return err
	}
	a.block = append(a.block, b)
	a.mem = append(a.mem, b.mem)
	a.size += int64(b.size)
	a.cur, a.off = len(a.block)-1, 0
	return nil
}

// nextSize is how large the next block should be: 4, 4, 8, 16 KiB, then the
// power of two at or below 1/16 of what there is, to MaxBlock.
func (a *Arena) nextSize() int {
	switch {
	case a.size < 2*Page:
		return Page
	case a.size < DiskPage:
		return int(a.size)
	}
	return min(max(floorPow2(int(a.size/16)), DiskPage), MaxBlock)
}

// Blocks returns the number of the last block that holds rows.
func (a *Arena) Blocks() int { return a.cur }

// Used returns how many bytes of block no may hold rows.
func (a *Arena) Used(no int) int {
	if no == a.cur {
		return a.off
	}
	return a.block[no].size
}

// Pin holds at most one page of the disk table in memory. The zero Pin holds
// none. It must be unpinned before another Pin is used, and before the arena
// is changed.
type Pin struct {
	frame *disktable.Frame
	mem   []byte
	block int
	no    int
	held  bool
}

// Unpin lets the page go. What Read returned from the disk tier dies.
func (p *Pin) Unpin() {
	if p.held {
		p.frame.Unpin()
		p.held = false
	}
}

func (p *Pin) page(a *Arena, block, no int, how disktable.How) ([]byte, error) {
	same := p.frame != nil && p.block == block && p.no == no
	if p.held && same {
		return p.mem, nil
	}
	p.Unpin()
	b := &a.block[block]
	if same && p.frame.Repin(b.disk, no) {
		p.mem, p.held = p.frame.Bytes(), true
		return p.mem, nil
	}
	f, err := a.space.alloc.disk.Pin(b.disk, no, how)
	if err != nil {
		p.frame = nil
		return nil, err
	}
	*p = Pin{frame: f, mem: f.Bytes(), block: block, no: no, held: true}
	return p.mem, nil
}

// Read returns the bytes from id to the end of its page. Cost: two loads where
// the block can be addressed; otherwise a pin of its page, which p keeps until
// it is used again. The id must be one that Append returned.
func (a *Arena) Read(id RowID, p *Pin) ([]byte, error) {
	if mem := a.mem[id.block()]; mem != nil {
		return mem[id.offset():], nil
	}
	return a.readPage(id.block(), id.offset(), p)
}

func (a *Arena) readPage(block, off int, p *Pin) ([]byte, error) {
	mem, err := p.page(a, block, off/DiskPage, disktable.Read)
	if err != nil {
		return nil, err
	}
	return mem[off&(DiskPage-1):], nil
}

// Holds reports whether id lies before the end of the arena. It does not say
// that something was appended just there.
func (a *Arena) Holds(id RowID) bool {
	no := uint64(id) >> offBits
	return no > 0 && no <= uint64(a.cur) && id.offset() < a.Used(int(no))
}

// ReadPage returns page no of a block, of which Used tells how much may be
// read, for a scan.
func (a *Arena) ReadPage(block, no int, p *Pin) ([]byte, error) {
	off := no * DiskPage
	if mem := a.mem[block]; mem != nil {
		return mem[off:min(off+DiskPage, len(mem))], nil
	}
	return a.readPage(block, off, p)
}

// Write returns the n bytes at id for writing, until p is unpinned.
func (a *Arena) Write(id RowID, n int, p *Pin) ([]byte, error) {
	mem, err := a.Read(id, p)
	if err != nil {
		return nil, err
	}
	if p.held {
		p.frame.Dirty()
	}
	return mem[:n:n], nil
}

// OnDisk reports whether the piece lies in the disk table, and if so a number
// that orders such pieces by page.
func (a *Arena) OnDisk(id RowID) (page uint64, ok bool) {
	return uint64(id) >> (14 - 3), a.mem[id.block()] == nil
}

// moveDown takes RAM from the arena: an unused block behind the end is given
// back, otherwise the coldest full RAM block moves to a lower tier. It reports
// how many bytes of RAM that freed; 0 without an error: none can go.
func (a *Arena) moveDown() (int, error) {
	if n := a.dropUnused(); n != 0 {
		return n, nil
	}
	if !a.movable() {
		return 0, nil
	}
	b := &a.block[a.cold]
	if err := a.space.lower(b); err != nil {
		return 0, err
	}
	a.mem[a.cold] = b.mem
	return b.size, nil
}

// movable reports whether moveDown would find something to move.
func (a *Arena) movable() bool {
	if len(a.block)-1 > a.cur {
		return true
	}
	for ; a.cold < a.cur; a.cold++ {
		if a.block[a.cold].tier == RAM {
			return true
		}
	}
	return false
}

// dropUnused gives back blocks behind the end until one of them was RAM.
func (a *Arena) dropUnused() int {
	for last := len(a.block) - 1; last > a.cur; last-- {
		b := a.block[last]
		a.block, a.mem = a.block[:last], a.mem[:last]
		a.size -= int64(b.size)
		a.space.give(b, Rows)
		if b.tier == RAM {
			return b.size
		}
	}
	return 0
}

// Drop gives block no back while the table lives: what was in it is gone, and
// Holds says so. No more may be appended then, and blocks are dropped in
// ascending order.
func (a *Arena) Drop(no int) {
	b := a.block[no]
	if b.size == 0 {
		return
	}
	a.block[no], a.mem[no] = Block{}, nil
	a.size -= int64(b.size)
	a.cold = max(a.cold, no+1)
	a.space.give(b, Rows)
}

// free gives every block back.
func (a *Arena) free() {
	a.tail.Unpin()
	for i := 1; i < len(a.block); i++ {
		if a.block[i].size != 0 {
			a.space.give(a.block[i], Rows)
		}
	}
	*a = Arena{}
}
