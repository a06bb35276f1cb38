package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// example is a run with every mode, one of them projected.
func example() *Report {
	run := func(mode string, s float64) Run {
		return Run{Mode: mode, Samples: []float64{s, s * 1.1, s * 0.9}, Median: s, NsPerRow: s * 1e9 / 65536,
			Phases: Phases{Insert: s * 0.9, Scan: s * 0.1}, Rows: 32768, Checksum: 70478173962876, Pool: "hot"}
	}
	r := &Report{
		Schema:   SchemaName,
		Options:  Options{MaxRAM: 12 << 20, SpillRAM: 1500 << 10, GOMAXPROCS: 2},
		Host:     Host{CPU: "some CPU", OS: "linux", Arch: "amd64"},
		Input:    Input{Left: Side{"joinit", 32768}, Right: Side{"joinit2", 32768}, Report: true, Order: "same"},
		Expected: Expected{Rows: 32768, Checksum: 70478173962876, RightDuplicates: 32768},
		Runs: []Run{run("legacy-8.0.19", 213.4), run("legacy-8.0.21", 0.0204), run("ram", 0.00291),
			run("mmap", 0.00302), run("disk", 0.00391)},
	}
	old, ram, mmap, disk := &r.Runs[0], &r.Runs[2], &r.Runs[3], &r.Runs[4]
	old.Samples = old.Samples[:1]
	old.Pool = "none"
	old.Projected = true
	old.FilesCreated, old.BytesFilled, old.RAMPeak, old.MmapPeak = 26035, 26035*8<<20, 8<<20, 8<<20
	old.Measured = &Measured{Cycles: 243, Files: 243, Seconds: 2, Bytes: 243 * 8 << 20, P10: 0.0079, P50: 0.0082, P90: 0.0091}
	old.Legacy = &Legacy{Duplicates: 32768, FirstFile: 6733, FileBytes: 8 << 20}
	r.Runs[1].Legacy, r.Runs[1].RAMPeak = &Legacy{FirstFile: -1}, 8<<20
	ram.RAMPeak, mmap.RAMPeak, disk.RAMPeak = 3000<<10, 1500<<10, 1500<<10
	mmap.MmapPeak, mmap.FilesCreated, mmap.BytesFilled, disk.DiskPeak, disk.FilesCreated = 1600<<10, 1, 2<<20, 1600<<10, 1
	r.SetRatios()
	return r
}

func written(t testing.TB, r *Report, format string) string {
	var b bytes.Buffer
	require.NoError(t, Write(&b, r, format))
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			got := written(t, example(), format)
			file := filepath.Join("testdata", "union."+format)
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// variants are reports whose screens have the most lines.
func variants() map[string]*Report {
	all := map[string]*Report{"all": example()}
	wrong := example()
	for i := range wrong.Runs {
		wrong.Runs[i].Rows--
	}
	all["every mode wrong"] = wrong
	two := example()
	two.Runs[1].Projected, two.Runs[1].Measured = true, two.Runs[0].Measured
	all["two projections"] = two
	spilled := example()
	spilled.Runs[2].MmapPeak = 1 << 30
	spilled.Expected.LeftDuplicates, spilled.Expected.RightDuplicates = 123456789, 123456789
	all["ram spills"] = spilled
	none := example()
	none.Runs[0].Legacy.FirstFile = -1
	all["no file"] = none
	dry := example()
	dry.Runs[3].MmapPeak, dry.Runs[4].DiskPeak = 0, 0
	all["nothing spills"] = dry
	few := example()
	few.Runs = few.Runs[2:3]
	few.Input.Report = false
	few.SetRatios()
	all["ram alone"] = few
	return all
}

func TestScreenFits(t *testing.T) {
	for name, r := range variants() {
		text := strings.TrimSuffix(written(t, r, "text"), "\n")
		lines := strings.Split(text, "\n")
		require.LessOrEqual(t, len(lines), screenLines, "%s:\n%s", name, text)
		for _, line := range lines {
			require.LessOrEqual(t, utf8.RuneCountInString(line), screenColumns, "%s: %s", name, line)
		}
	}
}

func TestSpillingIsExplained(t *testing.T) {
	all := variants()
	require.Contains(t, written(t, all["all"], "text"), "Spillway takes 2.9 MiB and would not overflow 12 MiB: mmap and disk get 1.5 MiB")
	require.Contains(t, written(t, all["ram spills"], "text"), "12 MiB is too little for these rows")
	require.Contains(t, written(t, all["nothing spills"], "text"), "Spillway takes 2.9 MiB, too little to spill")
	require.NotContains(t, written(t, all["ram alone"], "text"), "spill")
}

func TestWrongResultsAreNamed(t *testing.T) {
	r := example()
	r.Runs[3].Checksum++
	text := written(t, r, "text")
	require.Contains(t, text, "CHECK  FAILED: 32,768 rows and checksum 70478173962876 are right")
	require.Contains(t, text, "; mmap: 32,768, 70478173962877.")
	require.Len(t, r.Differing(), 1)
}

func TestJSONDecodes(t *testing.T) {
	var back Report
	dec := json.NewDecoder(strings.NewReader(written(t, example(), "json")))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&back))
	require.Equal(t, example(), &back)
}

