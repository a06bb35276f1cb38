package temptable

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkMillion is a union of 1 M rows of joinit's shape, random keys, with
// the same rows in random order. One operation is 2 M input rows. mmap has a
// budget of which half spills.
func BenchmarkMillion(b *testing.B) {
	left := randomJoinit(1 << 20)
	right := shuffled(left)
	for _, m := range []benchMode{
		{"ram", Options{MaxRAM: 256 << 20, MaxMmap: Disabled, MaxDisk: Disabled}},
		{"mmap", Options{MaxRAM: 48 << 20, MaxMmap: 1 << 30, MaxDisk: Disabled}},
	} {
		for _, api := range []string{"row", "batch"} {
			insert := insertEach
			if api == "batch" {
				insert = insertAll
			}
			b.Run(fmt.Sprintf("mode=%s/api=%s", m.name, api), func(b *testing.B) {
				benchUnion(b, m.o, left, right, insert)
			})
		}
	}
}

// BenchmarkWorstInsert reports the longest single Insert on the way to 1 M
// rows, beside the longest step of a loop that only reads the clock, which is
// what the machine itself interrupts.
func BenchmarkWorstInsert(b *testing.B) {
	rows := randomJoinit(1 << 20)
	_, owner := openTest(b, Options{MaxRAM: 256 << 20, MaxMmap: Disabled, MaxDisk: Disabled})
	s := unionSchema(b)
	worst, idle := make([]float64, 0, b.N), 0.0
	for range b.N {
		t := createTest(b, owner, s)
		w := t.Writer(context.Background())
		var longest time.Duration
		for k := range rows.N {
			writeJoinit(w, rows, k)
			start := time.Now()
			_, added, err := w.Insert()
			longest = max(longest, time.Since(start))
			if !added || err != nil {
				b.Fatal(added, err)
			}
		}
		require.NoError(b, t.Drop())
		worst = append(worst, float64(longest.Nanoseconds()))
		idle = max(idle, longestStep(rows.N))
	}
	b.ReportMetric(minOf(worst), "ns-worst/op")
	b.ReportMetric(idle, "ns-idle-worst/op")
}

// minOf is the least of several runs' worst steps: what the engine does in
// every run, without what the machine did in some.
func minOf(x []float64) float64 {
	least := x[0]
	for _, v := range x {
		least = min(least, v)
	}
	return least
}

func longestStep(n int) float64 {
	var longest time.Duration
	for range n {
		start := time.Now()
		longest = max(longest, time.Since(start))
	}
	return float64(longest.Nanoseconds())
}
