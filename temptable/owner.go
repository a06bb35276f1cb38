package temptable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-db/spillway/allocator"
)

// Owner is a session or a query: a level of limits, and the tables that end
// with it. Owners nest. It is safe for concurrent use.
type Owner struct {
	eng *Engine
	mem *allocator.Owner
}

// NewOwner makes an owner below the engine. The name appears in errors and
// statistics.
func (e *Engine) NewOwner(name string, l Limits) (*Owner, error) {
	return e.newOwner(name, e.alloc.Root(), l)
}

// NewOwner makes an owner below o: both owners' limits hold for its tables.
func (o *Owner) NewOwner(name string, l Limits) (*Owner, error) {
	return o.eng.newOwner(name, o.mem, l)
}

func (e *Engine) newOwner(name string, parent *allocator.Owner, l Limits) (*Owner, error) {
	if e.closed.Load() {
		return nil, fmt.Errorf("temptable: new owner: engine: %w", ErrClosed)
	}
	mem, err := e.alloc.NewOwner(name, parent, l)
	if err != nil {
		return nil, fmt.Errorf("temptable: new owner: %w", err)
	}
	return &Owner{eng: e, mem: mem}, nil
}

// SetLimits changes the limits at run time. What is in use stays; the next
// block obeys.
func (o *Owner) SetLimits(l Limits) { o.mem.SetLimits(l) }

// Create makes an empty table. The schema may be shared. Cost: no system call;
// memory is taken by the first row.
func (o *Owner) Create(ctx context.Context, s *Schema, opts ...TableOption) (*Table, error) {
	if err := canceled(ctx, "create", "a table"); err != nil {
		return nil, err
	}
	t := newTable(o.eng, s)
	t.created = time.Now()
	for _, opt := range opts {
		opt(t)
	}
	if err := t.space.Init(o.mem, t.name, t.limits, t); err != nil {
		return nil, fmt.Errorf("temptable: create: %w", err)
	}
	o.eng.tables.Add(1)
	return t, nil
}

// Close drops the owner's tables and closes the owners below it, waiting for
// calls under way. Closing again does nothing.
func (o *Owner) Close() error { return closeOwner(o.mem) }

func closeOwner(o *allocator.Owner) error {
	o.Seal()
	var errs []error
	for c := o.Child(); c != nil; c = o.Child() {
		errs = append(errs, closeOwner(c))
	}
	for t := o.Table(); t != nil; t = o.Table() {
		errs = append(errs, t.(*Table).dropWait())
	}
	o.Remove()
	return errors.Join(errs...)
}

// SetLimits changes the table's limits at run time. What is in use stays; the
// next block obeys.
func (t *Table) SetLimits(l Limits) { t.space.SetLimits(l) }
