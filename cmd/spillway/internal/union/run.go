package union

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
	"github.com/spillway-db/spillway/internal/legacy"
)

// longSample is how long a sample of a legacy mode takes that is not repeated.
const longSample = 10 * time.Second

// runner is one run under way.
type runner struct {
	Config
	modes []*mode
	auto  bool // SpillRAM was not given
	task  *progress.Task
}

// mode is one mode under way.
type mode struct {
	name    string
	limits  limits
	x       executor // nil: none is open
	samples []sample
	once    bool // no further samples
}

// Result is what a run found.
type Result struct {
	Runs     []report.Run
	SpillRAM int64 // the budget of the modes mmap and disk
}

// Run runs every mode and returns what it found; with ErrDiffer beside it if a
// mode gave another result than Config.Answer. Other errors: ErrUsage, those of
// the engines, and the context's. Nothing is left on disk.
func Run(ctx context.Context, c Config) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := newRunner(c)
	r.task = c.Meter.Start("union", progress.Rows, r.rows())
	defer r.task.End()
	return r.run(ctx)
}

func newRunner(c Config) *runner {
	if c.open == nil {
		c.open = openEngine
	}
	return &runner{Config: c}
}

func (r *runner) run(ctx context.Context) (res *Result, err error) {
	defer func() { err = errors.Join(err, r.close()) }()
	runtime.GC() // what made the tables and the answer
	for _, prepare := range []func(context.Context) error{r.plan, r.estimate, r.sampleAll} {
		if err := prepare(ctx); err != nil {
			return nil, err
		}
	}
	return r.result()
}

func (r *runner) result() (*Result, error) {
	res := &Result{SpillRAM: r.SpillRAM}
	var faults []error
	for _, m := range r.modes {
		run := r.summary(m)
		res.Runs = append(res.Runs, run)
		if run.Rows != r.Answer.Rows || run.Checksum != r.Answer.Checksum {
			faults = append(faults, fmt.Errorf("%w: %s gives %d rows and checksum %d, not %d and %d",
				ErrDiffer, m.name, run.Rows, run.Checksum, r.Answer.Rows, r.Answer.Checksum))
		}
	}
	return res, errors.Join(faults...)
}

