package prof

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
	"github.com/spillway-db/spillway/testdata/joinit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rows is the number of rows of a table.
const rows = 4096

// config profiles generated tables, all rows of which come twice.
func config(t testing.TB, workload string) Config {
	left, right, err := input.Generator{Rows: rows, Dup: 1, Seed: 1}.Make(t.Context(), nil)
	require.NoError(t, err)
	return Config{Workload: workload, Kinds: []string{OffHeap}, Out: filepath.Join(t.TempDir(), "out"), Time: time.Millisecond,
		Mode: union.Mmap, MaxRAM: 12 << 20, MaxMmap: 1 << 30, Dir: t.TempDir(), Left: left, Right: right}
}

func readProfile(t testing.TB, name string) *profile.Profile {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	p, err := profile.Parse(f)
	require.NoError(t, err)
	return p
}

// sum is the sum of a profile's values of one kind.
func sum(t testing.TB, p *profile.Profile, kind string) (n int64) {
	at := -1
	for i, s := range p.SampleType {
		if s.Type == kind {
			at = i
		}
	}
	require.GreaterOrEqual(t, at, 0, kind)
	for _, s := range p.Sample {
		n += s.Value[at]
	}
	return n
}

func TestEveryWorkloadInEveryMode(t *testing.T) {
	for _, w := range Workloads() {
		for _, mode := range Modes() {
			c := config(t, w)
			c.Mode = mode
			r, err := Run(t.Context(), c)
			require.NoError(t, err, "%s %s", w, mode)
			require.Positive(t, r.Passes)
			require.Positive(t, r.Rows)
			var total, blocks int64
			for i := range r.Steps {
				total += r.Steps[i].Bytes
				blocks += r.Steps[i].Blocks()
			}
			require.InDelta(t, float64(blocks)/float64(r.Rows), r.BlocksPerRow, 1e-12)
			tiers := map[string]bool{}
			var top int64
			for _, x := range r.Top {
				tiers[x.Tier] = true
				top += x.Bytes
				require.Contains(t, x.Path[0], "temptable.", "the caller's frames are left out")
			}
			require.Equal(t, total, top)
			require.Equal(t, total, sum(t, readProfile(t, r.Files[0].Path), "alloc_space"))
			require.Equal(t, mode == union.Mmap && w != "groupby", tiers["mmap"], "%s %s %v", w, mode, r.Top)
			require.Equal(t, mode == union.Disk && w != "groupby", tiers["disk"], "%s %s", w, mode)
		}
	}
}

// A duplicate takes nothing, and neither does a second pass.
func TestDuplicatesTakeNothing(t *testing.T) {
	r, err := Run(t.Context(), config(t, "union"))
	require.NoError(t, err)
	left, right := r.step("insert left"), r.step("insert right")
	require.EqualValues(t, rows, left.Added)
	require.Positive(t, left.Blocks())
	require.Zero(t, right.Added)
	require.Zero(t, right.Blocks())
	require.Empty(t, right.Taken)
	require.Nil(t, r.step("no such step"))
}

func TestGroupsAreCounted(t *testing.T) {
	c := config(t, "groupby")
	e, err := open(Limits{RAM: 4 << 20, dir: c.Dir}, workloads["groupby"], c.Left, c.Right, false)
	require.NoError(t, err)
	want := map[int64]int64{}
	for _, side := range []*input.Table{c.Left, c.Right} {
		for _, g := range side.Cols[3].I64 {
			want[g]++
		}
	}
	got := map[int64]int64{}
	require.NoError(t, e.once(t.Context(), func(s *step) {
		if s.name == "group right" {
			for row, err := range e.pass.t.Rows(t.Context()) {
				require.NoError(t, err)
				got[row.Int(0)] = row.Int(1)
			}
		}
	}))
	require.Equal(t, want, got)
	require.NoError(t, e.close())
}

func TestEveryKind(t *testing.T) {
	c := config(t, "union")
	c.Kinds, c.Time = Kinds(), 20*time.Millisecond
	r, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, r.Files, len(Kinds()))
	for _, f := range r.Files {
		require.True(t, strings.HasSuffix(f.Open, " "+f.Path))
		if f.Kind == "trace" {
			info, err := os.Stat(f.Path)
			require.NoError(t, err)
			require.Positive(t, info.Size())
			continue
		}
		readProfile(t, f.Path)
	}
	require.Positive(t, sum(t, readProfile(t, filepath.Join(c.Out, "union.allocs.pprof")), "alloc_space"))
	entries, err := os.ReadDir(c.Out)
	require.NoError(t, err)
	require.Len(t, entries, len(Kinds()), "nothing else is there")
}

