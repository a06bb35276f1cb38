package temptable

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/spillway-db/spillway/allocator"
)

// EventKind says what happened.
type EventKind uint8

// The kinds of events, one for each function of [Events]; Warning is what
// Options.OnWarn is told.
const (
	TierChange EventKind = iota
	Spill
	Limit
	FileCreated
	BlockChurn
	Fault
	TableFailed
	Warning
	numEvents
)

// eventNames and eventLevels are by kind.
var (
	eventNames = [numEvents]string{"tier change", "spill", "limit", "file created",
		"block churn", "fault", "table failed", "warning"}
	eventLevels = [numEvents]slog.Level{slog.LevelInfo, slog.LevelDebug, slog.LevelInfo, slog.LevelInfo,
		slog.LevelWarn, slog.LevelError, slog.LevelError, slog.LevelWarn}
)

// String returns the kind in words.
func (k EventKind) String() string { return eventNames[k] }

// Level is the level at which Options.Logger is told of the kind.
func (k EventKind) Level() slog.Level { return eventLevels[k] }

// Event is something that happened to a table, or to the engine.
type Event struct {
	Kind  EventKind
	At    time.Time
	Table string // its name; "" if no table is concerned
	Owner string // the path of the table's owner

	Tier  Tier          // where the block, the file or the limit is
	From  Tier          // TierChange: the lowest tier that the table had before
	Moved bool          // Spill: a block of RAM moved; otherwise a new one was taken there
	Bytes int64         // Spill: the size of the block
	Took  time.Duration // Spill: how long it took

	Rows, Blocks int64 // BlockChurn: rows added so far, blocks taken so far

	Reason string // TierChange, Limit: which limit refused, in a sentence; FileCreated: the directory; Warning: the text
	Err    error  // Limit, TableFailed: what the table's calls return, or would
}

// String says it in a sentence.
func (e Event) String() string {
	switch e.Kind {
	case TierChange:
		return fmt.Sprintf("table %s of %s goes on in %v: %s", e.Table, e.Owner, e.Tier, e.Reason)
	case Spill:
		verb := "took"
		if e.Moved {
			verb = "moved"
		}
		return fmt.Sprintf("table %s of %s %s %d bytes to %v in %v", e.Table, e.Owner, verb, e.Bytes, e.Tier, e.Took)
	case Limit:
		return fmt.Sprintf("table %s of %s: %s", e.Table, e.Owner, e.Reason)
	case FileCreated:
		return fmt.Sprintf("file for %v made in %s", e.Tier, e.Reason)
	case BlockChurn:
		return fmt.Sprintf("table %s of %s has taken %d blocks for %d rows", e.Table, e.Owner, e.Blocks, e.Rows)
	case Fault:
		return fmt.Sprintf("table %s of %s: a mapped file could not be read or written", e.Table, e.Owner)
	case TableFailed:
		return fmt.Sprintf("table %s of %s has failed: %v", e.Table, e.Owner, e.Err)
	}
	return e.Reason
}

// Events are functions that are told what happens; nil ones are not. They are
// called one after the other from a goroutine of the engine that holds nothing,
// in the order in which things happened and soon after: they may call the
// engine and its tables, Engine.Close excepted, which waits for them. Nothing
// waits for them otherwise: if they are more than some hundred events behind,
// the next are lost, and Stats says how many.
type Events struct {
	// OnTierChange: a table's first block on a tier below RAM.
	OnTierChange func(Event)
	// OnSpill: a block of rows was taken below RAM, or moved there.
	OnSpill func(Event)
	// OnLimit: a limit refused a table a block, which therefore goes one tier
	// down or fails. Once, until another limit refuses.
	OnLimit func(Event)
	// OnFileCreated: a file was made.
	OnFileCreated func(Event)
	// OnBlockChurn: a table has taken more blocks for each row added than
	// ChurnLimit, 64 at least, and four times as many as it holds: it returns
	// blocks and takes them again. Looked at whenever their number has doubled.
	OnBlockChurn func(Event)
	// ChurnLimit is in blocks a row. Default: 1/16.
	ChurnLimit float64
	// OnFault: an access to a mapped file failed.
	OnFault func(Event)
	// OnTableFailed: a table has lost data and returns its error from now on.
	OnTableFailed func(Event)
}

// of returns the functions by kind.
func (ev *Events) of(k EventKind) func(Event) {
	return [numEvents]func(Event){ev.OnTierChange, ev.OnSpill, ev.OnLimit, ev.OnFileCreated,
		ev.OnBlockChurn, ev.OnFault, ev.OnTableFailed, nil}[k]
}

// AllEvents returns Events that call f for each.
func AllEvents(f func(Event)) Events {
	return Events{OnTierChange: f, OnSpill: f, OnLimit: f, OnFileCreated: f,
		OnBlockChurn: f, OnFault: f, OnTableFailed: f}
}

