package allocator

import (
	"time"

	"github.com/spillway-db/spillway/internal/sys"
)

const (
	// warmStep is how much is touched at a time, by one call instead of a page
	// fault for each page: 0.35 ms/MiB of CPU against 0.55.
	warmStep = 128 << 10
	// hugeFrom is from how much RAM on huge pages are asked for. They make
	// random reads of 512 MiB a third faster and take 0.15 ms/MiB, but now and
	// then the kernel moves memory around first, for tens of milliseconds a
	// page: after one that took longer than slowHuge, hugeRest others are not
	// asked for.
	hugeFrom = 256 << 20
	slowHuge = time.Millisecond
	hugeRest = 64
)

// warm touches the next part of a piece that nobody has used yet, from off on:
// warmStep bytes, or a huge page where one begins. Who has the piece calls it,
// without the lock. All of it are hints.
func (r *ram) warm(p piece, off int) {
	at, n := int(p.off)+off, min(warmStep, int(p.size)-off)
	if off%hugePage == 0 && p.size >= hugePage && r.mayEnlarge() {
		n = hugePage
		r.enlarge(p.chunk, at)
	}
	if n > Page {
		_ = r.fs.Advise(p.chunk.span(at, n), sys.Populate)
	}
}

// mayEnlarge reports whether it is time for a huge page, each time that it is
// asked after one was slow a little more.
func (r *ram) mayEnlarge() bool {
	return r.budget.used.Load() >= hugeFrom && (r.rest.Load() <= 0 || r.rest.Add(-1) < 0)
}

// enlarge makes a huge page at off, and rests if that took long.
func (r *ram) enlarge(c *chunk, off int) {
	mem, marks := c.slabs(off, hugePage)
	if r.fs.Advise(mem, sys.Huge) != nil {
		return
	}
	setAll(marks, true)
	since := time.Now()
	_ = r.fs.Advise(mem[:Page], sys.Populate)
	if time.Since(since) > slowHuge {
		r.rest.Store(hugeRest)
	}
}