// The bug beside its cure, on the report's tables.
func TestCompare(t *testing.T) {
	c := config(t, "union")
	s, err := input.ParseSchema(joinit.Schema)
	require.NoError(t, err)
	c.Left, err = input.Read(t.Context(), joinit.Open(), s, input.Format{})
	require.NoError(t, err)
	c.Right, c.Compare, c.LegacyCycles = c.Left, true, 2
	run := &runner{Config: c, w: workloads["union"], limits: Limits{RAM: 2 << 20, Mmap: 1 << 30, dir: c.Dir}}
	require.NoError(t, writable(c.Out))
	require.NoError(t, run.record(t.Context()))
	require.NoError(t, run.compare(t.Context()))
	r := &run.res
	right := r.Legacy.Steps[1]
	require.EqualValues(t, 26035, right.Blocks())
	require.EqualValues(t, 26035, right.Files)
	require.EqualValues(t, 26035*8<<20, right.Bytes)
	require.EqualValues(t, 26035*2048, right.Calls["write"])
	require.EqualValues(t, 26035, right.Calls["open"])
	require.True(t, r.Legacy.Projected)
	require.Contains(t, right.Taken[0].Path, "legacy.allocator.makeOwn")
	require.Zero(t, r.Legacy.Steps[0].Files)
	require.EqualValues(t, 32768, r.Legacy.Steps[0].Added)
	p := readProfile(t, r.Legacy.File)
	require.Equal(t, r.Legacy.Steps[0].Bytes+right.Bytes, sum(t, p, "alloc_space"))
	require.EqualValues(t, 4+26035, sum(t, p, "alloc_objects"))

	text := r.Text()
	require.Contains(t, text, "26,035 blocks, 203 GiB; 26,035 files; ~")
	require.Contains(t, text, "no path: nothing was taken")
	for line := range strings.Lines(text) {
		if !strings.Contains(line, c.Out) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), columns+1, line)
		}
	}

	c = config(t, "distinct")
	c.Compare = true
	r, err = Run(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, r.Legacy.Steps, 1)
}

func TestUsage(t *testing.T) {
	for want, spoil := range map[string]func(*Config){
		`workload "x" is not one of distinct, groupby`: func(c *Config) { c.Workload = "x" },
		`kind "x"`:                 func(c *Config) { c.Kinds = []string{"x"} },
		"no kind":                  func(c *Config) { c.Kinds = nil },
		`mode "x"`:                 func(c *Config) { c.Mode = "x" },
		"a time of 0s":             func(c *Config) { c.Time = 0 },
		"for distinct, union only": func(c *Config) { c.Workload, c.Compare = "scan", true },
	} {
		c := config(t, "union")
		spoil(&c)
		_, err := Run(t.Context(), c)
		require.ErrorIs(t, err, ErrUsage, want)
		require.ErrorContains(t, err, want)
	}
}

