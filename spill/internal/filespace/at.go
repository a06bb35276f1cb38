package filespace

import (
	"github.com/spillway-db/spillway/internal/buddy"
	"github.com/spillway-db/spillway/internal/sys"
)

// At is the piece of n bytes that starts with mem. The zero Piece if there is
// none. Cost: a look at each file.
func (s *Space) At(mem []byte, n int) Piece {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f == nil {
			continue
		}
		if off, ok := sys.Offset(f.mem, mem); ok {
			return Piece{f: f, off: uint32(off), order: uint8(buddy.Order(n))}
		}
	}
	return Piece{}
}
