package union

import (
	"context"

	"github.com/spillway-db/spillway/cmd/spillway/internal/adapt"
	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/internal/legacy"
)

// oldEngine executes the legacy policies.
type oldEngine struct {
	cfg  legacy.Config
	cols []legacy.Column
	part input.Table // the rows that are being inserted
	in   legacy.Batch
	out  input.Table
	t    *legacy.Table
}

func openOld(cfg legacy.Config, s input.Schema) *oldEngine {
	e := &oldEngine{cfg: cfg, part: *input.NewTable(s), out: *input.NewTable(s)}
	e.cols, e.in.Cols = adapt.Legacy(s), make([]legacy.Vector, len(s))
	return e
}

func (e *oldEngine) create(ctx context.Context) (err error) {
	e.t, err = legacy.Create(ctx, e.cfg, e.cols)
	return err
}

// oldBatchRows is how many rows are inserted between two signs of life; a
// multiple of 64. Each may make a file.
const oldBatchRows = 128

func (e *oldEngine) insert(ctx context.Context, t *input.Table, task *progress.Task) error {
	for from := 0; from < t.N; from += oldBatchRows {
		t.SliceInto(&e.part, from, min(from+oldBatchRows, t.N))
		adapt.LegacyBatch(&e.in, &e.part)
		if err := e.t.Insert(ctx, &e.in); err != nil {
			return err
		}
		task.Add(int64(e.part.N))
	}
	return nil
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
		ram: r.RAM, mmap: r.Mmap, ramPeak: r.RAMPeak, mmapPeak: r.MmapPeak, blocks: int64(r.Blocks),
		files: int64(r.Files), mmapCalls: int64(r.Files), filled: r.Filled, old: &r,
	}
}
