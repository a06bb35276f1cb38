package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is a command with its output in the page.
var block = regexp.MustCompile("(?s)```console\n\\$ ([^\n]*)\n(.*?)```")

// TestPage runs the commands of docs/profiling.md, in their order, and compares
// their outputs. With SPILLWAY_UPDATE set it writes them into the page.
func TestPage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("sizes of the tiers' smallest parts are Linux's")
	}
	const page = "../profiling.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	dir := t.TempDir()
	got := block.ReplaceAllStringFunc(string(text), func(b string) string {
		command := block.FindStringSubmatch(b)[1]
		return "```console\n$ " + command + "\n" + output(t, dir, command) + "```"
	})
	if os.Getenv("SPILLWAY_UPDATE") != "" {
		require.NoError(t, os.WriteFile(page, []byte(got), 0o644))
		return
	}
	require.Equal(t, string(text), got)
}

// output runs a command at the top of the repository, with a directory of the
// test for /tmp, and leaves out what differs from run to run, and from machine
// to machine.
func output(t *testing.T, dir, command string) string {
	top, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(command, "/tmp", dir))
	cmd.Dir = top
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s: %s", command, stderr.String())
	var kept []string
	for _, line := range strings.SplitAfter(string(out), "\n") {
		if !strings.HasPrefix(line, "Time: ") {
			kept = append(kept, strings.TrimRight(strings.ReplaceAll(line, top+"/", ""), " \n")+"\n")
		}
	}
	return strings.Trim(strings.Join(kept, ""), "\n") + "\n"
}
