package union

import (
	"context"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/internal/legacy"
)

// oldEngine executes the legacy policies.
type oldEngine struct {
	cfg  legacy.Config
	cols []legacy.Column
	in   legacy.Batch
	out  input.Table
	t    *legacy.Table
}

func openOld(cfg legacy.Config, s input.Schema) *oldEngine {
	e := &oldEngine{cfg: cfg, out: input.Table{Schema: s, Cols: make([]input.Vector, len(s))}}
	e.in.Cols = make([]legacy.Vector, len(s))
	for _, c := range s {
		e.cols = append(e.cols, legacy.Column{Width: c.Width(), Unit: c.Unit(), Unsigned: c.Unsigned(),
			Packed: c.Packed(), Float: c.Type == input.Float || c.Type == input.Double, Key: c.Key()})
	}
	return e
}

func (e *oldEngine) create(ctx context.Context) (err error) {
	e.t, err = legacy.Create(ctx, e.cfg, e.cols)
	return err
}

func (e *oldEngine) insert(ctx context.Context, t *input.Table) error {
	e.in.N = t.N
	for c := range t.Cols {
		e.in.Cols[c] = legacy.Vector(t.Cols[c])
	}
	return e.t.Insert(ctx, &e.in)
}

func (e *oldEngine) scan(ctx context.Context, sink func(*input.Table)) error {
	return e.t.Scan(ctx, func(b *legacy.Batch) error {
		e.out.N = b.N
		for c := range b.Cols {
			e.out.Cols[c] = input.Vector(b.Cols[c])
		}
		sink(&e.out)
		return nil
	})
}

func (e *oldEngine) drop() error { return e.t.Drop() }

func (e *oldEngine) close() error {
	if e.t == nil {
		return nil
	}
	return e.t.Drop()
}

func (e *oldEngine) counters() counters {
	if e.t == nil {
		return counters{}
	}
	r := e.t.Result()
	return counters{
		ramPeak: r.RAMPeak, mmapPeak: r.MmapPeak, blocks: int64(r.Blocks),
		files: int64(r.Files), mmapCalls: int64(r.Files), filled: r.Filled, old: &r,
	}
}
