package union

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
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
	use      usage // of all phases
	rows     int
	checksum uint64
	before   counters
	after    counters
}

// usage is what the process used.
type usage struct {
	cpu         time.Duration // user and system
	allocs      int64         // on the Go heap
	majorFaults int64
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
	before := used()
	start := time.Now()
	err := run()
	s.phases[p] = time.Since(start)
	after := used()
	s.use.cpu += after.cpu - before.cpu
	s.use.allocs += after.allocs - before.allocs
	s.use.majorFaults += after.majorFaults - before.majorFaults
	return err
}

func used() usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{allocs: int64(m.Mallocs)}
	u.cpu, u.majorFaults = rusage()
	return u
}
