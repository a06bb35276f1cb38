package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-db/spillway/testdata/joinit"
	"github.com/stretchr/testify/require"
)

// fileCalls are the system calls that the old engine made for each duplicate.
type fileCalls struct{ tmpfiles, allocations, truncations, mappings int }

// traceUnion counts what the kernel saw of a union of the given files.
func traceUnion(t *testing.T, left, right string) (fileCalls, result) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "trace")
	r := runBinary(t, strace, dir, "-f", "-e", "trace=openat,fallocate,ftruncate,mmap", "-o", log, binary,
		"union", "--mode", "mmap", "--count", "1", "--spill-ram", "1MiB", "--schema", joinit.Schema,
		"--left", left, "--right", right)
	require.Equal(t, 0, r.code, r.stderr)
	trace, err := os.ReadFile(log)
	require.NoError(t, err)
	var c fileCalls
	for _, line := range strings.Split(string(trace), "\n") {
		switch {
		case strings.Contains(line, "openat(") && strings.Contains(line, dir):
			c.tmpfiles++
		case strings.Contains(line, "fallocate("):
			c.allocations++
		case strings.Contains(line, "ftruncate("):
			c.truncations++
		case strings.Contains(line, "mmap(") && strings.Contains(line, "MAP_SHARED"):
			c.mappings++
		}
	}
	return c, r
}

// The kernel's view of "a duplicate allocates nothing": the same distinct rows
// with one and with eight times the duplicates make the same calls.
func TestDuplicatesMakeNoCalls(t *testing.T) {
	zip, err := gzip.NewReader(joinit.Open())
	require.NoError(t, err)
	text, err := io.ReadAll(zip)
	require.NoError(t, err)
	dir := t.TempDir()
	once, often := filepath.Join(dir, "once.tsv"), filepath.Join(dir, "often.tsv")
	require.NoError(t, os.WriteFile(once, text, 0o600))
	require.NoError(t, os.WriteFile(often, bytes.Repeat(text, 8), 0o600))

	few, r := traceUnion(t, once, once)
	require.Contains(t, r.stdout, "32,768")
	many, _ := traceUnion(t, once, often)
	require.Equal(t, few, many)
	require.Positive(t, few.tmpfiles, "it did spill")
	require.Positive(t, few.mappings)
	t.Logf("%+v", few)
}
