package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
)

// binary is the tool, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "spillway-test-*")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "spillway")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// result is what a run of the tool said.
type result struct {
	code           int
	stdout, stderr string
}

// run runs the tool in a directory of its own, where it also makes its files.
func run(t testing.TB, args ...string) result { return runBinary(t, binary, t.TempDir(), args...) }

func runBinary(t testing.TB, binary, dir string, args ...string) result {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// quick joins the report's tables in a mode that takes milliseconds.
var quick = []string{"union", "--mode", "legacy-8.0.21", "--count", "2"}

func with(args []string, more ...string) []string { return append(args[:len(args):len(args)], more...) }

func TestExitOK(t *testing.T) {
	r := run(t, quick...)
	require.Equal(t, 0, r.code, r.stderr)
	require.Empty(t, r.stderr)
	require.Contains(t, r.stdout, "CHECK  every mode gives 32,768 rows and checksum 70478173962876")
	for _, args := range [][]string{{}, {"--help"}, {"--version"}, {"union", "--help"}, {"completion", "bash"}} {
		r := run(t, args...)
		require.Equal(t, 0, r.code, args)
		require.NotEmpty(t, r.stdout, args)
	}
	require.Contains(t, run(t, "--version").stdout, "spillway version ")
}

func TestExitUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"unknown command":                          {"onion"},
		"unknown flag":                             {"union", "--nothing"},
		"unknown command \"x\"":                    {"union", "x"},
		"a size such as 12MiB":                     {"union", "--max-ram", "much"},
		"or auto":                                  {"union", "--spill-ram", "much"},
		"full, or auto":                            {"union", "--legacy-cycles", "0"},
		`mode "x" is not one of`:                   {"union", "--mode", "x"},
		`pool "x" is not one of`:                   {"union", "--pool", "x"},
		"--format is one of bench, csv":            {"union", "--format", "xml"},
		"--profile is one of allocs":               {"union", "--profile", "x"},
		"--order is same or random":                {"union", "--order", "x"},
		"--left, --right and --schema belong":      {"union", "--left", "x"},
		"--rows generates tables":                  {"union", "--left", "x", "--right", "x", "--schema", "i int", "--rows", "3"},
		"--dup be from 0 to 1":                     {"union", "--rows", "3", "--dup", "1.5"},
		"--rows must not be negative":              {"union", "--rows", "-3"},
		"0 samples":                                {"union", "--count", "0"},
		`--schema: not a schema: column 1, "i in"`: {"union", "--left", "x", "--right", "x", "--schema", "i in"},
	} {
		r := run(t, args...)
		require.Equal(t, 2, r.code, args)
		require.Contains(t, r.stderr, want)
		require.Empty(t, r.stdout, args)
	}
}

func TestExitFailure(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.tsv")
	require.NoError(t, os.WriteFile(bad, []byte("1\n2\nx\n"), 0o600))
	for want, args := range map[string][]string{
		"no such file":                    with(quick, "--left", dir+"/none", "--right", bad, "--schema", "i int"),
		"bad.tsv: line 3, column 1 (i):":  with(quick, "--left", bad, "--right", bad, "--schema", "i int"),
		"make a file in " + dir + "/none": with(quick, "--max-ram", "4MiB", "--dir", dir+"/none"),
	} {
		r := run(t, args...)
		require.Equal(t, 1, r.code, r.stderr)
		require.Contains(t, r.stderr, want)
		require.Empty(t, r.stdout)
	}
}

// A tool whose Go map counts one row too many finds every mode wrong.
func TestExitDiffer(t *testing.T) {
	dir := t.TempDir()
	const file = "internal/input/expect.go"
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	wrong := strings.Replace(string(source), "len(e.seen), e.sum", "len(e.seen)+1, e.sum", 1)
	require.NotEqual(t, string(source), wrong)
	path, err := filepath.Abs(file)
	require.NoError(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: dir + "/expect.go"}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir+"/expect.go", []byte(wrong), 0o600))
	require.NoError(t, os.WriteFile(dir+"/overlay.json", overlay, 0o600))
	out, err := exec.Command("go", "build", "-overlay", dir+"/overlay.json", "-o", dir+"/spillway", ".").CombinedOutput()
	require.NoError(t, err, string(out))

	r := runBinary(t, dir+"/spillway", t.TempDir(), quick...)
	require.Equal(t, 3, r.code)
	require.Contains(t, r.stdout, "CHECK  FAILED: 32,769 rows and checksum 70478173962876 are right; legacy-8.0.21: 32,768")
	require.Contains(t, r.stderr, "results differ: legacy-8.0.21 gives 32768 rows")
}

