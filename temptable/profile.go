package temptable

import (
	"context"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spillway-db/spillway/allocator"
)

// AllocRecord says how much was taken by one call path for the tables of one
// name and owner, on one tier, for one purpose.
type AllocRecord = allocator.Record

// SetProfileRate starts a new recording of the call paths that take blocks: one
// block in rate bytes on average; 1 records every block, 0 ends the recording.
// Package temptable/offheap makes a pprof profile of it. It costs some
// microseconds a recorded block, nothing otherwise.
func (e *Engine) SetProfileRate(rate int64) { e.alloc.RecordStacks(rate) }

// AllocRecords returns what was recorded so far, in no order, and the rate: 0
// if nothing is.
func (e *Engine) AllocRecords() (records []AllocRecord, rate int64) { return e.alloc.Records() }

// operation marks a call in execution traces, and by labels in CPU profiles if
// Options.ProfileLabels is set. Calls for one row are not marked.
type operation struct {
	region *trace.Region
	t      *Table          // nil: without labels
	ctx    context.Context // of the caller, whose labels come back
}

// operate begins an operation. exclusive says that the call has the table to
// itself, so that the allocator may mark parts of it.
func (t *Table) operate(ctx context.Context, what string, exclusive bool) operation {
	o := operation{region: trace.StartRegion(ctx, what)}
	if t.eng.labels {
		o.t, o.ctx = t, ctx
		labelled := pprof.WithLabels(ctx, pprof.Labels("spillway", what, "table", t.name))
		pprof.SetGoroutineLabels(labelled)
		if exclusive {
			t.labelled = labelled
		}
	}
	return o
}

func (o operation) end() {
	if o.t != nil {
		pprof.SetGoroutineLabels(o.ctx)
	}
	o.region.End()
}

// labelPart labels what the allocator does for an operation that is labelled.
func labelPart(s *allocator.Space, what string) func() {
	ctx := s.Holder().(*Table).labelled
	if ctx == nil {
		return nil
	}
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("spillway", what)))
	return func() { pprof.SetGoroutineLabels(ctx) }
}

// labeler is what the allocator calls: nothing, unless labels are wanted.
func (o *Options) labeler() func(*allocator.Space, string) func() {
	if !o.ProfileLabels {
		return nil
	}
	return labelPart
}