// plan opens every mode, and finds out what makes the modes mmap and disk
// spill.
func (r *runner) plan(ctx context.Context) error {
	if err := r.autoSpill(ctx); err != nil {
		return err
	}
	for _, name := range r.Modes {
		m := &mode{name: name, limits: r.limitsOf(name)}
		r.modes = append(r.modes, m)
		if err := r.warm(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) limitsOf(name string) limits {
	l := limits{ram: r.MaxRAM, mmap: r.MaxMmap, dir: r.Dir}
	if name == Mmap || name == Disk {
		l.ram = r.SpillRAM
	}
	l.mmapOff = name == Disk
	return l
}

// autoSpill sets SpillRAM to half of what the input takes in RAM.
func (r *runner) autoSpill(ctx context.Context) error {
	r.auto = r.SpillRAM == 0
	if !r.auto || !r.spills() {
		return nil
	}
	x, err := r.Config.open(r.limitsOf(RAM), r.Left.Schema)
	if err != nil {
		return err
	}
	_, err = r.take(ctx, x)
	r.SpillRAM = max(x.counters().ramPeak/2, minRAM)
	return errors.Join(err, x.close())
}

func (r *runner) spills() bool {
	return slices.Contains(r.Modes, Mmap) || slices.Contains(r.Modes, Disk)
}

// warm opens an engine that is to serve all samples, and runs it once.
func (r *runner) warm(ctx context.Context, m *mode) error {
	if r.fresh(m.name) {
		return nil
	}
	if err := r.open(m); err != nil {
		return err
	}
	s, err := r.take(ctx, m.x)
	if err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	s.after = m.x.counters()
	return r.mustSpill(m, &s)
}

// fresh says whether each sample of a mode has an engine of its own. The legacy
// modes keep nothing from one sample to the next.
func (r *runner) fresh(mode string) bool { return r.Pool == Fresh || isLegacy(mode) }

// mustSpill refuses a given budget that makes a spilling mode stay in RAM.
func (r *runner) mustSpill(m *mode, s *sample) error {
	if !r.auto && (m.name == Mmap || m.name == Disk) && s.after.mmapPeak+s.after.diskPeak == 0 {
		return fmt.Errorf("%w: with spill-ram %s the mode %s does not spill: it takes %s", ErrUsage,
			humanize.IBytes(uint64(m.limits.ram)), m.name, humanize.IBytes(uint64(s.after.ramPeak)))
	}
	return nil
}

func (r *runner) open(m *mode) (err error) {
	if isLegacy(m.name) {
		m.x = openOld(r.legacyConfig(m.name), r.Left.Schema)
		return nil
	}
	m.x, err = r.Config.open(m.limits, r.Left.Schema)
	return err
}

func (r *runner) legacyConfig(name string) legacy.Config {
	cfg := legacy.Config{MaxRAM: r.MaxRAM, Dir: r.Dir, Cycles: r.LegacyCycles}
	if name == Legacy8021 {
		cfg.Policy = legacy.V8021
	}
	return cfg
}

// estimate says beforehand what full legacy cycles will take.
func (r *runner) estimate(ctx context.Context) error {
	if r.LegacyCycles != legacy.Full {
		return nil
	}
	for _, m := range r.modes {
		if !isLegacy(m.name) {
			continue
		}
		cfg := r.legacyConfig(m.name)
		cfg.Cycles = legacy.DefaultMinFiles
		x := openOld(cfg, r.Left.Schema)
		_, err := r.take(ctx, x)
		if err = errors.Join(err, x.close()); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		r.announce(m.name, x.counters().old)
	}
	return nil
}

func (r *runner) announce(name string, o *legacy.Result) {
	if o.Files == 0 {
		return
	}
	r.Meter.Note("%s, full: about %.1f minutes; %s files, the last of %s: %s written, one file at a time, into %s",
		name, o.Projected.Minutes(), humanize.Comma(int64(o.Files)), humanize.IBytes(uint64(o.FileBlock)),
		humanize.IBytes(uint64(o.Filled)), r.Dir)
}

// sampleAll takes the samples, mode by mode, again and again.
func (r *runner) sampleAll(ctx context.Context) error {
	for range r.Count {
		for _, m := range r.modes {
			if m.once {
				r.task.Add(r.inputRows())
				continue
			}
			if err := r.sample(ctx, m); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return nil
}

func (r *runner) inputRows() int64 { return int64(r.Left.N + r.Right.N) }

// rows is how many rows the run inserts, warm-ups and estimates included.
func (r *runner) rows() int64 {
	times := 0
	if r.SpillRAM == 0 && r.spills() {
		times++
	}
	for _, name := range r.Modes {
		times += r.Count
		if !r.fresh(name) || isLegacy(name) && r.LegacyCycles == legacy.Full {
			times++
		}
	}
	return int64(times) * r.inputRows()
}

func (r *runner) sample(ctx context.Context, m *mode) error {
	if err := r.prepare(m); err != nil {
		return err
	}
	before := m.x.counters()
	s, err := r.take(ctx, m.x)
	if err != nil {
		return err
	}
	s.before, s.after = before, m.x.counters()
	m.samples = append(m.samples, s)
	if o := s.after.old; o != nil {
		m.once = o.Projected > 0 || s.time() > longSample
	}
	return r.mustSpill(m, &s)
}

// prepare brings the pool into its state.
func (r *runner) prepare(m *mode) error {
	switch {
	case r.fresh(m.name):
		if err := m.close(); err != nil {
			return err
		}
		return r.open(m)
	case r.Pool == Cold:
		return flush(r.Dir)
	}
	return nil
}

func (r *runner) close() error {
	var errs []error
	for _, m := range r.modes {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}

func (m *mode) close() error {
	if m.x == nil {
		return nil
	}
	x := m.x
	m.x = nil
	return x.close()
}
