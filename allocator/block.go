package allocator

import (
	"github.com/spillway-db/spillway/spill"
	"github.com/spillway-db/spillway/spill/disktable"
)

// Block is a power of two bytes on one tier: a handle, of which the part of
// its tier is set. 72 bytes of Go heap.
type Block struct {
	tier  Tier
	fresh bool   // memory was got for it; otherwise it had been idle
	size  uint32 // usable bytes
	held  uint32 // bytes charged: size, but at least DiskPage below RAM
	ram   piece
	ext   spill.Extent
	disk  disktable.Block
}

func ramBlock(p piece) Block { return Block{tier: RAM, size: p.size, held: p.size, ram: p} }

func mappedBlock(e spill.Extent) Block {
	n := uint32(e.Size())
	return Block{tier: Mmap, size: n, held: n, ext: e}
}

// mem is the memory of the block, nil on the disk tier.
func (b *Block) mem() []byte {
	switch b.tier {
	case RAM:
		return b.ram.bytes()
	case Mmap:
		return b.ext.Bytes()[:b.size:b.size]
	}
	return nil
}
