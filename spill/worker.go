package spill

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-db/spillway/spill/internal/filespace"
)

const (
	first = 1 << 20   // bytes that Start makes ready
	ahead = 128 << 10 // bytes of small extents that are made ready together
)

// worker is what the background goroutine of a pool is asked to do. It runs
// from the first need until halt, and sleeps on wake.
type worker struct {
	started atomic.Bool
	wake    chan struct{} // holds one token
	ctx     context.Context
	cancel  context.CancelFunc
	done    sync.WaitGroup

	want   atomic.Int64 // size of the extent to make ready; 0: none
	due    atomic.Bool  // the rest is over
	stuck  atomic.Bool  // the last preparation failed
	primed atomic.Bool  // Start has done its work

	scrubbing sync.Mutex   // held by who scrubs, so that others wait for him
	pending   atomic.Int64 // pieces soiled and not freed yet

	mu        sync.Mutex
	halted    bool
	stopTimer func() bool       // not nil: a rest is going on
	soiled    []filespace.Piece // released, to be scrubbed
}

func newWorker() *worker {
	ctx, cancel := context.WithCancel(context.Background())
	return &worker{wake: make(chan struct{}, 1), ctx: ctx, cancel: cancel}
}

// launch starts the goroutine, once.
func (p *Pool) launch() {
	if p.work.started.Load() {
		return
	}
	p.work.mu.Lock()
	defer p.work.mu.Unlock()
	if p.work.halted || p.work.started.Load() {
		return
	}
	// The first timer of a process opens a descriptor, and the runtime dies if
	// there is none: have it while there are.
	p.o.After(time.Hour, func() {})()
	p.work.started.Store(true)
	p.work.done.Add(1)
	go p.run()
}

// halt stops the goroutine and the timer, and waits for the goroutine.
func (p *Pool) halt() {
	p.work.mu.Lock()
	p.work.halted = true
	if p.work.stopTimer != nil {
		p.work.stopTimer()
		p.work.stopTimer = nil
	}
	p.work.mu.Unlock()
	p.work.cancel()
	p.work.done.Wait()
}

func (p *Pool) run() {
	defer p.work.done.Done()
	for {
		select {
		case <-p.work.ctx.Done():
			return
		case <-p.work.wake:
		}
		p.scrubAll()
		p.makeReady()
		if p.work.due.Swap(false) {
			p.rest()
		}
	}
}

func (p *Pool) poke() {
	select {
	case p.work.wake <- struct{}{}:
	default:
	}
}

// prepare asks for an extent of n bytes to be made ready.
func (p *Pool) prepare(n int) {
	if p.work.stuck.Load() {
		return
	}
	p.work.want.Store(int64(n))
	p.poke()
}

// makeReady does what prepare asked for, in smaller extents if the limit wants
// it. Failing is no error: whoever needs the extent will be told.
func (p *Pool) makeReady() {
	n := int(p.work.want.Swap(0))
	if n == 0 {
		return
	}
	if p.space.Prepare(p.work.ctx, int64(max(n, ahead)), n, MinExtent) != nil {
		p.work.stuck.Store(true)
	}
}

// soil takes a piece to be scrubbed. It reports false after halt.
func (p *Pool) soil(piece filespace.Piece) bool {
	p.work.mu.Lock()
	defer p.work.mu.Unlock()
	if p.work.halted {
		return false
	}
	p.work.soiled = append(p.work.soiled, piece)
	p.work.pending.Add(1)
	p.poke()
	return true
}

// scrubAll overwrites and frees what is soiled. It reports whether there was
// any.
func (p *Pool) scrubAll() bool {
	if p.work.pending.Load() == 0 {
		return false
	}
	p.work.scrubbing.Lock()
	defer p.work.scrubbing.Unlock()
	for piece, ok := p.nextSoiled(); ok; piece, ok = p.nextSoiled() {
		_ = p.fill(piece, 0) // a fault has set its file aside
		p.free(piece)
		p.work.pending.Add(-1)
	}
	return true
}

func (p *Pool) nextSoiled() (piece filespace.Piece, ok bool) {
	p.work.mu.Lock()
	defer p.work.mu.Unlock()
	n := len(p.work.soiled) - 1
	if n < 0 {
		return piece, false
	}
	piece = p.work.soiled[n]
	p.work.soiled = p.work.soiled[:n]
	return piece, true
}

// restLater has the worker look, after a rest, for files that are empty still.
func (p *Pool) restLater() {
	if p.o.Rest < 0 {
		return
	}
	p.work.mu.Lock()
	defer p.work.mu.Unlock()
	if p.work.halted || p.work.stopTimer != nil {
		return
	}
	p.work.stopTimer = p.o.After(p.o.Rest, p.restOver)
}

func (p *Pool) restOver() {
	p.work.mu.Lock()
	p.work.stopTimer = nil
	p.work.mu.Unlock()
	p.work.due.Store(true)
	p.poke()
}

// rest gives back the files that were empty for a whole rest.
func (p *Pool) rest() {
	again, _ := p.space.Rest(p.keep.Load())
	if again {
		p.restLater()
	}
	if p.space.Stats().Used == 0 {
		p.work.primed.Store(false)
	}
}
