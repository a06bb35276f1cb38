package temptable

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A joinit row costs at most 62 bytes, and with its index at most 100 at every
// count from 4,096 on, the row after a split or a new block included.
func TestBytesPerRow(t *testing.T) {
	n := 300_000
	if raceEnabled || testing.Short() {
		n = 20_000
	}
	_, owner := openTest(t, Options{MaxRAM: 256 << 20, MaxMmap: Disabled, MaxDisk: Disabled})
	tab := createTest(t, owner, unionSchema(t))
	rows := randomJoinit(n)
	require.Equal(t, 56, len(encodeFirst(t, tab.schema, rows)), "56 bytes stored, 62 allowed")
	w := tab.Writer(context.Background())
	worst := 0.0
	for k := range n {
		writeJoinit(w, rows, k)
		_, added, err := w.Insert()
		require.True(t, added && err == nil)
		if k+1 >= 4096 {
			worst = max(worst, float64(tab.Stats().Bytes[RAM].Total())/float64(k+1))
		}
	}
	t.Logf("worst: %.1f bytes a row with its index", worst)
	require.LessOrEqual(t, worst, 100.0)
	s := tab.Stats()
	require.LessOrEqual(t, float64(s.Bytes[RAM].Rows)/float64(n), 62.0)
}

func encodeFirst(t *testing.T, s *Schema, rows *Batch) []byte {
	w := newRowWriter(s)
	w.setInt(0, rows.Cols[0].I64[0])
	w.setBytes(1, rows.Cols[1].Bytes[:rows.Cols[1].Off[1]])
	w.setInt(2, rows.Cols[2].I64[0])
	w.setInt(3, rows.Cols[3].I64[0])
	row, err := w.finish()
	require.NoError(t, err)
	return row
}

// writeJoinit sets the columns of row k of a batch of joinit's shape.
func writeJoinit(w *Writer, b *Batch, k int) {
	c := b.Cols
	w.SetInt(0, c[0].I64[k])
	w.SetBytes(1, c[1].Bytes[c[1].Off[k]:c[1].Off[k+1]])
	w.SetInt(2, c[2].I64[k])
	w.SetInt(3, c[3].I64[k])
}

// The engine's RAM never passes its budget, however small, in any mode.
func TestBudgetIsNeverPassed(t *testing.T) {
	left := unionBatch(t)
	right := shuffled(left)
	for _, ram := range []int64{64 << 10, 80 << 10, 128 << 10, 200_000, 256 << 10, 500_000, 1 << 20, 1536 << 10, 2 << 20, 3 << 20} {
		for _, m := range []benchMode{
			{"mmap", Options{MaxMmap: 1 << 30, MaxDisk: Disabled}},
			{"disk", Options{MaxMmap: Disabled}},
			{"all", Options{MaxMmap: 1 << 20}},
		} {
			t.Run(fmt.Sprintf("mode=%s/ram=%d", m.name, ram), func(t *testing.T) {
				m.o.MaxRAM = ram
				eng, owner := openTest(t, m.o)
				tab := createTest(t, owner, unionSchema(t))
				require.Equal(t, left.N, insertAll(t, tab, left))
				require.Zero(t, insertAll(t, tab, right))
				var out Batch
				require.Equal(t, left.N, scanAll(t, tab, &out))
				s := eng.Stats()
				require.LessOrEqual(t, s.RAMPeak, ram)
				require.Positive(t, s.RAMPeak)
			})
		}
	}
}

// memoryReport is what the child of TestResidentMemory measured.
type memoryReport struct {
	RssAnonGrowth int64 // bytes, at its highest
	HeapGrowth    int64
	Rows          int64
}

// The kernel's count: the growth of RssAnon is at most the budget and 4 MiB,
// that of the Go heap at most 256 KiB, at one million rows.
func TestResidentMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("race builds keep blocks on the Go heap")
	}
	if runtime.GOOS != "linux" {
		t.Skip("RssAnon is Linux's")
	}
	for _, m := range []benchMode{
		{"ram", Options{MaxRAM: 128 << 20, MaxMmap: Disabled, MaxDisk: Disabled}},
		{"mmap", Options{MaxRAM: 16 << 20, MaxMmap: 1 << 30, MaxDisk: Disabled}},
		{"disk", Options{MaxRAM: 16 << 20, MaxMmap: Disabled}},
	} {
		t.Run(m.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestResidentMemoryChild$")
			cmd.Env = append(os.Environ(), "SPILLWAY_MEMORY_CHILD="+strconv.FormatInt(m.o.MaxRAM, 10)+","+
				strconv.FormatInt(m.o.MaxMmap, 10)+","+strconv.FormatInt(m.o.MaxDisk, 10), "GOGC=25")
			out, err := cmd.Output()
			require.NoError(t, err, string(out))
			var r memoryReport
			require.NoError(t, json.Unmarshal(out[:strings.IndexByte(string(out), '\n')], &r))
			t.Logf("%+v", r)
			require.EqualValues(t, 1_000_000, r.Rows)
			require.LessOrEqual(t, r.RssAnonGrowth, m.o.MaxRAM+4<<20)
			require.LessOrEqual(t, r.HeapGrowth, int64(256<<10))
		})
	}
}

// TestResidentMemoryChild runs in a process of its own.
func TestResidentMemoryChild(t *testing.T) {
	env := os.Getenv("SPILLWAY_MEMORY_CHILD")
	if env == "" {
		return
	}
	var o Options
	_, err := fmt.Sscanf(env, "%d,%d,%d", &o.MaxRAM, &o.MaxMmap, &o.MaxDisk)
	require.NoError(t, err)
	_, owner := openTest(t, o)
	tab := createTest(t, owner, unionSchema(t))
	rows := randomJoinit(1_000_000)
	heap, rss := liveHeap(), rssAnon(t)
	var r memoryReport
	var part Batch
	for at := 0; at < rows.N; at += 1000 {
		window(rows, at, at+1000, &part)
		_, err := tab.InsertBatch(context.Background(), &part, nil)
		require.NoError(t, err)
		if at%50_000 == 0 {
			r.RssAnonGrowth = max(r.RssAnonGrowth, rssAnon(t)-rss)
		}
	}
	r.RssAnonGrowth = max(r.RssAnonGrowth, rssAnon(t)-rss)
	r.HeapGrowth = liveHeap() - heap
	r.Rows = tab.Len()
	runtime.KeepAlive(rows)
	require.NoError(t, json.NewEncoder(os.Stdout).Encode(r))
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func rssAnon(t *testing.T) int64 {
	text, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "RssAnon:" {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			require.NoError(t, err)
			return kb << 10
		}
	}
	t.Fatal("no RssAnon in /proc/self/status")
	return 0
}
