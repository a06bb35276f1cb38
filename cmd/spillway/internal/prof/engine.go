package prof

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spillway-db/spillway/cmd/spillway/internal/adapt"
	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
	"github.com/spillway-db/spillway/temptable"
)

// Limits are an engine's.
type Limits struct {
	RAM  int64 `json:"ram"`
	Mmap int64 `json:"mmap"` // 0: none
	dir  string
}

// minRAM is the least that an engine takes.
const minRAM = 64 << 10

// engine makes passes of a plan.
type engine struct {
	plan   plan
	eng    *temptable.Engine
	owner  *temptable.Owner
	schema *temptable.Schema
	pass   pass
}

// open opens an engine; one that is recorded keeps who takes every block.
func open(l Limits, w workload, left, right *input.Table, recorded bool) (*engine, error) {
	e := &engine{plan: w.plan(left, right)}
	e.pass.feed = adapt.NewFeed(left.Schema)
	e.pass.ones = slices.Repeat([]int64{1}, adapt.BatchRows)
	var opts []temptable.SchemaOption
	if e.plan.distinct {
		opts = append(opts, temptable.Distinct(e.plan.key...))
	}
	o := temptable.Options{MaxRAM: l.RAM, MaxMmap: l.Mmap, Dir: l.dir, ProfileLabels: true}
	if l.Mmap == 0 {
		o.MaxMmap = temptable.Disabled
	}
	if recorded {
		o.ProfileRate = 1
	}
	var err error
	if e.schema, err = temptable.NewSchema(e.plan.cols, opts...); err != nil {
		return nil, err
	}
	if e.eng, err = temptable.Open(o); err != nil {
		return nil, err
	}
	if e.owner, err = e.eng.NewOwner("profile", temptable.Limits{}); err != nil {
		return nil, errors.Join(err, e.eng.Close())
	}
	return e, nil
}

// once makes a pass. after is told of each step before the table is dropped.
func (e *engine) once(ctx context.Context, after func(*step)) (err error) {
	if e.pass.t, err = e.owner.Create(ctx, e.schema, temptable.Named("profiled")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.pass.t.Drop()) }()
	for i := range e.plan.steps {
		s := &e.plan.steps[i]
		if err := s.run(ctx, &e.pass); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if after != nil {
			after(s)
		}
	}
	return nil
}

func (e *engine) close() error { return e.eng.Close() }

// limits are those of the mode; the spilling ones get, if nobody says what,
// half of the RAM that the workload takes, or less until it spills.
func (c *Config) limits(ctx context.Context) (l Limits, err error) {
	l = Limits{RAM: c.MaxRAM, Mmap: c.MaxMmap, dir: c.Dir}
	if c.Mode == union.RAM {
		return l, nil
	}
	if c.Mode == union.Disk {
		l.Mmap = 0
	}
	if l.RAM = c.SpillRAM; l.RAM == 0 {
		l.RAM, err = c.spillRAM(ctx, l)
	}
	return l, err
}

func (c *Config) spillRAM(ctx context.Context, l Limits) (int64, error) {
	l.RAM = max(c.MaxRAM, 1<<30)
	all, err := c.try(ctx, l)
	if err != nil {
		return 0, err
	}
	for l.RAM = all.RAMPeak / 2; l.RAM >= minRAM; l.RAM /= 2 {
		s, err := c.try(ctx, l)
		if err != nil || s.Count.Spilled > 0 {
			return l.RAM, err
		}
	}
	return max(all.RAMPeak/2, minRAM), nil // too small to spill
}

// try makes a pass within limits.
func (c *Config) try(ctx context.Context, l Limits) (temptable.Stats, error) {
	e, err := open(l, workloads[c.Workload], c.Left, c.Right, false)
	if err != nil {
		return temptable.Stats{}, err
	}
	err = e.once(ctx, nil)
	s := e.eng.Stats()
	return s, errors.Join(err, e.close())
}
