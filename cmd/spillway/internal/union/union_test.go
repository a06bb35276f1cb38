package union

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
	"github.com/spillway-db/spillway/internal/legacy"
	"github.com/spillway-db/spillway/testdata/joinit"
)

// fakeEngine keeps rows in a map. Its fields say how it misbehaves.
type fakeEngine struct {
	limits limits
	log    *[]string // opened, created and closed engines
	fail   string    // the step that fails
	lose   bool      // a row
	dry    bool      // never spills
	peak   int64     // of RAM; 0: 1,000 KiB

	seen map[string]bool
	out  input.Table
	n    int64 // tables dropped
}

var errFake = errors.New("fake failure")

func (f *fakeEngine) do(step string) error {
	*f.log = append(*f.log, step)
	if f.fail == step {
		return errFake
	}
	return nil
}

func (f *fakeEngine) create(context.Context) error {
	f.seen, f.out = map[string]bool{}, input.Table{}
	return f.do("create")
}

func (f *fakeEngine) insert(_ context.Context, t *input.Table, _ *progress.Task) error {
	f.out.Schema = t.Schema
	if f.out.Cols == nil {
		f.out.Cols = []input.Vector{{}}
	}
	for k := range t.N {
		if s := string(t.AppendRow(nil, k)); !f.seen[s] {
			f.seen[s] = true
			f.out.Cols[0].I64 = append(f.out.Cols[0].I64, t.Cols[0].I64[k])
			f.out.N++
		}
	}
	return f.do("insert")
}

func (f *fakeEngine) scan(_ context.Context, sink func(*input.Table)) error {
	if f.lose {
		f.out.N--
		f.lose = false
	}
	sink(&f.out)
	return f.do("scan")
}

func (f *fakeEngine) drop() error { f.n++; return f.do("drop") }

func (f *fakeEngine) close() error { return f.do("close") }

func (f *fakeEngine) counters() counters {
	c := counters{ramPeak: 1000 << 10, blocks: 10 * f.n, files: 3}
	if f.peak > 0 {
		c.ramPeak = f.peak
	}
	if f.limits.ram < 1000<<10 && !f.dry {
		c.mmapPeak, c.diskPeak = 600, 0
		if f.limits.mmapOff {
			c.mmapPeak, c.diskPeak = 0, 600
		}
	}
	return c
}

// numbers is a table of the integers [from, to).
func numbers(t testing.TB, from, to int) *input.Table {
	g := input.Generator{Rows: to, Dup: 0, Seed: 1}
	all, _, err := g.Make(t.Context(), nil)
	require.NoError(t, err)
	n := input.NewTable(all.Schema[:1])
	n.N = to - from
	n.Cols[0].I64 = all.Cols[0].I64[from:to]
	return n
}

// fakeConfig runs modes on fake engines, and returns the log of their steps.
func fakeConfig(t testing.TB, tweak func(*fakeEngine), modes ...string) (Config, *[]string) {
	log := new([]string)
	left, right := numbers(t, 0, 100), numbers(t, 50, 150)
	answer, err := input.Expect(t.Context(), left, right, nil)
	require.NoError(t, err)
	return Config{
		Modes: modes, MaxRAM: 4 << 20, MaxMmap: 4 << 20, Count: 3, Pool: Hot, Dir: t.TempDir(), LegacyCycles: 1,
		Left: left, Right: right, Answer: answer,
		open: func(l limits, _ input.Schema) (executor, error) {
			f := &fakeEngine{limits: l, log: log}
			tweak(f)
			return f, f.do("open")
		},
	}, log
}

func plain(*fakeEngine) {}

func count(log []string, step string) (n int) {
	for _, s := range log {
		if s == step {
			n++
		}
	}
	return n
}

