package union

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/usage"
)

// phase is a part of a sample.
type phase int

const (
	opening phase = iota
	inserting
	scanning
	dropping
	numPhases
)

// sample is one execution of the statement.
type sample struct {
	phases   [numPhases]time.Duration
	use      usage.Usage // of all phases
	rows     int
	checksum uint64
	before   counters
	after    counters
}

func (s *sample) time() (d time.Duration) {
	for _, p := range s.phases {
		d += p
	}
	return d
}

// take runs the statement once. The clock stands still between the phases.
func (r *runner) take(ctx context.Context, x executor) (sample, error) {
	var s sample
	if err := s.run(ctx, x, r); err != nil {
		return s, fmt.Errorf("union: %w", err)
	}
	return s, nil
}

func (s *sample) run(ctx context.Context, x executor, r *runner) error {
	if err := s.timed(opening, func() error { return x.create(ctx) }); err != nil {
		return err
	}
	if err := s.timed(inserting, func() error { return r.insertBoth(ctx, x) }); err != nil {
		return err
	}
	count := func(t *input.Table) { s.rows += t.N }
	if err := s.timed(scanning, func() error { return x.scan(ctx, count) }); err != nil {
		return err
	}
	if err := s.check(ctx, x); err != nil {
		return err
	}
	return s.timed(dropping, x.drop)
}

func (r *runner) insertBoth(ctx context.Context, x executor) error {
	if err := x.insert(ctx, r.Left, r.task); err != nil {
		return err
	}
	return x.insert(ctx, r.Right, r.task)
}

// check scans once more, for the checksum.
func (s *sample) check(ctx context.Context, x executor) error {
	return x.scan(ctx, func(t *input.Table) { s.checksum += t.Checksum() })
}

func (s *sample) timed(p phase, run func() error) error {
	before := usage.Now()
	start := time.Now()
	err := run()
	s.phases[p] = time.Since(start)
	s.use = s.use.Add(usage.Now().Sub(before))
	return err
}
