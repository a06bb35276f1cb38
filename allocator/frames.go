package allocator

import "github.com/spillway-db/spillway/spill/disktable"

// frames is the RAM of the disk table's cache. It takes what nobody else has,
// but for a little, so that blocks of small tables need not wait until it gives
// some back: see reclaim.
type frames struct{ a *Allocator }

// Frame returns a page of RAM, or nil when the limit leaves none.
func (f frames) Frame() []byte {
	if f.a.ram.room() < disktable.PageSize+f.a.reserve(false)/4 {
		return nil
	}
	p, _, err := f.a.ram.take(disktable.PageSize)
	if err != nil {
		return nil
	}
	f.a.cache.Add(disktable.PageSize)
	return p.bytes()
}

// FreeFrame gives back what Frame returned.
func (f frames) FreeFrame(mem []byte) {
	p, ok := f.a.ram.pieceAt(mem)
	if !ok {
		panic("allocator: a frame that is not ours")
	}
	f.a.cache.Add(-disktable.PageSize)
	f.a.ram.give(p)
}
