package temptable

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// planted is a bug, made by one substitution in one source file, that the model
// test has to find.
type planted struct {
	name     string
	file     string // from this folder
	old, new string // old occurs once
}

// The planted bugs are of different kinds, and each of a kind that an engine like
// this one has had, or nearly.
var plantedBugs = []planted{
	// Rows that a rollback takes away stay in the indexes.
	{"rollback leaves rows in indexes", "savepoint.go",
		"if err := t.unindexFrom(v.end); err != nil {", "if err := error(nil); err != nil {"},
	// A rollback brings deleted rows back and forgets the updated ones.
	{"rollback misses an update", "savepoint.go",
		"l.row < v.end && l.what != logSpare", "l.row < v.end && l.what == logDeleted"},
	// A slot that was free before the savepoint is used again inside of it: it
	// lies before the mark, so a rollback does not take the new row away.
	{"free slot reused under a savepoint", "slot.go",
		"len(t.ext.saves) == 0 && !t.ordered", "!t.ordered"},
	// A row may end some bytes behind the end of its page.
	{"page boundary off by one", "../allocator/arena.go",
		"case a.off+n <= page:", "case a.off+n <= page+8:"},
	// Cursors are not told of changes to rows that they have copied ahead.
	{"stale copy in a cursor", "changes.go",
		"	c.version++\n	c.at = id\n", "	c.at = id\n"},
	// A scan returns the stub of a row that lies elsewhere.
	{"forwarding forgotten in a scan", "cursor.go",
		"if header(c.row.buf)&(flagChained|flagForwarded) == 0 {", "if header(c.row.buf)&flagChained == 0 {"},
	// Two NULLs are two values in a distinct key.
	{"NULL unequal to NULL", "key.go",
		"return c.isNull(a) == c.isNull(b), nil", "return false, nil"},
	// A block that moves to a lower tier arrives without its last 64 bytes.
	{"move down loses the tail", "../allocator/move.go",
		"s.fill(&to, b.mem())", "s.fill(&to, b.mem()[:b.size-64])"},
	// The leaf that a split makes has one entry too few.
	{"split drops an entry", "internal/btree/split.go",
		"copy(dst.entries[:], src.entries[k:src.count])", "copy(dst.entries[:], src.entries[k:src.count-1])"},
	// On the disk tier the second of two equal rows in a batch is added, too.
	{"duplicates within a batch", "insert.go",
		"slot, id, err := i.t.index.FindSince(hash, i.t, since)\n		return i.t.found(slot, id, err)",
		"slot, _, err := i.t.index.FindSince(hash, i.t, since)\n		return i.t.found(slot, 0, err)"},
	// A removal leaves a hole in a probe sequence: what is behind it is lost.
	{"hole in a probe sequence", "../hashindex/slot.go",
		"		if !ok {\n			break\n		}\n		seg[i][k] = seg[j][l]", "		if ok || !ok {\n			break\n		}\n		seg[i][k] = seg[j][l]"},
	// An update does not look at the unique indexes whose key it changes.
	{"unique index not asked by an update", "indexes.go",
		"		if other != 0 {\n			t.clash = int32(x.nth)\n			break\n		}", "		if other != 0 {\n			other = 0\n		}"},
}

// TestPlantedBugs builds this package's tests once for each bug, and expects the
// model test to fail within a minute. A substitution whose text is not found is a
// failure, too: the list follows the source.
func TestPlantedBugs(t *testing.T) {
	if os.Getenv("SPILLWAY_PLANTED") == "" {
		t.Skip("SPILLWAY_PLANTED is not set: make planted")
	}
	for _, p := range plantedBugs {
		t.Run(p.name, p.find)
	}
}

// find reports how soon the bug was found.
func (p planted) find(t *testing.T) {
	bin := p.build(t, t.TempDir())
	cmd := exec.Command(bin, "-test.run", "^TestModel$", "-test.timeout", "60s")
	cmd.Env = append(os.Environ(), "SPILLWAY_MODEL_OPS=100000000")
	cmd.Dir = t.TempDir()
	start := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(start).Round(10 * time.Millisecond)
	var exit *exec.ExitError
	require.Truef(t, errors.As(err, &exit), "the model test did not fail: %v", err)
	require.NotContains(t, string(out), "test timed out", "not found within a minute")
	t.Logf("found after %v: %s", took, verdict(string(out)))
}

// build compiles the tests with the bug in them.
func (p planted) build(t *testing.T, dir string) string {
	path, err := filepath.Abs(p.file)
	require.NoError(t, err)
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(src), p.old), "%s has changed: the text to replace is not there once", p.file)
	bad := filepath.Join(dir, filepath.Base(path))
	require.NoError(t, os.WriteFile(bad, []byte(strings.Replace(string(src), p.old, p.new, 1)), 0o600))
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: bad}})
	require.NoError(t, err)
	overlay, bin := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "planted.test")
	require.NoError(t, os.WriteFile(overlay, list, 0o600))
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "the bug does not compile: %s", out)
	return bin
}

// verdict is the line of a test's output that says what was wrong.
func verdict(out string) string {
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, "seed ") && strings.Contains(line, "step ") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(out)
}
