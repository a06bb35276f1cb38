package disktable

import (
	"sync/atomic"

	"github.com/spillway-db/spillway/internal/invariants"
)

// The state word of a frame: the number of its pins, three marks, and the key
// of its page.
const (
	pins  = 1<<20 - 1 // mask of the pins
	busy  = 1 << 20   // one goroutine has the frame for itself
	dirty = 1 << 21   // differs from the file
	used  = 1 << 22   // pinned again since the hand last came by

	keyShift = 23
)

// keyOf returns the page in a state word.
func keyOf(w uint64) key { return key(w >> keyShift) }

// word returns the state of a frame that holds page k.
func word(k key, marks uint64) uint64 { return uint64(k)<<keyShift | marks }

// Frame is a page in memory. Its descriptor lives as long as the store, its
// memory may be given back and come again, and it may hold another page each
// time it is looked at: only a pin keeps it.
type Frame struct {
	state atomic.Uint64
	data  *[PageSize]byte // nil while the descriptor has no memory
	block Block           // that of the page; set before the page can be found
	store *Store
	next  *Frame  // in a bucket or in a list, under the lock of that
	_     [8]byte // one cache line a frame
}

// Bytes returns the page: PageSize bytes, valid until Unpin. Who writes to
// them calls Dirty before Unpin.
func (f *Frame) Bytes() []byte { return f.data[:] }

// Dirty says that the bytes are to be written back before the frame is used
// for another page. The frame is pinned by the caller.
func (f *Frame) Dirty() {
	if f.state.Load()&dirty == 0 {
		f.state.Or(dirty)
	}
}

// Unpin ends the use of the bytes. Cost: one atomic addition, while nobody
// waits for a frame.
func (f *Frame) Unpin() {
	w := f.state.Add(^uint64(0))
	if invariants.Enabled && (w&pins == pins || w&busy != 0) {
		panic("disktable: Unpin of a frame that is not pinned")
	}
	if w&pins == 0 {
		f.store.frames.wake()
	}
}

// Repin pins the frame again if it still holds that page of b, and says
// whether it does; if not, ask Pin. The frame is one that Pin returned for any
// page and any block, at any time before. Cost: one compare-and-swap.
func (f *Frame) Repin(b Block, page int) bool {
	return b.holds(page) && f.pin(b.key(page), used) && (b.owner.ok() || f.reject())
}

// Holds reports whether f, pinned by the caller, is that page of b. Who goes
// through the rows of a page keeps its pin from row to row and asks this; it
// costs no atomic write. The pin is given up before another page is asked for
// and at the end of the call or batch.
func (f *Frame) Holds(b Block, page int) bool {
	return b.holds(page) && keyOf(f.state.Load()) == b.key(page)
}

// reject takes a pin back.
func (f *Frame) reject() bool {
	f.Unpin()
	return false
}

// pin pins f if it holds page k and is not busy, and sets the marks.
func (f *Frame) pin(k key, marks uint64) bool {
	for {
		w := f.state.Load()
		if keyOf(w) != k || w&busy != 0 {
			return false
		}
		if f.state.CompareAndSwap(w, (w|marks)+1) {
			return true
		}
	}
}

// seize makes f busy if its state is still w, which is neither pinned nor busy.
func (f *Frame) seize(w uint64) bool {
	return f.state.CompareAndSwap(w, w|busy)
}

// idle reports whether a frame in state w holds a page that nobody uses.
func idle(w uint64) bool { return keyOf(w) != 0 && w&(pins|busy) == 0 }

// key returns the page that f holds. It is busy or pinned by the caller.
func (f *Frame) key() key { return keyOf(f.state.Load()) }

// page returns the number of that page in its block.
func (f *Frame) page() int { return int(f.key() - f.block.key(0)) }