func TestRunOnFakes(t *testing.T) {
	c, log := fakeConfig(t, plain, RAM, Mmap, Disk)
	res, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.EqualValues(t, 500<<10, res.SpillRAM)
	require.Len(t, res.Runs, 3)
	for _, run := range res.Runs {
		require.Len(t, run.Samples, 3)
		require.Equal(t, 150, run.Rows)
		require.EqualValues(t, 10, run.BlocksCreated)
		require.InDelta(t, 10.0/200, run.BlocksPerRow, 1e-9)
		require.EqualValues(t, 3, run.FilesCreated)
		require.Equal(t, Hot, run.Pool)
		require.False(t, run.Projected)
		require.Nil(t, run.Legacy)
		require.InDelta(t, run.Median*1e9/200, run.NsPerRow, 1e-6)
	}
	require.EqualValues(t, 4<<20, res.Runs[0].RAMBudget)
	require.EqualValues(t, 500<<10, res.Runs[1].RAMBudget)
	require.EqualValues(t, 600, res.Runs[1].MmapPeak)
	require.EqualValues(t, 600, res.Runs[2].DiskPeak)
	// One probe of the RAM that is needed; three warm-ups; three samples each.
	require.Equal(t, 1+3, count(*log, "open"))
	require.Equal(t, 1+3+9, count(*log, "create"))
	require.Equal(t, 1+3, count(*log, "close"))
}

func TestFreshPoolOpensAnEngineASample(t *testing.T) {
	c, log := fakeConfig(t, plain, RAM)
	c.Pool = Fresh
	res, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, 3, count(*log, "create"))
	require.Equal(t, count(*log, "open"), count(*log, "close"))
	require.EqualValues(t, 10, res.Runs[0].BlocksCreated)
}

func TestColdPool(t *testing.T) {
	c, log := fakeConfig(t, plain, RAM)
	c.Pool = Cold
	_, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, 1, count(*log, "open"))
	require.ErrorContains(t, flush(c.Dir+"/none"), "write back")
}

func TestExplicitSpillRAM(t *testing.T) {
	c, log := fakeConfig(t, plain, Mmap)
	c.SpillRAM = 700 << 10
	res, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.EqualValues(t, 700<<10, res.SpillRAM)
	require.Equal(t, 1, count(*log, "open"), "no probe is needed")

	for _, pool := range Pools() {
		c, _ = fakeConfig(t, func(f *fakeEngine) { f.dry = true }, Disk)
		c.SpillRAM, c.Pool = 700<<10, pool
		_, err = Run(t.Context(), c)
		require.ErrorIs(t, err, ErrUsage)
		require.ErrorContains(t, err, "spill-ram 700 KiB the mode disk does not spill")
	}
}

// A table that fits in the least budget is no error unless one was given.
func TestTooSmallToSpill(t *testing.T) {
	c, _ := fakeConfig(t, func(f *fakeEngine) { f.dry, f.peak = true, 1000 }, RAM, Mmap, Disk)
	res, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.EqualValues(t, minRAM, res.SpillRAM)
}

func TestDifferingResult(t *testing.T) {
	c, _ := fakeConfig(t, func(f *fakeEngine) { f.lose = f.limits.mmapOff }, RAM, Disk)
	c.Pool, c.Count = Fresh, 1
	res, err := Run(t.Context(), c)
	require.ErrorIs(t, err, ErrDiffer)
	require.ErrorContains(t, err, "disk gives 149 rows")
	require.NotContains(t, err.Error(), "ram gives")
	require.Len(t, res.Runs, 2)
}

// An early sample is wrong, the later ones right.
func TestEverySampleIsChecked(t *testing.T) {
	first := true
	c, _ := fakeConfig(t, func(f *fakeEngine) { f.lose, first = first, false }, RAM)
	c.Pool = Fresh
	_, err := Run(t.Context(), c)
	require.ErrorIs(t, err, ErrDiffer)
}

func TestEveryStepFails(t *testing.T) {
	for _, step := range []string{"open", "create", "insert", "scan", "drop", "close"} {
		for _, pool := range Pools() {
			c, log := fakeConfig(t, func(f *fakeEngine) { f.fail = step }, RAM, Mmap)
			c.Pool = pool
			_, err := Run(t.Context(), c)
			require.ErrorIs(t, err, errFake, step)
			if step != "open" {
				require.Equal(t, count(*log, "open"), count(*log, "close"), step)
			}
		}
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, joinitConfig(t, Legacy8021))
	require.ErrorIs(t, err, context.Canceled)
}