func TestExitInterrupted(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(binary, "union", "--mode", "legacy-8.0.19", "--legacy-cycles", "full", "--dir", dir)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := make([]byte, 1000)
	n, err := stderr.Read(said)
	require.NoError(t, err)
	require.Regexp(t, `^legacy-8\.0\.19, full: about [\d.]+ minutes; 26,035 files, the last of 8\.0 MiB: 203 GiB written, one file at a time, into `, string(said[:n]))
	time.Sleep(50 * time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	rest, err := io.ReadAll(stderr)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), string(rest))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// A second interrupt, or one that nothing listens to, ends the process as any.
func TestKilledWhileStarting(t *testing.T) {
	cmd := exec.Command(binary, "union", "--rows", "3000000", "--mode", "legacy-8.0.21")
	require.NoError(t, cmd.Start())
	time.Sleep(100 * time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode())
}

func TestScreen(t *testing.T) {
	r := run(t, "union", "--mode", "legacy-8.0.19,legacy-8.0.21", "--legacy-cycles", "3", "--count", "1")
	require.Equal(t, 0, r.code, r.stderr)
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	require.LessOrEqual(t, len(lines), 20)
	for _, line := range lines {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 100)
	}
	require.Equal(t, `joinit UNION joinit2: 32,768 + 32,768 rows, every right row a duplicate; 32,768 come out.
MySQL bug 98739, as reported: 8.0.19 at 12 MiB T and 26,036 files; its disk engine T.

mode time ns/row files filled RAM mmap disk vs mmap
legacy-8.0.19 T N 26,035 ~203 GiB 8 MiB 8 MiB 0 -
legacy-8.0.21 T N 0 0 8 MiB 0 0 -

~ legacy-8.0.19: 3 of 26,035 cycles run, T each; time and bytes projected.
legacy: our execution of the old engine's policy, not MySQL.
WHY 8.0.19 stored each row before asking whether it was a duplicate and could not take it back:
after 6,733 duplicates each further one made, filled, mapped and destroyed a file of 8 MiB.
Spillway asks first: a duplicate allocates nothing.
CHECK every mode gives 32,768 rows and checksum 70478173962876, as a Go map over the text does.
`, shape(r.stdout))
}

// shape is a screen without what differs from run to run: times become T, ns a
// row N, and runs of spaces one.
func shape(screen string) string {
	for _, r := range []struct{ old, new string }{
		{` +`, " "}, {`(?m)^ `, ""}, {`~?[\d.,]+ (s|ms|µs)\b`, "T"}, {`(?m)^(\S+ T) \S+`, "$1 N"},
	} {
		screen = regexp.MustCompile(r.old).ReplaceAllString(screen, r.new)
	}
	return screen
}

func TestJSON(t *testing.T) {
	r := run(t, with(quick, "--format", "json", "--order", "random", "--seed", "7", "--max-ram", "4MiB")...)
	require.Equal(t, 0, r.code, r.stderr)
	var rep report.Report
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&rep))
	require.Equal(t, report.SchemaName, rep.Schema)
	require.Equal(t, report.Expected{Rows: 32768, Checksum: 70478173962876, RightDuplicates: 32768}, rep.Expected)
	require.Equal(t, "random", rep.Input.Order)
	require.EqualValues(t, 7, rep.Options.Seed)
	require.EqualValues(t, 4<<20, rep.Options.MaxRAM)
	require.Positive(t, rep.Options.GOMAXPROCS)
	require.NotEmpty(t, rep.Options.Version)
	require.NotEmpty(t, rep.Host.FileSystem)
	require.Len(t, rep.Runs, 1)
	m := rep.Runs[0]
	require.Len(t, m.Samples, 2)
	require.Positive(t, m.CPU)
	require.InDelta(t, m.Median, (m.Samples[0]+m.Samples[1])/2, 1e-9)
	require.EqualValues(t, 1, m.FilesCreated)
	require.EqualValues(t, 4<<20, m.BytesFilled)
}

