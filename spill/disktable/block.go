package disktable

import "github.com/spillway-db/spillway/spill/internal/filespace"

const (
	// PageSize is the unit of the cache and of all page I/O, in bytes.
	PageSize = 16 << 10
	// MaxBlock is the largest block, in bytes.
	MaxBlock = filespace.MaxPiece
)

// A page of the cache is a unit by which the file space numbers its pieces.
const _ = uint(PageSize-filespace.MinPiece) + uint(filespace.MinPiece-PageSize)

// Block is a place on the device: a run of pages, a power of two of them. It
// is a small value that may be copied and compared; the zero Block is none.
type Block struct {
	owner *Owner
	piece filespace.Piece
}

// Size returns the size of the block in bytes; 0 if it is none.
func (b Block) Size() int {
	if b.piece.IsZero() {
		return 0
	}
	return b.piece.Size()
}

// pages returns how many pages b has.
func (b Block) pages() int { return b.Size() / PageSize }

// key returns the name of a page of b in the page table.
func (b Block) key(page int) key { return key(b.piece.Page()) + key(page) + 1 }

// holds reports whether b has such a page.
func (b Block) holds(page int) bool { return uint(page) < uint(b.pages()) }

// covers reports whether [off, off+n) lies in b.
func (b Block) covers(off, n int) bool {
	return off >= 0 && n >= 0 && off <= b.Size() && n <= b.Size()-off
}

// key names a page over all files of the store: its number in the file space,
// plus 1. 0 is none. It has 41 bits: 8 million files.
type key uint64

// group names the pages that share a shard and may be written in one go.
func (k key) group() uint64 { return uint64(k-1) / groupPages }
