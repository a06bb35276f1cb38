package filespace

import (
	"github.com/spillway-db/spillway/internal/buddy"
	"github.com/spillway-db/spillway/internal/sys"
)

// file is one file of the space.
type file struct {
	sys.File
	dir    *dir
	number int
	mem    []byte // the mapping, of the whole span; nil if not mapped
	size   int64  // up to where it was grown; guarded by Space.grow

	// Guarded by Space.mu.
	avail   *buddy.Space
	raw     *buddy.Space // changed under Space.grow, too
	got     int          // bytes that the device has given
	touched touched
	emptied uint32 // Space.gen when it ran empty
	bad     bool   // has faulted: hands out nothing any more
}

func newFile(d *dir, span int) *file {
	top := min(maxOrder, buddy.Order(span+1)-1)
	f := &file{dir: d,
		avail: buddy.New(span, minOrder, top),
		raw:   buddy.New(span, minOrder, top)}
	f.raw.Add(0, span)
	return f
}

// isEmpty says that nobody holds a piece of it.
func (f *file) isEmpty() bool { return f.avail.FreeBytes() == f.got }

func (f *file) isCold(off, n int) bool { return f.mem != nil && !f.touched.all(off, n) }

// coldIn is how many of n fresh bytes are cold.
func (f *file) coldIn(n int) int {
	if f.mem == nil {
		return 0
	}
	return n
}

// cold is the number of bytes that were never touched.
func (f *file) cold() int { return f.coldIn(f.got - f.touched.count()) }
