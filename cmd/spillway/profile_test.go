package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/cmd/spillway/internal/prof"
)

// profiled is a quick profile that shows the bug beside its cure.
var profiled = []string{"profile", "union", "--compare", "legacy-8.0.19", "--time", "5ms", "--out", "profiles"}

func TestProfile(t *testing.T) {
	dir := t.TempDir()
	r := runBinary(t, binary, dir, profiled...)
	require.Equal(t, 0, r.code, r.stderr)
	for _, want := range []string{"26,035 blocks, 203 GiB; 26,035 files", "no path: nothing was taken",
		"\nA PASS: ", "\n  blocks a row ", "\n  system calls ", "\n  page faults ", "\nTOP PATHS: ", "\nOPEN\n",
		"go tool trace profiles/union.trace", "go tool pprof -http=: profiles/union.cpu.pprof"} {
		require.Contains(t, r.stdout, want)
	}
	files, err := os.ReadDir(filepath.Join(dir, "profiles"))
	require.NoError(t, err)
	require.Len(t, files, len(prof.Kinds())+1)
	for file, want := range map[string]string{
		"union.offheap.pprof":               "temptable.(*Table).InsertBatch",
		"union.offheap.legacy-8.0.19.pprof": "legacy.(*Table).insert",
	} {
		out, err := exec.Command("go", "tool", "pprof", "-top", "-cum", "-sample_index=alloc_space", filepath.Join(dir, "profiles", file)).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), want)
	}
}

func TestProfileJSON(t *testing.T) {
	r := run(t, "profile", "groupby", "--kind", "offheap", "--time", "1ms", "--rows", "2000", "--format", "json")
	require.Equal(t, 0, r.code, r.stderr)
	var res prof.Result
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&res))
	require.Equal(t, prof.SchemaName, res.Schema)
	require.Equal(t, 4000, res.Rows)
	require.Len(t, res.Files, 1)
}

func TestProfileUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"accepts 1 arg(s), received 0":  {"profile"},
		`workload "x" is not one of`:    {"profile", "x"},
		`kind "x" is not one of`:        {"profile", "union", "--kind", "x"},
		"--compare takes legacy-8.0.19": {"profile", "union", "--compare", "x"},
		"--format is one of text, json": {"profile", "union", "--format", "csv"},
		"is there for distinct, union":  {"profile", "sort", "--compare", "legacy-8.0.19"},
		"a time of -1s":                 {"profile", "sort", "--time", "-1s"},
	} {
		r := run(t, args...)
		require.Equal(t, 2, r.code, args)
		require.Contains(t, r.stderr, want)
		require.Empty(t, r.stdout)
	}
}

func TestCompletion(t *testing.T) {
	for want, args := range map[string][]string{
		"groupby":       {"profile", ""},
		"offheap":       {"profile", "union", "--kind", ""},
		"legacy-8.0.21": {"union", "--mode", ""},
		"markdown":      {"union", "--format", ""},
		"random":        {"union", "--order", "r"},
	} {
		r := run(t, append([]string{"__complete"}, args...)...)
		require.Equal(t, 0, r.code, args)
		require.Contains(t, r.stdout, want)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		require.Contains(t, run(t, "completion", shell).stdout, "spillway")
	}
}
