package union

import (
	"context"
	"errors"
	"fmt"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
)

const (
	fillPoints = 256
	// minMmap is the least that the engine's mapped files take in a picture of
	// all three tiers.
	minMmap = 1 << 20
)

// AllTiers is the mode of a Fill that goes through RAM, mapped files and the
// disk table.
const AllTiers = "spillway"

// Fills runs the statement once in 8.0.19's policy and once on an engine whose
// limits make it use all tiers, and returns what each held on the way. ram is
// the budget of RAM, as Result.SpillRAM has it; 0 means that of Run.
func Fills(ctx context.Context, c Config, ram int64) (fills []report.Fill, err error) {
	r := newRunner(c)
	r.SpillRAM = ram
	if ram == 0 {
		r.Modes = []string{Mmap}
		if err := r.autoSpill(ctx); err != nil {
			return nil, err
		}
	}
	r.LegacyCycles, r.task = 1, c.Meter.Start("pictures: memory in use", progress.Rows, 2*r.inputRows())
	defer r.task.End()
	l := r.limitsOf(Mmap)
	l.mmap = min(max(l.ram/2, minMmap), l.mmap)
	x, err := r.Config.open(l, r.Left.Schema)
	if err != nil {
		return nil, err
	}
	for _, m := range []struct {
		name string
		x    executor
	}{{AllTiers, x}, {Legacy8019, openOld(r.legacyConfig(Legacy8019), r.Left.Schema)}} {
		f, e := r.fill(ctx, m.x)
		if err = errors.Join(e, m.x.close()); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		f.Mode = m.name
		fills = append(fills, f)
	}
	fills[0].RAMBudget, fills[0].MmapBudget, fills[1].RAMBudget = l.ram, l.mmap, r.MaxRAM
	return fills, nil
}

// fill inserts the rows and looks at what is held from time to time.
func (r *runner) fill(ctx context.Context, x executor) (f report.Fill, err error) {
	if err := x.create(ctx); err != nil {
		return f, err
	}
	f.Points = append(f.Points, report.FillPoint{})
	step := max(int(r.inputRows())/fillPoints/64, 1) * 64
	part, rows := r.Left.Slice(0, 0), 0
	for _, t := range []*input.Table{r.Left, r.Right} {
		for from := 0; from < t.N; from += step {
			t.SliceInto(&part, from, min(from+step, t.N))
			if err := x.insert(ctx, &part, r.task); err != nil {
				return f, err
			}
			rows += part.N
			c := x.counters()
			f.Points = append(f.Points, report.FillPoint{Rows: rows, RAM: c.ram, Mmap: c.mmap, Disk: c.disk, Filled: c.filled})
		}
	}
	return f, x.drop()
}

const (
	leastRows  = 1 << 10
	mostRows   = 1 << 20
	sizeStep   = 4
	sizeBudget = 1 << 21 // rows of all samples of one size
	mostCount  = 9
)

// Sizes measures generated tables of 1,024 to most distinct rows (0: 1,048,576),
// each followed by its rows again in random order, in the modes of Spillway.
func Sizes(ctx context.Context, c Config, most int) (points []report.SizePoint, err error) {
	if most == 0 {
		most = mostRows
	}
	task := c.Meter.Start("pictures: ns a row by size", progress.Rows, sizeRows(most))
	defer task.End()
	for n := leastRows; n <= most; n *= sizeStep {
		runs, err := sizeRun(ctx, c, n, task)
		if err != nil {
			return nil, fmt.Errorf("tables of %d rows: %w", n, err)
		}
		for _, run := range runs {
			points = append(points, report.SizePoint{Mode: run.Mode, Rows: n, NsPerRow: run.NsPerRow})
		}
	}
	return points, nil
}

func sizeRows(most int) (total int64) {
	for n := leastRows; n <= most; n *= sizeStep {
		r := sizeRunner(Config{}, n)
		total += int64(2*n) * r.rows() / r.inputRows()
	}
	return total
}

// sizeRunner sets up the run of one size; its tables are there but empty.
func sizeRunner(c Config, n int) *runner {
	c.Modes, c.Pool, c.SpillRAM = []string{RAM, Mmap, Disk}, Hot, 0
	c.MaxRAM, c.MaxMmap = 1<<30, 1<<30
	c.Count = min(max(sizeBudget/(6*n), 1), mostCount)
	c.Left, c.Right = &input.Table{N: n}, &input.Table{N: n}
	return newRunner(c)
}

func sizeRun(ctx context.Context, c Config, n int, task *progress.Task) ([]report.Run, error) {
	r := sizeRunner(c, n)
	left, right, err := input.Generator{Rows: n, Dup: 1, Seed: 1}.Make(ctx, nil)
	if err != nil {
		return nil, err
	}
	if right, err = right.Shuffled(1); err != nil {
		return nil, err
	}
	r.Left, r.Right, r.task = left, right, task
	r.Answer = input.Answer{Rows: n, Checksum: left.Checksum(), RightDup: n}
	res, err := r.run(ctx)
	if err != nil {
		return nil, err
	}
	return res.Runs, nil
}
