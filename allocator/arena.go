package allocator

import (
	"bytes"
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

// Place returns the block that the id lies in and the offset there.
func (id RowID) Place() (block, off int) { return id.block(), id.offset() }

// Arena is the rows of one table: blocks numbered from 1, filled one after the
// other. Release and Reset only move the end back and keep the blocks, so no
// boundary can thrash; what lies behind the end is the first to go when RAM is
// short.
//
// A block takes 96 bytes of Go heap: there are 16 of each power of two that the
// table has passed, then one for 8 MiB, and those that limits cut short.
type Arena struct {
	space *Space
	mem   [][]byte // by block number, nil where the block is on disk; mem[0] is nil
	block []Block  // by block number
	size  int64    // bytes of all blocks
	cold  int      // the blocks below this number have been considered for moving down

	cur  int    // the block that the end lies in, 0 before the first
	off  int    // the end: where the next piece goes in it
	here []byte // that block's memory up to the end of the page, nil on disk
	tail Pin    // the page that the end lies in, while that block is on disk

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
func (a *Arena) Release(m Mark) {
	a.moveTo(m.cur, m.off)
	a.cold = min(a.cold, max(m.cur, 1))
}

// Reset empties the arena and keeps its blocks.
func (a *Arena) Reset() {
	a.Release(Mark{})
	keep := 1
	for i := 1; i < len(a.block); i++ {
		if a.block[i].size != 0 { // not dropped
			a.block[keep], a.mem[keep] = a.block[i], a.mem[i]
			keep++
		}
	}
	a.block, a.mem = a.block[:keep], a.mem[:keep]
}

// moveTo sets the end.
func (a *Arena) moveTo(cur, off int) {
	a.cur, a.off = cur, off
	mem := a.mem[cur]
	a.here = mem[:min(pageEnd(off), len(mem))]
}

// pageEnd is where the page ends that a byte put at off would lie in.
func pageEnd(off int) int { return off&^(DiskPage-1) + DiskPage }

// Append copies piece to the end and returns its id. The length is a positive
// multiple of 8, at most MaxPiece. On an error the arena is as it was. Cost: a
// copy; a block's worth of pieces pays once for the next block.
func (a *Arena) Append(piece []byte) (RowID, error) {
	off := a.off
	end := off + len(piece)
	if end > len(a.here) {
		return a.appendSlow(piece)
	}
	copy(a.here[off:end], piece)
	a.off = end
	return ID(a.cur, off), nil
}

// appendSlow is Append at the end of a page, at the end of a block, and on the
// disk tier.
func (a *Arena) appendSlow(piece []byte) (RowID, error) {
	was := a.Mark()
	err := a.seek(len(piece))
	if err == nil {
		err = a.write(piece)
	}
	if err != nil {
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
	size := int(a.block[a.cur].size)
	page := min(roundUp(a.off, DiskPage), size)
	switch {
	case a.off == page: // nothing is left of the page before
	case a.off+n <= page:
		return nil
	default:
		if err := a.write(endOfPage[:]); err != nil {
			return err
		}
	}
	if page == size {
		return a.nextBlock()
	}
	a.moveTo(a.cur, page)
	a.warm()
	return nil
}

// warm touches what comes next in a large block of RAM that nobody has had.
func (a *Arena) warm() {
	b := &a.block[a.cur]
	if b.fresh && b.tier == RAM && b.size > warmStep && a.off%warmStep == 0 {
		a.space.alloc.ram.warm(b.ram, a.off)
		b.fresh = a.off+warmStep < int(b.size)
	}
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
		a.space.refilled()
	} else if err := a.addBlock(); err != nil {
		return err
	}
	a.moveTo(a.cur+1, 0)
	a.warm()
	return nil
}

func (a *Arena) addBlock() error {
	if len(a.block) == maxBlocks {
		return fmt.Errorf("allocator: table has %d blocks: %w", maxBlocks-1, ErrTableLimit)
	}
	a.block = append(a.block, Block{})
	b := &a.block[len(a.block)-1]
	if err := a.space.take(b, a.nextSize(), a.leastSize()); err != nil {
		a.block = a.block[:len(a.block)-1]
		return err
	}
	a.mem = append(a.mem, b.mem())
	a.size += int64(b.size)
	return nil
}

// nextSize is how large the next block should be: 4, 4, 8, 16 KiB, then the
// power of two at or below 1/16 of what there is, to MaxBlock.
func (a *Arena) nextSize() int {
	switch {
	case a.size < 2*Page:
		return Page
	case a.size < DiskPage:
		return floorPow2(int(a.size))
	}
	return clampPow2(a.size/16, DiskPage, MaxBlock)
}

// leastSize is what it may be where a limit leaves no more: a page of RAM as
// long as that matters to the table. Below RAM it would take a DiskPage.
func (a *Arena) leastSize() int { return clampPow2(a.size/64, Page, DiskPage) }

func clampPow2(n int64, lo, hi int) int { return floorPow2(int(min(max(n, int64(lo)), int64(hi)))) }

// Blocks returns the number of the last block that holds rows.
func (a *Arena) Blocks() int { return a.cur }

// Used returns how many bytes of block no may hold rows.
func (a *Arena) Used(no int) int {
	if no == a.cur {
		return a.off
	}
	return int(a.block[no].size)
}

// Same reports whether the bytes at id are those of piece, if it can tell
// without a page of the disk table.
func (a *Arena) Same(id RowID, piece []byte) bool {
	mem, off := a.mem[id.block()], id.offset()
	return off+len(piece) <= len(mem) && bytes.Equal(mem[off:off+len(piece)], piece)
}

// Read returns the bytes from id to the end of its page, or further. Cost: two
// loads where the block can be addressed; otherwise a pin of its page, which p
// keeps until it is used again. The id must be one that Append returned.
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
	freed := int(b.size)
	if err := a.space.lower(b); err != nil {
		return 0, err
	}
	a.mem[a.cold] = b.mem()
	return freed, nil
}

// movable reports whether moveDown would find something to move.
func (a *Arena) movable() bool {
	if len(a.block)-1 > a.cur {
		return true
	}
	for ; a.cold < a.cur; a.cold++ {
		if b := &a.block[a.cold]; b.tier == RAM && b.size != 0 {
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
			return int(b.size)
		}
	}
	return 0
}

// Drop gives block no back while the table lives: what was in it is gone, and
// Holds says so. No more may be appended then before Reset, and blocks are
// dropped in ascending order.
func (a *Arena) Drop(no int) {
	b := a.block[no]
	if b.size == 0 {
		return
	}
	a.block[no], a.mem[no] = Block{}, nil
	a.size -= int64(b.size)
	a.cold = max(a.cold, no+1)
	if no == a.cur {
		a.moveTo(no, 0)
	}
	a.space.give(b, Rows)
}

// freeBelow gives back every block that is not RAM.
func (a *Arena) freeBelow() {
	a.tail.Unpin()
	for i := 1; i < len(a.block); i++ {
		if a.block[i].tier != RAM {
			a.space.give(a.block[i], Rows)
		}
	}
}
