package allocator

import "github.com/spillway-db/spillway/spill/disktable"

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