// The names are a promise to other programs.
func TestJSONNames(t *testing.T) {
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(written(t, example(), "json")), &m))
	require.Equal(t, "spillway.union/1", m["schema"])
	for _, name := range []string{"options", "host", "input", "expected", "runs", "ratios"} {
		require.Contains(t, m, name)
	}
	run := m["runs"].([]any)[0].(map[string]any)
	for _, name := range []string{"mode", "samples_s", "median_s", "phases_s", "cpu_s", "ns_per_row", "rows_out",
		"checksum", "projected", "measured", "pool", "ram_peak_bytes", "mmap_peak_bytes", "disk_peak_bytes",
		"blocks_created", "blocks_reused", "files_created", "mmap_calls", "bytes_filled", "blocks_per_row",
		"go_allocs", "major_faults"} {
		require.Contains(t, run, name)
	}
	for _, name := range []string{"cycles", "seconds", "files", "bytes", "p10", "p90"} {
		require.Contains(t, run["measured"], name)
	}
	for _, name := range []string{"legacy-8.0.19/mmap", "mmap/ram", "disk/mmap"} {
		require.Contains(t, m["ratios"], name)
	}
}

func TestBenchIsReadByTheOfficialReader(t *testing.T) {
	r := benchfmt.NewReader(strings.NewReader(written(t, example(), "bench")), "x")
	n := 0
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		require.True(t, ok, r.Result())
		ns, ok := res.Value("sec/op")
		require.True(t, ok)
		require.Positive(t, ns)
		n++
	}
	require.NoError(t, r.Err())
	require.Equal(t, 1+4*3, n)
}

func TestCSVIsRectangular(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(written(t, example(), "csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 6)
}

func TestUnknownFormat(t *testing.T) {
	require.ErrorIs(t, Write(io.Discard, example(), "xml"), ErrFormat)
}

type fullDisk struct{}

var errFull = errors.New("full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreReturned(t *testing.T) {
	for _, format := range Formats() {
		require.ErrorIs(t, Write(fullDisk{}, example(), format), errFull, format)
	}
}

func TestDurations(t *testing.T) {
	for s, want := range map[float64]string{213.4: "213 s", 99.96: "100 s", 1.5: "1.5 s", 0.0204: "20.4 ms", 0.0000123: "12.3 µs", 0: "0 µs"} {
		require.Equal(t, want, duration(time.Duration(s*1e9)), s)
	}
}

func TestRatioNeedsMmap(t *testing.T) {
	r := example()
	require.Equal(t, "1", ratio(r, r.Run("mmap")))
	require.Equal(t, "70,662", ratio(r, r.Run("legacy-8.0.19")))
	r.Runs = r.Runs[:2]
	r.SetRatios()
	require.Equal(t, "-", ratio(r, r.Run("legacy-8.0.19")))
	require.Nil(t, r.Run("mmap"))
}
