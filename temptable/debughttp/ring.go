package debughttp

import (
	"sync"

	"github.com/spillway-db/spillway/temptable"
)

// Ring keeps the latest events of an engine. It is safe for concurrent use.
type Ring struct {
	mu    sync.Mutex
	buf   []temptable.Event
	total int64 // events so far
}

// NewRing returns a ring for n events, 1 at least.
func NewRing(n int) *Ring { return &Ring{buf: make([]temptable.Event, max(n, 1))} }

// Events are the functions that fill the ring, for temptable.Options; others
// can be added by temptable.Tee. Blocks that spill are left out: there may be
// too many, and the tier change before them says why.
func (r *Ring) Events() temptable.Events {
	ev := temptable.AllEvents(r.add)
	ev.OnSpill = nil
	return ev
}

func (r *Ring) add(e temptable.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf[r.total%int64(len(r.buf))] = e
	r.total++
}

// Recent returns the events that are kept, the latest first.
func (r *Ring) Recent() []temptable.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(r.total, int64(len(r.buf)))
	out := make([]temptable.Event, 0, n)
	for i := r.total - 1; i >= r.total-n; i-- {
		out = append(out, r.buf[i%int64(len(r.buf))])
	}
	return out
}