func TestFailures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	c := config(t, "union")
	c.Out = file
	_, err := Run(t.Context(), c)
	require.ErrorContains(t, err, "not a directory")

	if !raceEnabled { // there are no files then
		c = config(t, "union")
		c.Dir += "/none"
		_, err = Run(t.Context(), c)
		require.ErrorIs(t, err, os.ErrNotExist)
	}

	for _, kinds := range [][]string{{"cpu"}, {OffHeap}} {
		c = config(t, "union")
		c.Kinds = kinds
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = Run(ctx, c)
		require.ErrorIs(t, err, context.Canceled)
		left, err := os.ReadDir(c.Dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// A profile that is interrupted leaves no half of it.
func TestInterrupted(t *testing.T) {
	c := config(t, "union")
	c.Kinds, c.Time = []string{"cpu"}, time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	c.Meter = progress.New(&bytes.Buffer{}, false)
	r := &runner{Config: c, w: workloads["union"]}
	var err error
	require.NoError(t, writable(c.Out))
	r.limits, err = c.limits(ctx)
	require.NoError(t, err)
	time.AfterFunc(50*time.Millisecond, cancel)
	require.ErrorIs(t, r.profiles(ctx), context.Canceled)
	left, err := os.ReadDir(c.Out)
	require.NoError(t, err)
	require.Empty(t, left)
}

// example is a result with every part.
func example() *Result {
	path := []string{"temptable.Table.InsertBatch", "temptable.Table.insertBatch", "temptable.inserter.chunk",
		"temptable.inserter.rows", "temptable.Table.insert", "temptable.Table.add", "temptable.Table.store",
		"allocator.Arena.Append", "allocator.Arena.seek", "allocator.Arena.addBlock", "allocator.Space.take", "allocator.Space.block"}
	index := []string{"temptable.Table.InsertBatch", "hashindex.Index.Reserve", "allocator.Space.AllocIndex", "allocator.Space.block"}
	left := Step{Name: "insert left", Rows: 32768, Added: 32768, Created: 100, Reused: 20, Bytes: 3 << 20, Files: 1, Seconds: 0.003,
		Calls: map[string]int64{"open": 1, "map": 1, "populate": 12},
		Taken: []Taken{{"ram", "rows", path, 52, 1 << 20}, {"mmap", "index", index, 11, 1 << 19}}}
	old := []string{"legacy.Table.Insert", "legacy.Table.insert", "legacy.allocator.alloc", "legacy.allocator.make"}
	return &Result{
		Schema: SchemaName, Workload: "union", About: About("union"), Mode: "mmap", Limits: Limits{RAM: 3 << 19, Mmap: 1 << 30}, Rows: 65536,
		Files:  []File{{"cpu", "out/union.cpu.pprof", "go tool pprof -http=: out/union.cpu.pprof"}},
		Passes: 200, Pass: 0.0045, NsRow: 68.66, CPU: 0.0046, GCShare: 0.0123, Allocs: 12,
		FirstMinorFaults: 812, FirstCalls: map[string]int64{"open": 1, "map": 1, "populate": 12, "stat": 0}, MinorFaults: 0.5,
		Steps: []Step{left, {Name: "insert right", Rows: 32768, Seconds: 0.0015}, {Name: "scan"}}, BlocksPerRow: 120.0 / 65536,
		Top: append([]Taken{}, left.Taken...),
		Legacy: &Legacy{File: "out/union.offheap.legacy-8.0.19.pprof", Projected: true, Steps: []Step{
			{Name: "insert left", Rows: 32768, Added: 32768, Created: 4, Bytes: 8 << 20, Seconds: 0.02, Calls: map[string]int64{"anon": 4},
				Taken: []Taken{{"ram", "", old, 4, 8 << 20}}},
			{Name: "insert right", Rows: 32768, Created: 26035, Bytes: 26035 * 8 << 20, Files: 26035, Seconds: 213,
				Calls: oldCalls(26035, 0, 26035*8<<20), Taken: []Taken{{"file", "", old, 26035, 26035 * 8 << 20}}},
		}},
	}
}

func TestGoldenText(t *testing.T) {
	const file = "testdata/profile.text"
	got := example().Text()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestJSONDecodes(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, example()))
	var back Result
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&back))
	require.Equal(t, example(), &back)
}

func TestPaths(t *testing.T) {
	require.Equal(t, "temptable.Table.insert", short("temptable.(*Table).insert"))
	require.Equal(t, "temptable.Table.insert", short("a/temptable.(*Table).insert.func1.2"))
	require.Equal(t, "spill.touch", short("spill.touch-fm"))
	long := example().Steps[0].Taken[0].Path
	require.Equal(t, []string{"temptable.Table.InsertBatch", "…", "temptable.Table.store", "allocator.Arena.Append", "…", "allocator.Space.block"}, gist(long))
	require.Equal(t, "temptable.Table.InsertBatch > temptable.Table.store > allocator.Arena.Append", oneLine(long, 100))
	require.Equal(t, "temptable.Table.InsertBatch > … > allocator.Arena.Append", oneLine(long, 64))
	require.Equal(t, "a.b", oneLine([]string{"a.b"}, 1))
}

func TestLedger(t *testing.T) {
	a := Taken{"ram", "rows", []string{"x"}, 1, 10}
	b := Taken{"ram", "index", []string{"x"}, 2, 30}
	before, now := ledger{}, ledger{}
	before.add(a)
	now.add(a)
	now.add(a)
	now.add(b)
	require.Equal(t, []Taken{b, a}, now.since(before))
	require.Empty(t, now.since(now))
	require.EqualValues(t, 50, now.bytes())
}
