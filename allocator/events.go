package allocator

import (
	"context"
	"fmt"
	"runtime/trace"
	"strconv"
	"time"

	"github.com/spillway-db/spillway/internal/sys"
)

// EventKind is what happened.
type EventKind uint8

const (
	// EventReached: a table's first block on a tier below RAM.
	EventReached EventKind = iota
	// EventSpilled: a block was taken below RAM, or a RAM block moved there.
	// Index segments and runs are counted, and not told of.
	EventSpilled
	// EventLimit: a limit, or a tier, refused a table a block for the first
	// time, or another one did than the last time. Err says which.
	EventLimit
	// EventTaken: the number of blocks that a table has taken so far has
	// reached a power of two.
	EventTaken
	// EventFault: an access to a mapped file failed.
	EventFault
	// EventFile: a file was made in Dir for a tier.
	EventFile
)

// Event is something that happened. Which fields count depends on its kind.
type Event struct {
	Kind   EventKind
	At     time.Time
	Space  *Space // the table; nil for EventFile
	Tier   Tier
	From   Tier          // EventReached: the lowest tier before
	Moved  bool          // EventSpilled: it was a RAM block that moved
	Bytes  int64         // EventSpilled: its size
	Took   time.Duration // EventSpilled
	Reason string        // EventReached, EventLimit: a sentence
	Err    error         // EventLimit
	Dir    string        // EventFile
	Taken  int64         // EventTaken: blocks taken so far
	Held   int64         // EventTaken: blocks held
}

func (a *Allocator) tell(e Event) {
	if a.notify != nil {
		e.At = time.Now()
		a.notify(e)
	}
}

// count notes that s has taken b.
func (s *Space) count(b *Block, p Purpose) {
	s.owner.mu.Lock()
	s.m.take(b, p)
	s.owner.mu.Unlock()
}

// taken tells that s has taken b, which is counted.
func (s *Space) taken(b *Block, p Purpose) {
	if b.tier != RAM && s.m.reached[b.tier].Reason == "" {
		s.reach(b.tier)
	}
	if r := s.alloc.recorder.Load(); r != nil {
		r.take(s, b, p)
	}
	if n := s.m.count.Taken(); n&(n-1) == 0 && s.alloc.notify != nil {
		s.alloc.tell(Event{Kind: EventTaken, Space: s, Taken: n, Held: s.blocks()})
	}
}

func (s *Space) blocks() int64 { return s.m.held[RAM] + s.m.held[Mmap] + s.m.held[Disk] }

// reach notes the first block on a tier, and why.
func (s *Space) reach(t Tier) {
	reason := s.alloc.explain(s.cause)
	from := RAM
	if t == Disk && !s.m.reached[Mmap].At.IsZero() {
		from = Mmap
	}
	s.owner.mu.Lock()
	s.m.reached[t].Reason = reason
	s.owner.mu.Unlock()
	s.alloc.tell(Event{Kind: EventReached, Space: s, From: from, Tier: t, Reason: reason})
}

// refused notes that a tier refused a block.
func (s *Space) refused(why refusal) {
	s.cause = why
	s.owner.mu.Lock()
	s.m.count.refused(why.tier, why.by)
	s.owner.mu.Unlock()
	by := why.by
	if by == nil {
		by = &s.alloc.root.acct
	}
	if s.told[why.tier] != by {
		s.told[why.tier] = by
		if s.alloc.notify != nil {
			s.alloc.tell(Event{Kind: EventLimit, Space: s, Tier: why.tier, Err: s.alloc.plainError(why), Reason: s.alloc.explain(why)})
		}
	}
}

// explain says in a sentence who refused, and why.
func (a *Allocator) explain(r refusal) string {
	e := a.limitError(r)
	switch {
	case !r.refused():
		return "it was asked for"
	case e == nil:
		return r.err.Error()
	case e.kind == nil:
		return fmt.Sprintf("%v refused %s: %v", e.Tier, size(e.Want), e.cause)
	}
	text := fmt.Sprintf("%v: %s has %s in use of %s in %v, and was asked for %s",
		e.kind, e.Level, size(e.Used), size(e.Limit), e.Tier, size(e.Want))
	if r.err == errRAMFull && e.Used+e.Want <= e.Limit {
		text += fmt.Sprintf("; %s are kept for buffers", size(a.reserve(false)))
	}
	return text
}

// size writes a number of bytes with a unit.
func size(n int64) string {
	f, unit := float64(n), 0
	for ; f >= 1024 && unit < 4; unit++ {
		f /= 1024
	}
	return strconv.FormatFloat(f, 'f', min(unit, 1), 64) + [...]string{" B", " KiB", " MiB", " GiB", " TiB"}[unit]
}

func (c *Counters) refused(t Tier, by *account) {
	switch {
	case t == Mmap:
		c.HitMmap++
	case t == Disk:
		c.HitDisk++
	case by == nil:
		c.HitEngine++
	case by.isTable():
		c.HitTable++
	default:
		c.HitOwner++
	}
}

// spilled notes that b, below RAM, was taken, or moved to.
func (s *Space) spilled(b *Block, p Purpose, moved bool, since time.Time) {
	took := time.Since(since)
	s.owner.mu.Lock()
	s.m.count.SpillTime += took
	if moved {
		s.m.count.Moved++
	}
	s.owner.mu.Unlock()
	if p == Rows {
		s.alloc.tell(Event{Kind: EventSpilled, Space: s, Tier: b.tier, Moved: moved, Bytes: int64(b.held), Took: took})
	}
}

// refilled notes that one of the table's own blocks is filled again.
func (s *Space) refilled() {
	s.owner.mu.Lock()
	s.m.count.Refilled++
	s.owner.mu.Unlock()
}

// Faulted implements sys.Faulter: does addr lie in a mapped file of the engine?
func (s *Space) Faulted(addr uintptr) bool {
	if s.alloc.pool == nil || !s.alloc.pool.Faulted(addr) {
		return false
	}
	s.owner.mu.Lock()
	s.m.count.Faults++
	s.owner.mu.Unlock()
	s.alloc.tell(Event{Kind: EventFault, Space: s, Tier: Mmap})
	return true
}

// span marks a piece of work in execution traces, and by a label in CPU
// profiles.
type span struct {
	region *trace.Region
	unmark func()
}

// begin starts a span. It costs a load and a branch while nobody is tracing
// and no labels are asked for.
func (s *Space) begin(what string) span {
	sp := span{region: trace.StartRegion(context.Background(), what)}
	if s.alloc.label != nil {
		sp.unmark = s.alloc.label(s, what)
	}
	return sp
}

func (sp span) end() {
	if sp.unmark != nil {
		sp.unmark()
	}
	sp.region.End()
}

// watchFS tells of the files that are made for a tier.
type watchFS struct {
	sys.FS
	a    *Allocator
	tier Tier
}

// OpenTemp implements sys.FS.
func (w watchFS) OpenTemp(dir string) (sys.File, error) {
	defer trace.StartRegion(context.Background(), "spillway.file").End()
	f, err := w.FS.OpenTemp(dir)
	if err == nil {
		w.a.tell(Event{Kind: EventFile, Tier: w.tier, Dir: dir})
	}
	return f, err
}