func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		"markdown": "| legacy-8.0.21 |",
		"csv":      "\nlegacy-8.0.21,",
		"bench":    "\nBenchmarkUnion/mode=legacy-8.0.21/rows=65536/order=same/pool=none-",
	} {
		r := run(t, with(quick, "--format", format)...)
		require.Equal(t, 0, r.code, r.stderr)
		require.Contains(t, r.stdout, want)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	left, right := filepath.Join(dir, "l.tsv"), filepath.Join(dir, "r.tsv")
	require.NoError(t, os.WriteFile(left, []byte("i\ts\n1\ta\n2\tNULL\n2\tNULL\n"), 0o600))
	require.NoError(t, os.WriteFile(right, []byte("i\ts\n2\tNULL\n3\ta\\tb\n"), 0o600))
	r := run(t, with(quick, "--left", left, "--right", right, "--schema", "i int, s varchar(9)", "--null", "NULL", "--header")...)
	require.Equal(t, 0, r.code, r.stderr)
	require.Contains(t, r.stdout, "l.tsv UNION r.tsv: 3 + 2 rows, 1 on the right are duplicates, 1 on the left; 3 come out.")
	require.NotContains(t, r.stdout, "as reported")
}

// A collation decides in every mode, and on every tier, which rows are equal.
func TestCollation(t *testing.T) {
	dir := t.TempDir()
	var left, right strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&left, "Straße %d\t1.50\n", i)
		fmt.Fprintf(&right, "STRASSE %d\t01.5\nstrasse %d \t1.5\n", i, i)
	}
	require.NoError(t, os.WriteFile(dir+"/l.tsv", []byte(left.String()), 0o600))
	require.NoError(t, os.WriteFile(dir+"/r.tsv", []byte(right.String()), 0o600))
	for collation, rows := range map[string]string{"utf8mb4_0900_ai_ci": "6,000", "utf8mb4_0900_as_cs": "9,000", "binary": "9,000"} {
		r := runBinary(t, binary, dir, "union", "--left", "l.tsv", "--right", "r.tsv", "--count", "1", "--legacy-cycles", "1", "--spill-ram", "192KiB",
			"--schema", "s varchar(40) collate "+collation+" not null, d decimal(5,2)")
		require.Equal(t, 0, r.code, r.stderr)
		require.Contains(t, r.stdout, "CHECK  every mode gives "+rows+" rows")
	}
}

func TestGenerated(t *testing.T) {
	r := run(t, with(quick, "--rows", "1000", "--dup", "0.25", "--order", "random")...)
	require.Equal(t, 0, r.code, r.stderr)
	require.Contains(t, r.stdout, "left UNION right: 1,000 + 1,000 rows, 250 on the right are duplicates; 1,750 come out.")
}

func TestProfiles(t *testing.T) {
	for name, file := range map[string]string{"cpu": "cpu.pprof", "heap": "mem.pprof", "allocs": "mem.pprof",
		"block": "block.pprof", "mutex": "mutex.pprof", "trace": "trace.out"} {
		dir := t.TempDir()
		r := runBinary(t, binary, dir, with(quick, "--count", "1", "--profile", name)...)
		require.Equal(t, 0, r.code, r.stderr)
		require.Equal(t, name+" profile written to "+file+"\n", r.stderr)
		info, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Positive(t, info.Size())
	}
}

// The profile of allocations has something in it.
func TestAllocsProfileIsNotEmpty(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, 0, runBinary(t, binary, dir, with(quick, "--profile", "allocs")...).code)
	out, err := exec.Command("go", "tool", "pprof", "-top", "-sample_index=alloc_space", filepath.Join(dir, "mem.pprof")).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "union.(*runner).take")
}
