package prof

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spillway-db/spillway/cmd/spillway/internal/adapt"
	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/internal/legacy"
)

// LegacyName is the policy that Compare runs.
const LegacyName = "legacy-8.0.19"

// compare runs the old policy on the workload's inserts.
func (r *runner) compare(ctx context.Context) error {
	if !r.Compare {
		return nil
	}
	cfg := legacy.Config{Policy: legacy.V8019, MaxRAM: r.MaxRAM, Dir: r.Dir, Cycles: r.LegacyCycles, Record: true}
	t, err := legacy.Create(ctx, cfg, adapt.Legacy(r.Left.Schema))
	if err != nil {
		return err
	}
	r.res.Legacy = &Legacy{File: filepath.Join(r.Out, r.Workload+".offheap."+LegacyName+".pprof")}
	o := &oldRecording{t: t, at: time.Now()}
	inserts := []*input.Table{r.Left, r.Right}
	if r.Workload == "distinct" {
		inserts = inserts[:1]
	}
	for i, part := range inserts {
		if err := r.insertOld(ctx, t, part); err != nil {
			return errors.Join(err, t.Drop())
		}
		o.step([]string{"insert left", "insert right"}[i], part.N)
	}
	r.res.Legacy.Steps, r.res.Legacy.Projected = o.steps, t.Result().Projected > 0
	err = writeFile(r.res.Legacy.File, func(f *os.File) error { return writeStacks(f, t.Records()) })
	return errors.Join(err, t.Drop())
}

// oldBatchRows is how many rows are inserted between two signs of life; a
// multiple of 64.
const oldBatchRows = 128

func (r *runner) insertOld(ctx context.Context, t *legacy.Table, part *input.Table) error {
	task := r.Meter.Start(LegacyName, progress.Rows, int64(part.N))
	defer task.End()
	slice, batch := part.Slice(0, 0), legacy.Batch{Cols: make([]legacy.Vector, len(part.Cols))}
	for from := 0; from < part.N; from += oldBatchRows {
		part.SliceInto(&slice, from, min(from+oldBatchRows, part.N))
		adapt.LegacyBatch(&batch, &slice)
		if err := t.Insert(ctx, &batch); err != nil {
			return err
		}
		task.Add(int64(slice.N))
	}
	return nil
}

// oldRecording turns the old engine's counters into those of steps.
type oldRecording struct {
	t      *legacy.Table
	ledger ledger
	last   legacy.Result
	at     time.Time
	steps  []Step
}

func (o *oldRecording) step(name string, rows int) {
	now, l := o.t.Result(), ledger{}
	for _, rec := range o.t.Records() {
		tier := "ram"
		if rec.File {
			tier = "file"
		}
		l.add(Taken{Tier: tier, Path: path(rec.Stack), Blocks: rec.Blocks, Bytes: rec.Bytes})
	}
	files := int64(now.Files - o.last.Files)
	blocks := int64(now.Blocks - o.last.Blocks)
	o.steps = append(o.steps, Step{
		Name: name, Rows: rows, Added: int64(now.Unique - o.last.Unique), Created: blocks,
		Bytes: l.bytes() - o.ledger.bytes(), Files: files, Taken: l.since(o.ledger),
		Seconds: (time.Since(o.at) + now.Projected - o.last.Projected).Seconds(),
		Calls:   oldCalls(files, blocks-files, now.Filled-o.last.Filled),
	})
	o.last, o.ledger, o.at = now, l, time.Now()
}

// fillStep is what the old engine wrote at once.
const fillStep = 4096

// oldCalls are the system calls behind files, and blocks of RAM, that filled so
// many bytes; each file was unmapped again.
func oldCalls(files, ram, filled int64) map[string]int64 {
	calls := map[string]int64{}
	for kind, n := range map[string]int64{"open": files, "write": filled / fillStep, "map": files, "close": files,
		"unmap": files, "anon": ram} {
		if n > 0 {
			calls[kind] = n
		}
	}
	return calls
}
