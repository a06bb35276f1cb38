package prof

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/cmd/spillway/internal/usage"
	"github.com/spillway-db/spillway/temptable/offheap"
)

// runner is one run under way.
type runner struct {
	Config
	w      workload
	limits Limits
	res    Result
}

// Run runs the workload and writes the profiles. Errors: ErrUsage, those of the
// engine and of the file system, and the context's.
func Run(ctx context.Context, c Config) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := writable(c.Out); err != nil {
		return nil, err
	}
	r := &runner{Config: c, w: workloads[c.Workload]}
	var err error
	if r.limits, err = c.limits(ctx); err != nil {
		return nil, err
	}
	r.res = Result{Schema: SchemaName, Workload: c.Workload, About: r.w.about, Mode: c.Mode, Limits: r.limits}
	for _, part := range []func(context.Context) error{r.measure, r.record, r.profiles, r.compare} {
		if err := part(ctx); err != nil {
			return nil, fmt.Errorf("profile %s: %w", c.Workload, err)
		}
	}
	return &r.res, nil
}

// writable makes dir, and makes sure that files can be made there: the
// profilers end the process if not.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".spillway-*")
	if err != nil {
		return err
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// with opens an engine for the time of use.
func (r *runner) with(recorded bool, use func(*engine) error) error {
	e, err := open(r.limits, r.w, r.Left, r.Right, recorded)
	if err != nil {
		return err
	}
	if err := use(e); err != nil {
		_ = e.close()
		return err
	}
	return e.close()
}

// measure makes passes without any profiler.
func (r *runner) measure(ctx context.Context) error {
	return r.with(false, func(e *engine) error {
		for _, s := range e.plan.steps {
			r.res.Rows += s.rows
		}
		before := usage.Now()
		if err := e.once(ctx, nil); err != nil {
			return err
		}
		r.res.FirstMinorFaults = usage.Now().Sub(before).MinorFaults
		r.res.FirstCalls = e.eng.Stats().Calls
		return r.measureWarm(ctx, e)
	})
}

func (r *runner) measureWarm(ctx context.Context, e *engine) error {
	calls, before, start := total(e.eng.Stats().Calls), usage.Now(), time.Now()
	n, err := r.repeat(ctx, e, "measure", r.Time)
	if err != nil {
		return err
	}
	took, u := time.Since(start).Seconds(), usage.Now().Sub(before)
	per := float64(n)
	r.res.Passes, r.res.Pass, r.res.NsRow = n, took/per, took/per*1e9/float64(max(r.res.Rows, 1))
	r.res.CPU, r.res.GCShare, r.res.Allocs = u.CPU.Seconds()/per, u.GCShare(), float64(u.Allocs)/per
	r.res.MinorFaults, r.res.MajorFaults = float64(u.MinorFaults)/per, float64(u.MajorFaults)/per
	r.res.Calls = float64(total(e.eng.Stats().Calls)-calls) / per
	return nil
}

func total(calls map[string]int64) (n int64) {
	for c := range maps.Values(calls) {
		n += c
	}
	return n
}

// repeat makes passes for a while, one at least.
func (r *runner) repeat(ctx context.Context, e *engine, what string, d time.Duration) (n int, err error) {
	task := r.Meter.Start(what, progress.Time, d.Milliseconds())
	defer task.End()
	for start, seen := time.Now(), time.Duration(0); n == 0 || seen < d; n++ {
		if err := e.once(ctx, nil); err != nil {
			return n, err
		}
		last := seen
		seen = time.Since(start)
		task.Add((seen - last).Milliseconds())
	}
	return n, nil
}

// record makes one pass on a new engine, with every block recorded, and writes
// the profile of it.
func (r *runner) record(ctx context.Context) error {
	return r.with(true, func(e *engine) error {
		rec := newRecording(e)
		if err := e.once(ctx, rec.step); err != nil {
			return err
		}
		r.res.Steps = rec.steps
		r.res.Top = rec.ledger.since(nil)
		blocks := int64(0)
		for i := range rec.steps {
			blocks += rec.steps[i].Blocks()
		}
		r.res.BlocksPerRow = float64(blocks) / float64(max(r.res.Rows, 1))
		return nil
	})
}

// profiles runs the workload under each profiler.
func (r *runner) profiles(ctx context.Context) error {
	for _, kind := range r.Kinds {
		name := filepath.Join(r.Out, r.Workload+"."+kind+".pprof")
		write := r.goProfile
		if kind == OffHeap {
			write = r.offHeap
		}
		if err := write(ctx, kind, name); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

func (r *runner) add(kind, name, command string) {
	r.res.Files = append(r.res.Files, File{kind, name, command + " " + name})
}

// traceShare is the part of the time that is traced: a trace is large.
const traceShare = 10

func (r *runner) goProfile(ctx context.Context, kind, name string) error {
	d, command := r.Time, "go tool pprof -http=:"
	if kind == "trace" {
		d, command, name = d/traceShare, "go tool trace", filepath.Join(r.Out, r.Workload+".trace")
	}
	err := r.with(false, func(e *engine) error {
		if err := e.once(ctx, nil); err != nil { // warm
			return err
		}
		stop := Start(kind, r.Out)
		_, err := r.repeat(ctx, e, kind, d)
		written := stop()
		if err != nil {
			_ = os.Remove(written)
			return err
		}
		return os.Rename(written, name)
	})
	r.add(kind, name, command)
	return err
}

// offHeap writes the profile of a pass, as it is before the table is dropped.
func (r *runner) offHeap(ctx context.Context, kind, name string) error {
	r.add(kind, name, "go tool pprof -http=: -sample_index=alloc_space")
	return r.with(true, func(e *engine) error {
		var err error
		last := &e.plan.steps[len(e.plan.steps)-1]
		run := e.once(ctx, func(s *step) {
			if s == last {
				err = writeFile(name, func(f *os.File) error { return offheap.Write(f, e.eng) })
			}
		})
		if run != nil {
			return run
		}
		return err
	})
}

func writeFile(name string, write func(*os.File) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
