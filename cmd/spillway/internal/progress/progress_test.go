package progress

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNilsAreSilent(t *testing.T) {
	var m *Meter
	m.Note("x")
	task := m.Start("x", Rows, 1)
	task.Add(1)
	task.End()
	require.Nil(t, task)
}

func TestNoBarWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	m := New(&out, false)
	m.patience = 0
	m.Start("x", Rows, 1).End()
	m.Note("%d files", 3)
	require.Equal(t, "3 files\n", out.String())
}

func TestNoBarForShortWork(t *testing.T) {
	var out bytes.Buffer
	m := New(&out, true)
	task := m.Start("x", Rows, 1)
	task.Add(1)
	task.End()
	require.Empty(t, out.String())
}

// shared is a buffer that two goroutines use.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// shown runs a task of total units, most of them done, until a bar is there.
func shown(t *testing.T, unit string, total, done int64) string {
	var out shared
	m := New(&out, true)
	m.patience = 20 * time.Millisecond
	task := m.Start("work", unit, total)
	task.Add(done)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), unit+"/s") }, 10*time.Second, time.Millisecond)
	task.End()
	return out.String()
}

func TestBar(t *testing.T) {
	out := shown(t, Rows, 1000, 500)
	require.Regexp(t, regexp.MustCompile(`work +50% .*\(500/1000, [\d.]+k? ?rows/s\)`), out)
	require.Regexp(t, `\[\d+s:\d+s\]`, out, "time taken, time left")
	require.Regexp(t, "\r *\r$", out, "the bar is removed")
	require.Contains(t, shown(t, Bytes, 4<<20, 2<<20), "2.0/4.0 MiB")
	require.Contains(t, shown(t, Rows, 0, 500), "work")
}

func TestReader(t *testing.T) {
	task := &Task{}
	text, err := io.ReadAll(Reader(strings.NewReader("12345"), task))
	require.NoError(t, err)
	require.Equal(t, "12345", string(text))
	require.EqualValues(t, 5, task.done.Load())
}
