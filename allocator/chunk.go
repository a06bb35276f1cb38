package allocator

import (
	"github.com/spillway-db/spillway/internal/buddy"
	"github.com/spillway-db/spillway/internal/sys"
)

const hugePage = 2 << 20

// chunk is a span of address space, a multiple of a huge page. A part of it is
// in the hands of somebody, or free in one of two buddies: hot, committed and
// idle, or cold, which takes no memory.
type chunk struct {
	mem       []byte
	hot, cold *buddy.Space
	// huge marks the huge pages that the kernel was advised of: touching one
	// byte may take them whole, so they are charged whole.
	huge []bool
}

func newChunk(mem []byte) *chunk {
	lo, hi := buddy.Order(Page), min(buddy.Order(len(mem)), buddy.Order(MaxBlock))
	c := &chunk{mem: mem, hot: buddy.New(len(mem), lo, hi), cold: buddy.New(len(mem), lo, hi),
		huge: make([]bool, len(mem)/hugePage)}
	c.cold.Add(0, len(mem))
	return c
}

// piece is a power of two bytes of a chunk, which spans at most 4 GiB.
type piece struct {
	chunk     *chunk
	off, size uint32
}

func (p piece) bytes() []byte { return p.chunk.span(int(p.off), int(p.size)) }

func (c *chunk) span(off, size int) []byte { return c.mem[off : off+size : off+size] }

// slabs is the part of c in whole huge pages that a piece lies in, and the
// marks of these.
func (c *chunk) slabs(off, size int) (mem []byte, marks []bool) {
	first, last := off/hugePage, (off+size-1)/hugePage+1
	return c.mem[first*hugePage : last*hugePage], c.huge[first:last]
}

// drop gives the pages of a piece back to the kernel. Without huge pages first:
// one byte of what is committed there later would take a whole one again,
// uncharged. An error leaves the piece committed.
func (c *chunk) drop(fs sys.FS, off, size int, huge bool) error {
	if mem, _ := c.slabs(off, size); huge {
		if err := fs.Advise(mem, sys.NoHuge); err != nil {
			return err
		}
	}
	return fs.Advise(c.span(off, size), sys.Release)
}

func setAll(marks []bool, v bool) {
	for i := range marks {
		marks[i] = v
	}
}