// Tee returns Events that call those of a, then those of b. ChurnLimit is the
// lower of the two.
func Tee(a, b Events) Events {
	return Events{
		OnTierChange:  tee(a.OnTierChange, b.OnTierChange),
		OnSpill:       tee(a.OnSpill, b.OnSpill),
		OnLimit:       tee(a.OnLimit, b.OnLimit),
		OnFileCreated: tee(a.OnFileCreated, b.OnFileCreated),
		OnBlockChurn:  tee(a.OnBlockChurn, b.OnBlockChurn),
		OnFault:       tee(a.OnFault, b.OnFault),
		OnTableFailed: tee(a.OnTableFailed, b.OnTableFailed),
		ChurnLimit:    lower(a.ChurnLimit, b.ChurnLimit),
	}
}

func tee(f, g func(Event)) func(Event) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(e Event) { f(e); g(e) }
}

// lower is the lower of two limits, 0 being none.
func lower(a, b float64) float64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

const (
	defaultChurn = 1.0 / 16
	minChurn     = 64   // blocks taken before churn is looked at
	maxQueue     = 1024 // events
)

// dispatcher tells of events. Its goroutine exists while there are some to be
// told.
type dispatcher struct {
	events Events
	log    *slog.Logger // nil: silent
	want   [numEvents]bool

	mu      sync.Mutex
	idle    sync.Cond // the goroutine has ended
	queue   []Event
	spare   []Event // the queue before, empty
	running bool
	closed  bool
	lost    int64
}

func newDispatcher(ev Events, log *slog.Logger) *dispatcher {
	if ev.ChurnLimit == 0 {
		ev.ChurnLimit = defaultChurn
	}
	d := &dispatcher{events: ev, log: log}
	d.idle.L = &d.mu
	for k := range numEvents {
		d.want[k] = ev.of(k) != nil || log != nil && log.Enabled(context.Background(), k.Level())
	}
	return d
}

// notify returns what the allocator is to call: nil if nobody listens.
func (d *dispatcher) notify() func(allocator.Event) {
	if d.want == [numEvents]bool{} {
		return nil
	}
	return d.hear
}

// warn returns OnWarn with the logger behind it.
func (d *dispatcher) warn(also func(string)) func(string) {
	if !d.want[Warning] {
		return also
	}
	return func(msg string) {
		if also != nil {
			also(msg)
		}
		d.send(Event{Kind: Warning, At: time.Now(), Reason: msg})
	}
}

// kinds are the kinds of the allocator's events.
var kinds = [...]EventKind{allocator.EventReached: TierChange, allocator.EventSpilled: Spill, allocator.EventLimit: Limit,
	allocator.EventTaken: BlockChurn, allocator.EventFault: Fault, allocator.EventFile: FileCreated}

// hear takes an event from the allocator, whose locks may be held.
func (d *dispatcher) hear(a allocator.Event) {
	e := Event{Kind: kinds[a.Kind], At: a.At, Tier: a.Tier, From: a.From, Moved: a.Moved,
		Bytes: a.Bytes, Took: a.Took, Reason: a.Reason, Err: a.Err}
	if !d.want[e.Kind] {
		return
	}
	switch a.Kind {
	case allocator.EventFile:
		e.Reason = a.Dir
	case allocator.EventTaken:
		t := a.Space.Holder().(*Table)
		if e.Rows, e.Blocks = t.use.rows()+t.removed.Load(), a.Taken; !d.churns(&e, a.Held) {
			return
		}
	}
	if a.Space != nil {
		e.Table, e.Owner = a.Space.Holder().(*Table).name, a.Space.Path()
	}
	d.send(e)
}

func (d *dispatcher) churns(e *Event, held int64) bool {
	return e.Blocks >= minChurn && e.Blocks > 4*held && float64(e.Blocks) > d.events.ChurnLimit*float64(e.Rows)
}

// failed tells that t has failed.
func (d *dispatcher) failed(t *Table, err error) {
	if d.want[TableFailed] {
		d.send(Event{Kind: TableFailed, At: time.Now(), Table: t.name, Owner: t.space.Path(), Err: err})
	}
}

// send puts an event into the queue. It takes no other lock.
func (d *dispatcher) send(e Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return
	case len(d.queue) == maxQueue:
		d.lost++
		return
	}
	d.queue = append(d.queue, e)
	if !d.running {
		d.running = true
		go d.run()
	}
}

func (d *dispatcher) run() {
	for q := d.next(); q != nil; q = d.next() {
		for i := range q {
			d.tell(&q[i])
		}
	}
}

// next returns the events to tell; nil says that the goroutine is to end.
func (d *dispatcher) next() []Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queue
	if len(q) == 0 {
		d.running = false
		d.idle.Broadcast()
		return nil
	}
	d.queue, d.spare = d.spare[:0], q
	return q
}

func (d *dispatcher) tell(e *Event) {
	if f := d.events.of(e.Kind); f != nil {
		f(*e)
	}
	if d.log != nil {
		d.log.LogAttrs(context.Background(), e.Kind.Level(), "spillway: "+e.Kind.String(), e.attrs()...)
	}
}

func (e *Event) attrs() []slog.Attr {
	a := []slog.Attr{slog.String("event", e.String())}
	if e.Table != "" {
		a = append(a, slog.String("table", e.Table), slog.String("owner", e.Owner))
	}
	return a
}

// flush waits until all events have been told.
func (d *dispatcher) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.running {
		d.idle.Wait()
	}
}

// close waits until all events have been told; later ones are not.
func (d *dispatcher) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.flush()
}

func (d *dispatcher) dropped() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}
