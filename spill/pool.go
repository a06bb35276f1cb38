package spill

import (
	"context"
	"runtime/debug"
	"sync/atomic"

	"github.com/spillway-db/spillway/internal/invariants"
	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/spill/internal/filespace"
)

// Extent is a mapped piece of a file, held from Acquire to Release. The zero
// Extent is none. Extents can be compared.
type Extent struct{ piece filespace.Piece }

// IsZero says that e is no extent.
func (e Extent) IsZero() bool { return e.piece.IsZero() }

// Size is the number of bytes.
func (e Extent) Size() int { return e.piece.Size() }

// Bytes is the memory, Size() bytes, to be used until Release. What it holds
// at first is unspecified.
func (e Extent) Bytes() []byte { return e.piece.Bytes() }

// Pool hands out extents. It is safe for concurrent use.
type Pool struct {
	o     Options
	space *filespace.Space
	work  *worker

	hot, waited, released atomic.Int64
	keep                  atomic.Int64 // bytes that a rest does not give back
}

// Open makes a pool. It touches nothing on disk and starts nothing. It fails
// if an option makes no sense.
func Open(o Options) (*Pool, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.setDefaults()
	return &Pool{o: o, space: o.space(), work: newWorker()}, nil
}

// Acquire returns an extent of n bytes, a power of two from MinExtent to
// MaxExtent, whose pages have been touched. It waits for the device only if
// neither a released extent nor the worker's is there. It returns an [*Error].
func (p *Pool) Acquire(n int) (Extent, error) {
	e, _, err := p.AcquireReady(n)
	return e, err
}

// AcquireReady is Acquire that also says whether the extent was ready.
func (p *Pool) AcquireReady(n int) (e Extent, ready bool, err error) {
	p.launch()
	piece, ready, err := p.space.AllocWarm(n)
	if err != nil && p.scrubAll() {
		piece, ready, err = p.space.AllocWarm(n)
	}
	if err != nil {
		return Extent{}, false, err
	}
	p.count(ready)
	if !p.space.Ready(n) {
		p.prepare(n)
	}
	return Extent{piece}, ready, nil
}

func (p *Pool) count(ready bool) {
	if ready {
		p.hot.Add(1)
		return
	}
	p.waited.Add(1)
	p.work.stuck.Store(false) // the device gave something
}

// Release gives an extent back. Its memory must not be used any more.
func (p *Pool) Release(e Extent) {
	p.released.Add(1)
	if invariants.Enabled {
		_ = p.fill(e.piece, 0xCC)
	}
	if p.o.Scrub && p.soil(e.piece) {
		return
	}
	p.free(e.piece)
}

func (p *Pool) free(piece filespace.Piece) {
	if p.space.Free(piece) {
		p.restLater()
	}
}

// fill overwrites a piece. It fails if that faults.
func (p *Pool) fill(piece filespace.Piece, b byte) (err error) {
	defer sys.Recover(&err, p, debug.SetPanicOnFault(true))
	mem := piece.Bytes()
	for i := range mem {
		mem[i] = b
	}
	return nil
}

// Start has the worker make the first bytes ready, so that the first Acquire
// finds them; to be called when spilling becomes likely, as often as one
// likes.
func (p *Pool) Start() {
	p.launch()
	if p.work.primed.CompareAndSwap(false, true) {
		p.prepare(min(first, p.space.Largest()))
	}
}

// Prewarm allocates, maps and touches bytes now. Afterwards Acquire makes no
// system call until they are used up. A rest keeps them; Trim gives them back.
// It returns the first failure, or that of ctx; what was made ready stays.
func (p *Pool) Prewarm(ctx context.Context, bytes int64) error {
	p.keep.Store(bytes)
	return p.space.Prepare(ctx, bytes, p.space.Largest(), MinExtent)
}

// SetLimit changes the limit, as in [Options]. Empty files above it are closed
// at once; extents that are held stay. It returns the errors of closing.
func (p *Pool) SetLimit(n int64) error {
	if n == 0 {
		n = DefaultLimit
	}
	p.work.stuck.Store(false)
	return p.space.SetLimit(n)
}

// Trim gives all empty files back, prewarmed ones included. It returns the
// errors of closing.
func (p *Pool) Trim() error {
	p.keep.Store(0)
	p.scrubAll()
	defer p.work.primed.Store(false)
	return p.space.Trim(0)
}

// Close stops the worker and closes the files. Whoever still holds an extent
// may use it until Release, which closes its file when it is the last. Close
// may be called again.
func (p *Pool) Close() error {
	p.halt()
	p.scrubAll()
	return p.space.Close()
}

// Owns says whether addr lies in a mapping of the pool.
func (p *Pool) Owns(addr uintptr) bool { return p.space.Owns(addr) }

// Faulted implements sys.Faulter: the file whose mapping holds addr is set
// aside, and closed when its last extent is released.
func (p *Pool) Faulted(addr uintptr) bool { return p.space.Faulted(addr) }