func TestValidate(t *testing.T) {
	good, _ := fakeConfig(t, plain, RAM)
	require.NoError(t, good.Validate())
	for want, spoil := range map[string]func(*Config){
		"no mode":        func(c *Config) { c.Modes = nil },
		`mode "x"`:       func(c *Config) { c.Modes = []string{"x"} },
		`twice`:          func(c *Config) { c.Modes = []string{RAM, RAM} },
		`pool "x"`:       func(c *Config) { c.Pool = "x" },
		"0 samples":      func(c *Config) { c.Count = 0 },
		"max-ram of 0":   func(c *Config) { c.MaxRAM = 0 },
		"max-mmap of 0":  func(c *Config) { c.MaxMmap = 0 },
		"spill-ram of -": func(c *Config) { c.SpillRAM = -1 },
	} {
		c := good
		spoil(&c)
		_, err := Run(t.Context(), c)
		require.ErrorIs(t, err, ErrUsage, want)
		require.ErrorContains(t, err, want)
	}
}

// joinitConfig joins the report's tables in legacy modes.
func joinitConfig(t testing.TB, modes ...string) Config {
	s, err := input.ParseSchema(joinit.Schema)
	require.NoError(t, err)
	tab, err := input.Read(t.Context(), joinit.Open(), s, input.Format{Null: `\N`})
	require.NoError(t, err)
	return Config{Modes: modes, MaxRAM: 12 << 20, MaxMmap: 1 << 30, Count: 2, Pool: Hot, Dir: t.TempDir(),
		LegacyCycles: 3, Left: tab, Right: tab,
		Answer: input.Answer{Rows: joinit.Rows, Checksum: joinit.Checksum}}
}

func TestLegacyModes(t *testing.T) {
	res, err := Run(t.Context(), joinitConfig(t, Legacy8019, Legacy8021))
	require.NoError(t, err)
	old, fixed := &res.Runs[0], &res.Runs[1]
	for _, run := range res.Runs {
		require.Equal(t, joinit.Rows, run.Rows)
		require.EqualValues(t, joinit.Checksum, run.Checksum)
		require.Equal(t, "none", run.Pool)
	}
	require.True(t, old.Projected)
	require.Len(t, old.Samples, 1, "a projection is not repeated")
	require.EqualValues(t, 26035, old.FilesCreated)
	require.EqualValues(t, 26035, old.MmapCalls)
	require.EqualValues(t, 26035*8<<20, old.BytesFilled)
	require.EqualValues(t, 4+26035, old.BlocksCreated)
	require.Equal(t, &report.Legacy{Duplicates: joinit.Rows, FirstFile: 6733, FileBytes: 8 << 20}, old.Legacy)
	require.Equal(t, 3, old.Measured.Cycles)
	require.InDelta(t, old.Measured.Seconds/3*26032, old.Phases.Insert, old.Phases.Insert/5)
	require.Positive(t, old.CPU)
	require.False(t, fixed.Projected)
	require.Len(t, fixed.Samples, 2)
	require.Zero(t, fixed.FilesCreated)
	require.EqualValues(t, 4, fixed.BlocksCreated)
}

func TestFullCyclesAreAnnounced(t *testing.T) {
	c := joinitConfig(t, Legacy8021)
	c.MaxRAM, c.LegacyCycles, c.Count = 4<<20, legacy.Full, 1
	var notes strings.Builder
	c.Meter = progress.New(&notes, false)
	res, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.False(t, res.Runs[0].Projected)
	require.EqualValues(t, 1, res.Runs[0].FilesCreated)
	require.Equal(t, 1, strings.Count(notes.String(), "\n"))
	require.Contains(t, notes.String(), "legacy-8.0.21, full: about 0.0 minutes; 1 files, the last of 4.0 MiB: 4.0 MiB written")
	require.Contains(t, notes.String(), c.Dir)
}

func TestEstimateFails(t *testing.T) {
	c := joinitConfig(t, Legacy8019)
	c.LegacyCycles = legacy.Full
	c.Dir += "/none"
	_, err := Run(t.Context(), c)
	require.ErrorContains(t, err, "legacy-8.0.19: union: legacy: make a file")
}

func TestMedian(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 1, 2: 1500 * time.Millisecond, 3: 2, 4: 2500 * time.Millisecond} {
		m := &mode{}
		for i := n; i > 0; i-- {
			s := sample{}
			s.phases[inserting] = time.Duration(i) * time.Second
			m.samples = append(m.samples, s)
		}
		if want < time.Millisecond {
			want *= time.Second
		}
		require.InDelta(t, want.Seconds(), new(runner).median(m, (*sample).time), 1e-9)
	}
}

func TestModesAreNamedOnce(t *testing.T) {
	require.Equal(t, "legacy-8.0.19 legacy-8.0.21 ram mmap disk", strings.Join(Modes(), " "))
}
