package temptable

import (
	"bytes"
	"context"
	"runtime/pprof"
	"runtime/trace"
	"testing"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/stretchr/testify/require"
)

// spyFS writes down the labels of all goroutines when a file is made.
type spyFS struct {
	sys.FS
	labels bytes.Buffer
}

func (s *spyFS) OpenTemp(dir string) (sys.File, error) {
	_ = pprof.Lookup("goroutine").WriteTo(&s.labels, 1)
	return s.FS.OpenTemp(dir)
}

func goroutineLabels(t *testing.T) string {
	var buf bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&buf, 1))
	return buf.String()
}

// What the caller's context has is kept, and comes back.
func TestProfileLabels(t *testing.T) {
	for _, on := range []bool{false, true} {
		fs := &spyFS{FS: sys.Default()}
		_, owner := openTest(t, Options{MaxRAM: 1 << 20, MaxMmap: Disabled, ProfileLabels: on, fs: fs})
		tab := createTest(t, owner, unionSchema(t), Named("result"))
		pprof.Do(context.Background(), pprof.Labels("user", "u1"), func(ctx context.Context) {
			_, err := tab.InsertBatch(ctx, randomJoinit(40_000), nil)
			require.NoError(t, err)
			after := goroutineLabels(t)
			require.Contains(t, after, `"user":"u1"`)
			require.NotContains(t, after, "spillway.")
		})
		const during = `# labels: {"spillway":"spillway.spill", "table":"result", "user":"u1"}`
		if on {
			require.Contains(t, fs.labels.String(), during)
		} else {
			require.NotContains(t, fs.labels.String(), `"spillway"`)
		}
	}
}

// Regions are in an execution trace by their names.
func TestTraceRegions(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("somebody is tracing")
	}
	_, owner := openTest(t, Options{MaxRAM: 1 << 20, MaxMmap: Disabled})
	tab := createTest(t, owner, unionSchema(t))
	var buf, out = bytes.Buffer{}, Batch{}
	require.NoError(t, trace.Start(&buf))
	insertAll(t, tab, randomJoinit(40_000))
	_, err := createTest(t, owner, unionSchema(t)).AddIndex(context.Background(), IndexSpec{Name: "t", Key: Asc(2)})
	require.NoError(t, err)
	require.Equal(t, 40_000, scanAll(t, tab, &out))
	trace.Stop()
	for _, name := range []string{"insert", "index", "read", "grow", "spill", "move", "file"} {
		require.True(t, bytes.Contains(buf.Bytes(), []byte("spillway."+name)), name)
	}
}
