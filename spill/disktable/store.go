package disktable

import (
	"runtime"
	"sync/atomic"

	"github.com/spillway-db/spillway/internal/invariants"
	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/spill/internal/filespace"
)

// Options of a store.
type Options struct {
	Dirs     []string // where the files are; the next one is used when one is full
	MaxBytes int64    // limit of allocated file bytes, idle ones included; 0: none
	Reserve  int64    // bytes to be left free on the file system; default 0
	FS       sys.FS   // default: sys.Default()
	Memory   Memory   // where frames come from
	// OnWarn, if not nil, is told what an operator should know, such as a
	// directory that lies in RAM. It must not call the store.
	OnWarn func(msg string)
	// MinFrames are taken at Open and kept until Close, at least 2. MaxFrames
	// bound the cache, at least MinFrames.
	MinFrames, MaxFrames int
}

// Store is the disk tier of one engine. It is safe for concurrent use; the
// bytes of a page are guarded by the caller.
type Store struct {
	space  *filespace.Space
	table  *table
	frames frames
	runs   runs
	closed atomic.Bool

	pageReads  atomic.Int64
	pageWrites atomic.Int64
}

// Free gives the space of b back, with what its pages hold; they are not
// written. None of them is pinned. The zero Block is ignored. After Close it
// closes the file with the last block in it.
//
// Cost: a look into the page table for each page.
func (s *Store) Free(b Block) {
	if b.piece.IsZero() {
		return
	}
	if !s.closed.Load() {
		s.drop(b)
	}
	s.space.Free(b.piece)
}

// drop empties the frames of the pages of b.
func (s *Store) drop(b Block) {
	for page := range b.pages() {
		k := b.key(page)
		if f := s.table.of(k).expel(k); f != nil {
			s.frames.put(f)
		}
	}
}

// expel takes the frame of page k out of the table and returns it, claimed; or
// nil if there is none. It waits while the frame is busy.
func (sh *shard) expel(k key) *Frame {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for {
		f := sh.find(k)
		if f == nil {
			return nil
		}
		switch w := f.state.Load(); {
		case w&busy != 0:
			sh.wait()
		case w&pins != 0:
			sh.yield()
		case f.seize(w):
			sh.unlink(f)
			return f
		}
	}
}

// yield lets the one go on who holds a pin that the caller promised not to be
// there.
func (sh *shard) yield() {
	if invariants.Enabled {
		panic("disktable: a page is pinned while its block is freed or overwritten")
	}
	sh.mu.Unlock()
	runtime.Gosched()
	sh.mu.Lock()
}

// WriteBlock makes mem the first bytes of b, and the rest of b unspecified:
// one write past the cache, for moving a whole block down; it needs no memory.
// No page of b is pinned.
//
// It returns ErrRange if mem is larger than b, what Owner.Err says, an
// *IOError (this does not fail the owner: it still has mem), or ErrClosed.
func (s *Store) WriteBlock(b Block, mem []byte) error {
	if !b.covers(0, len(mem)) {
		return ErrRange
	}
	if err := s.usable(b); err != nil {
		return err
	}
	s.drop(b)
	if err := s.writeStart(b, mem); err != nil {
		return err
	}
	return nil
}

// Shrink gives up to n frames above the minimum back to Memory, writing dirty
// pages, and returns how many. It does not wait for pinned ones, and needs no
// memory.
func (s *Store) Shrink(n int) int {
	given := 0
	for given < n && s.shrink() {
		given++
	}
	return given
}

// shrink gives one frame back.
func (s *Store) shrink() bool {
	if !s.frames.spare() {
		return false
	}
	f := s.frames.take()
	if f == nil {
		f = s.sweep()
	}
	return f != nil && s.frames.strip(f)
}

// usable returns why no page of b can be had, or nil.
func (s *Store) usable(b Block) error {
	if s.closed.Load() {
		return ErrClosed
	}
	return b.owner.Err()
}
