package hashindex

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	pageSlots = PageSize / slotBytes

	// A lookup reads a window of a page: 4 KiB.
	windowSlots    = 256
	windowsPerPage = pageSlots / windowSlots
)

// run is a file of entries in the order of their mixed hashes. An entry that
// was removed keeps its hash and has id 0.
type run struct {
	pages  Pages
	n      int      // entries, removed ones included
	dead   int      // removed ones
	fences []uint64 // the first hash of each page
	filter filter
}

func (r *run) live() int { return r.n - r.dead }

// page is the memory of a page.
type page [pageSlots]slot

// scratch lends the buffers that go through Disk, which would escape to the
// heap one by one otherwise. It holds as many as were ever in use at a time,
// less what the collector took.
type scratch struct {
	pages   sync.Pool
	cursors sync.Pool
}

func (s *scratch) page() *page {
	if p, ok := s.pages.Get().(*page); ok {
		return p
	}
	return new(page)
}

func (s *scratch) cursor() *cursor {
	if c, ok := s.cursors.Get().(*cursor); ok {
		c.run, c.window = nil, -1
		return c
	}
	return &cursor{window: -1}
}

// traffic counts what went through Disk, in pages or parts of pages.
type traffic struct{ reads, writes atomic.Int64 }

// cursor is a position in a run, and the window that it lies in.
type cursor struct {
	run    *run
	count  *traffic
	pos    int // of the entry
	window int // that slots holds; -1: none
	slots  [windowSlots]slot
}

// open sets the cursor to the first entry of r whose hash is at least m.
func (c *cursor) open(r *run, m uint64, count *traffic) error {
	if c.run != r {
		c.run, c.count, c.window = r, count, -1
	}
	first, guess, end := r.guess(m)
	err := c.load(guess)
	for w := guess; err == nil && w > first && c.slots[0].m >= m; {
		w--
		err = c.load(w)
	}
	for err == nil && c.window+1 < end && c.slots[windowSlots-1].m < m {
		err = c.load(c.window + 1)
	}
	if err != nil {
		return err
	}
	in := c.slots[:min(windowSlots, r.n-c.window*windowSlots)]
	k, _ := slices.BinarySearchFunc(in, m, func(s slot, m uint64) int { return compare(s.m, m) })
	c.pos = c.window*windowSlots + k
	return nil
}

// find is open, and the first of the ids that next gives.
func (c *cursor) find(r *run, m uint64, count *traffic) (uint64, error) {
	if err := c.open(r, m, count); err != nil {
		return 0, err
	}
	return c.next(m)
}

// guess returns the windows [first, end) of the page that the first entry of
// hash m or above lies in, if it is not the one behind; and the window that it
// is in if the hashes of the page are evenly spread.
func (r *run) guess(m uint64) (first, guess, end int) {
	p, _ := slices.BinarySearch(r.fences, m)
	p = max(p-1, 0)
	lo, hi := r.fences[p], ^uint64(0)
	if p+1 < len(r.fences) {
		hi = r.fences[p+1]
	}
	from, to := p*pageSlots, min(r.n, (p+1)*pageSlots)
	first, end = from/windowSlots, (to+windowSlots-1)/windowSlots
	if m <= lo {
		return first, first, end
	}
	at := from + int(float64(m-lo)/float64(hi-lo)*float64(to-from))
	return first, min(at/windowSlots, end-1), end
}

// load makes window w the one in memory.
func (c *cursor) load(w int) error {
	if c.window == w {
		return nil
	}
	c.window = -1
	n := min(windowSlots, c.run.n-w*windowSlots)
	if err := c.run.pages.ReadAt(slotBytesOf(c.slots[:n]), int64(w)*windowSlots*slotBytes); err != nil {
		return fmt.Errorf("hashindex: read entries on disk: %w", err)
	}
	c.count.reads.Add(1)
	c.window = w
	return nil
}

// next returns the id of the next entry if its hash is m. It skips removed
// ones.
func (c *cursor) next(m uint64) (id uint64, err error) {
	for c.pos < c.run.n {
		if err := c.load(c.pos / windowSlots); err != nil {
			return 0, err
		}
		s := c.slots[c.pos%windowSlots]
		if s.m != m {
			return 0, nil
		}
		c.pos++
		if s.id != 0 {
			return s.id, nil
		}
	}
	return 0, nil
}

// strike removes the entry that next has returned. The cursor is not used
// again after an error.
func (c *cursor) strike() error {
	pos := c.pos - 1
	s := &c.slots[pos%windowSlots]
	s.id = 0
	if err := c.run.pages.WriteAt(slotBytesOf(c.slots[pos%windowSlots:][:1]), int64(pos)*slotBytes); err != nil {
		return fmt.Errorf("hashindex: remove an entry on disk: %w", err)
	}
	c.count.writes.Add(1)
	c.run.dead++
	return nil
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// writer makes a run of entries that come in order.
type writer struct {
	run   run
	page  *page
	in    int // entries in page
	count *traffic
}

// newWriter returns a writer for at most n entries, with space for them.
func newWriter(d Disk, n int, p *page, count *traffic) (*writer, error) {
	pages, err := d.AllocPages((n + pageSlots - 1) / pageSlots)
	if err != nil {
		return nil, err
	}
	return &writer{run: run{pages: pages, fences: make([]uint64, 0, (n+pageSlots-1)/pageSlots)}, page: p, count: count}, nil
}

func (w *writer) add(e slot) error {
	w.page[w.in] = e
	if w.in++; w.in < pageSlots {
		return nil
	}
	return w.flush()
}

// flush writes what is in the page. Only the last one may be partly filled.
func (w *writer) flush() error {
	if w.in == 0 {
		return nil
	}
	w.run.fences = append(w.run.fences, w.page[0].m)
	if err := w.run.pages.WriteAt(slotBytesOf(w.page[:w.in]), int64(w.run.n)*slotBytes); err != nil {
		return err
	}
	w.count.writes.Add(1)
	w.run.n += w.in
	w.in = 0
	return nil
}
