package prof

import (
	"context"
	"maps"
	"slices"

	"github.com/spillway-db/spillway/cmd/spillway/internal/adapt"
	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/temptable"
)

// workload is what is done to a fresh table, again and again.
type workload struct {
	about  string
	plan   func(left, right *input.Table) plan
	legacy bool // the old engine's policy can do it
}

// plan is a workload on given tables.
type plan struct {
	cols     []temptable.Column
	distinct bool
	key      []int // of the distinct rows; nil: all columns
	steps    []step
}

// step is a part of a pass.
type step struct {
	name string
	rows int
	run  func(ctx context.Context, p *pass) error
}

var workloads = map[string]workload{
	"union":    {"select * from left union select * from right", planUnion, true},
	"distinct": {"select distinct * from left", planDistinct, true},
	"groupby":  {"select c, count(*) from left union all right group by c, c being the last column", planGroupBy, false},
	"sort":     {"select * from left order by its first column, through an ordered index", planSort, false},
	"scan":     {"select * from a materialized left, ten times", planScan, false},
}

// Workloads lists them.
func Workloads() []string { return slices.Sorted(maps.Keys(workloads)) }

// About says what a workload does.
func About(name string) string { return workloads[name].about }

const scans = 10

func planUnion(left, right *input.Table) plan {
	p := planDistinct(left, right)
	p.steps = slices.Insert(p.steps, 1, insert("insert right", right))
	return p
}

func planDistinct(left, _ *input.Table) plan {
	return plan{cols: adapt.Columns(left.Schema), distinct: true, steps: []step{insert("insert left", left), scan("scan", 1)}}
}

func planScan(left, _ *input.Table) plan {
	return plan{cols: adapt.Columns(left.Schema), steps: []step{insert("insert left", left), scan("scan", scans)}}
}

func planSort(left, _ *input.Table) plan {
	return plan{cols: adapt.Columns(left.Schema), steps: []step{
		{"add index", 0, func(ctx context.Context, p *pass) error {
			_, err := p.t.AddIndex(ctx, temptable.IndexSpec{Name: "order", Key: temptable.Asc(0), Ordered: true})
			return err
		}},
		insert("insert left", left),
		{"read in order", 0, func(ctx context.Context, p *pass) error { return p.readInOrder(ctx) }},
	}}
}

func planGroupBy(left, right *input.Table) plan {
	last := len(left.Schema) - 1
	key := adapt.Columns(left.Schema)[last]
	count := temptable.Column{Name: "count", Type: temptable.TypeBigInt, NotNull: true}
	return plan{cols: []temptable.Column{key, count}, distinct: true, key: []int{0},
		steps: []step{upsert("group left", left), upsert("group right", right), scan("scan", 1)}}
}

// pass is one execution of a plan.
type pass struct {
	t       *temptable.Table
	feed    *adapt.Feed
	results [adapt.BatchRows]temptable.Result
	read    temptable.Batch
	ones    []int64 // as many as a batch has rows
}

func insert(name string, t *input.Table) step {
	return step{name, t.N, func(ctx context.Context, p *pass) error {
		for from := 0; from < t.N; from += adapt.BatchRows {
			b := p.feed.Batch(t, from)
			if _, err := p.t.InsertBatch(ctx, b, p.results[:b.N]); err != nil {
				return err
			}
		}
		return nil
	}}
}

// upsert counts the rows of each value of the last column.
func upsert(name string, t *input.Table) step {
	return step{name, t.N, func(ctx context.Context, p *pass) error {
		u, err := p.t.Upserter(ctx, temptable.Fold{Col: 1, Op: temptable.Add})
		if err != nil {
			return err
		}
		group := temptable.Batch{Cols: make([]temptable.Vector, 2)}
		for from := 0; from < t.N; from += adapt.BatchRows {
			b := p.feed.Batch(t, from)
			group.N = b.N
			group.Cols[0], group.Cols[1] = b.Cols[len(b.Cols)-1], temptable.Vector{I64: p.ones[:b.N]}
			if _, err := u.UpsertBatch(ctx, &group, p.results[:b.N]); err != nil {
				return err
			}
		}
		return nil
	}}
}

func scan(name string, times int) step {
	return step{name, 0, func(ctx context.Context, p *pass) error {
		for range times {
			if err := p.scan(ctx); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (p *pass) scan(ctx context.Context) error {
	c := p.t.Cursor(temptable.ScanOptions{})
	defer c.Close()
	for {
		if n, err := c.ReadBatch(ctx, &p.read); err != nil || n == 0 {
			return err
		}
	}
}

func (p *pass) readInOrder(ctx context.Context) error {
	c := p.t.Index("order").Cursor()
	defer c.Close()
	ok, err := c.First(ctx)
	for ; ok && err == nil; ok, err = c.Next(ctx) {
		if _, err := c.Row(); err != nil {
			return err
		}
	}
	return err
}
