package temptable

import (
	"context"
	"fmt"
	"math/rand/v2"
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

// BenchmarkGoMap is what a Go map costs for the same union: the rows as strings
// of 56 bytes, ready-made, in a map[string]int. It stores no columns, counts no
// bytes and does not spill. Compare its ns/row with BenchmarkJoinit and
// BenchmarkMillion of the same run.
func BenchmarkGoMap(b *testing.B) {
	for _, n := range []int{32 << 10, 1 << 20} {
		rows := randomJoinit(n)
		enc := batchEncoder{s: unionSchema(b)}
		buf := make([]byte, 56*n)
		if k, err := enc.encode(rows, 0, n, buf); k != n || err != nil {
			b.Fatal(k, err)
		}
		order := rand.New(rand.NewPCG(3, 4)).Perm(n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for range b.N {
				m := map[string]int{}
				for k := range n {
					m[string(buf[56*k:56*k+56])] = k
				}
				for _, k := range order {
					if _, ok := m[string(buf[56*k:56*k+56])]; !ok {
						b.Fatal(k)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*n), "ns/row")
		})
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
