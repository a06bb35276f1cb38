package filespace

import (
	"fmt"
	"syscall"
)

// Piece is a part of a file, held by one owner from Take or Alloc to Free. The
// zero Piece is none.
type Piece struct {
	f     *file
	off   uint32
	order uint8
}

// IsZero says that p is no piece.
func (p Piece) IsZero() bool { return p.f == nil }

// Size is the number of bytes: a power of two from MinPiece to MaxPiece.
func (p Piece) Size() int { return 1 << p.order }

// Page numbers the units of MinPiece bytes that pieces consist of: p has
// Page() and those that follow, Size()/MinPiece in all. No two pieces that are
// held at the same time share a number.
func (p Piece) Page() uint64 {
	return uint64(p.f.number)<<(32-minOrder) | uint64(p.off>>minOrder)
}

// Bytes is the mapped piece, Size() bytes; nil if the space is not mapped. It
// may be used until Free.
func (p Piece) Bytes() []byte {
	if p.f.mem == nil {
		return nil
	}
	end := int(p.off) + p.Size()
	return p.f.mem[p.off:end:end]
}

// ReadAt fills b from off bytes into the piece. Past the end of the piece it
// returns EINVAL.
func (p Piece) ReadAt(b []byte, off int) (int, error) {
	if err := p.inside(len(b), off); err != nil {
		return 0, err
	}
	return p.f.ReadAt(b, int64(p.off)+int64(off))
}

// WriteAt writes b at off bytes into the piece. Past the end of the piece it
// returns EINVAL.
func (p Piece) WriteAt(b []byte, off int) (int, error) {
	if err := p.inside(len(b), off); err != nil {
		return 0, err
	}
	return p.f.WriteAt(b, int64(p.off)+int64(off))
}

// WritevAt writes bufs, one behind the other, at off bytes into the piece.
func (p Piece) WritevAt(bufs [][]byte, off int) (int, error) {
	n := 0
	for _, b := range bufs {
		n += len(b)
	}
	if err := p.inside(n, off); err != nil {
		return 0, err
	}
	return p.f.WritevAt(bufs, int64(p.off)+int64(off))
}

func (p Piece) inside(n, off int) error {
	if off < 0 || n > p.Size()-off {
		return fmt.Errorf("access [%d, %d) of a piece of %d bytes: %w", off, off+n, p.Size(), syscall.EINVAL)
	}
	return nil
}
