package allocator

import (
	"fmt"

	"github.com/spillway-db/spillway/spill/disktable"
)

// Pages is space of the disk table for one run of an index: consecutive
// DiskPages, in blocks of one size.
type Pages struct {
	space  *Space
	blocks []Block
	size   int // of each block, in bytes
}

// AllocPages returns space for n pages. It exists on the device. Up to 1/8 of
// it is unused. ErrNoTier without a disk table; otherwise the limit or the
// device that refused.
func (s *Space) AllocPages(n int) (*Pages, error) {
	if !s.alloc.HasDisk() {
		return nil, fmt.Errorf("allocator: %d pages for an index: %w", n, ErrNoTier)
	}
	total := n * DiskPage
	p := &Pages{space: s, size: min(max(floorPow2(total/8+1), DiskPage), MaxBlock)}
	for got := 0; got < total; got += p.size {
		var b Block
		if why := s.takeFrom(&b, Disk, p.size, p.size, Index); why.refused() {
			p.Free()
			return nil, fmt.Errorf("%d pages for an index: %w", n, s.alloc.refusalError(why))
		}
		p.blocks = append(p.blocks, b)
	}
	return p, nil
}

// HasDisk reports whether there is a disk table.
func (a *Allocator) HasDisk() bool { return a.disk != nil }

// ReadAt fills dst with what was written at off; it may not cross a page.
func (p *Pages) ReadAt(dst []byte, off int64) error {
	b, in := p.at(off)
	return p.space.alloc.disk.ReadAt(b, in, dst)
}

// WriteAt writes src at off.
func (p *Pages) WriteAt(src []byte, off int64) error {
	for len(src) > 0 {
		b, in := p.at(off)
		n, err := p.writePage(b, in, src)
		if err != nil {
			return err
		}
		src, off = src[n:], off+int64(n)
	}
	return nil
}

// writePage writes what of src goes into the page at in, and returns how much.
// A page is written for the first time from its start.
func (p *Pages) writePage(b disktable.Block, in int, src []byte) (int, error) {
	page, off := in/DiskPage, in%DiskPage
	how := disktable.Read
	if off == 0 && len(src) >= DiskPage {
		how = disktable.New
	}
	f, err := p.space.alloc.disk.Pin(b, page, how)
	if err != nil {
		return 0, err
	}
	f.Dirty()
	n := copy(f.Bytes()[off:], src)
	f.Unpin()
	return n, nil
}

func (p *Pages) at(off int64) (disktable.Block, int) {
	return p.blocks[off/int64(p.size)].disk, int(off % int64(p.size))
}

// Free gives the space back.
func (p *Pages) Free() {
	for _, b := range p.blocks {
		p.space.give(b, Index)
	}
	p.blocks = nil
}
