package temptable

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// groupSchema is GROUP BY k with a count and a sum.
func groupSchema(tb testing.TB) *Schema {
	s, err := NewSchema([]Column{
		{Name: "k", Type: TypeBigInt, NotNull: true},
		{Name: "n", Type: TypeBigInt, NotNull: true},
	}, Distinct(0))
	require.NoError(tb, err)
	return s
}

func benchTable(tb testing.TB, s *Schema, opts ...TableOption) *Table {
	eng, err := Open(Options{MaxRAM: 1 << 30, MaxMmap: Disabled, MaxDisk: Disabled})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, eng.Close()) })
	owner, err := eng.NewOwner("bench", Limits{})
	require.NoError(tb, err)
	t, err := owner.Create(context.Background(), s, opts...)
	require.NoError(tb, err)
	return t
}

// BenchmarkGroup is GROUP BY through find-or-insert: one operation is one input
// row. The report of bug 107700: MySQL 0.28 M a second, MEMORY 1.03 M.
func BenchmarkGroup(b *testing.B) {
	for _, n := range []int{1, 1000, 1 << 20} {
		keys := make([]int64, 1<<20)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range keys {
			keys[i] = r.Int64N(int64(n))
		}
		if n == len(keys) {
			for i, k := range r.Perm(n) {
				keys[i] = int64(k)
			}
		}
		b.Run(fmt.Sprintf("impl=row/n=%d", n), func(b *testing.B) { benchGroupRow(b, keys) })
		b.Run(fmt.Sprintf("impl=batch/n=%d", n), func(b *testing.B) { benchGroupBatch(b, keys) })
	}
}

func benchGroupRow(b *testing.B, keys []int64) {
	t := benchTable(b, groupSchema(b))
	u, err := t.Upserter(context.Background(), Fold{1, Add})
	require.NoError(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		u.SetInt(0, keys[i&(1<<20-1)])
		u.SetInt(1, 1)
		if _, _, err := u.Upsert(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchGroupBatch(b *testing.B, keys []int64) {
	t := benchTable(b, groupSchema(b))
	u, err := t.Upserter(context.Background(), Fold{1, Add})
	require.NoError(b, err)
	ones := make([]int64, 1024)
	for i := range ones {
		ones[i] = 1
	}
	batch := &Batch{N: 1024, Cols: []Vector{{}, {I64: ones}}}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += 1024 {
		at := i & (1<<20 - 1)
		batch.Cols[0].I64 = keys[at : at+1024]
		if n, err := u.UpsertBatch(context.Background(), batch, nil); err != nil || n != 1024 {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkGet reads rows by saved id, in random order, hot.
func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1000, 1 << 20} {
		b.Run(fmt.Sprintf("impl=row/n=%d", n), func(b *testing.B) {
			t, ids := benchRows(b, n)
			rand.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			var buf RowBuffer
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if _, err := t.Get(ids[i%n], &buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGetBatch is BenchmarkGet, 64 rows a call.
func BenchmarkGetBatch(b *testing.B) {
	for _, n := range []int{1000, 1 << 20} {
		b.Run(fmt.Sprintf("impl=batch/n=%d", n), func(b *testing.B) {
			t, ids := benchRows(b, n)
			rand.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			var buf RowBuffer
			rows := make([]Row, 64)
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; {
				at := i % n
				k, err := t.GetBatch(ids[at:min(at+64, n)], rows, &buf)
				if err != nil {
					b.Fatal(err)
				}
				i += k
			}
		})
	}
}

func benchRows(b *testing.B, n int) (*Table, []RowID) {
	t := benchTable(b, groupSchema(b))
	w := t.Writer(context.Background())
	ids := make([]RowID, n)
	for i := range ids {
		w.SetInt(0, int64(i))
		w.SetInt(1, int64(i*7919)%int64(n))
		var err error
		if ids[i], _, err = w.Insert(); err != nil {
			b.Fatal(err)
		}
	}
	return t, ids
}

// BenchmarkDelete deletes rows as a scan comes upon them, with and without an
// index that all rows have one key in.
func BenchmarkDelete(b *testing.B) {
	for _, index := range []string{"none", "equal"} {
		for _, n := range []int{1 << 16, 1 << 18} {
			b.Run(fmt.Sprintf("impl=%s/n=%d", index, n), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					t, _ := benchRows(b, n)
					if index == "equal" {
						_, err := t.AddIndex(context.Background(), IndexSpec{Key: Asc(1)})
						require.NoError(b, err)
					}
					b.StartTimer()
					c := t.Cursor(ScanOptions{})
					for {
						ok, err := c.Next(context.Background())
						if err == nil && ok {
							err = t.Delete(context.Background(), c.ID())
						}
						if err != nil {
							b.Fatal(err)
						}
						if !ok {
							break
						}
					}
					c.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
			})
		}
	}
}

// BenchmarkOrdered inserts into, and walks, a table with an ordered index.
func BenchmarkOrdered(b *testing.B) {
	const n = 1 << 20
	for _, order := range []string{"ascending", "random"} {
		b.Run(fmt.Sprintf("op=insert/impl=%s/n=%d", order, n), func(b *testing.B) {
			keys := rand.New(rand.NewPCG(1, 2)).Perm(n)
			t := benchTable(b, plainSchema(b))
			_, err := t.AddIndex(context.Background(), IndexSpec{Key: Asc(0), Ordered: true})
			require.NoError(b, err)
			w := t.Writer(context.Background())
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				k := int64(i)
				if order == "random" {
					k = int64(keys[i%n])
				}
				w.SetInt(0, k)
				w.SetInt(1, k)
				if _, _, err := w.Insert(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, row := range []bool{false, true} {
		b.Run(fmt.Sprintf("op=next/impl=%s/n=%d", map[bool]string{false: "ids", true: "rows"}[row], n), func(b *testing.B) { benchWalk(b, n, row) })
	}
}

// BenchmarkLookup finds all rows of a key, 16 of 2^18, through an index that was
// added after the rows. One operation is one row.
func BenchmarkLookup(b *testing.B) {
	const n, same = 1 << 18, 16
	for _, ordered := range []bool{false, true} {
		impl := map[bool]string{false: "hash", true: "ordered"}[ordered]
		b.Run(fmt.Sprintf("impl=%s/n=%d", impl, n), func(b *testing.B) {
			ctx, t := context.Background(), benchTable(b, plainSchema(b))
			w := t.Writer(ctx)
			for i := range int64(n) {
				w.SetInt(0, i%(n/same))
				w.SetInt(1, i)
				if _, _, err := w.Insert(); err != nil {
					b.Fatal(err)
				}
			}
			x, err := t.AddIndex(ctx, IndexSpec{Key: Asc(0), Ordered: ordered})
			require.NoError(b, err)
			c := x.Cursor()
			defer c.Close()
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; {
				c.SetInt(0, rand.Int64N(n/same))
				ok, err := c.Find(ctx)
				for ; ok && err == nil; ok, err = c.NextSame(ctx) {
					i++
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func plainSchema(tb testing.TB) *Schema {
	s, err := NewSchema([]Column{{Name: "k", Type: TypeBigInt, NotNull: true}, {Name: "n", Type: TypeBigInt, NotNull: true}})
	require.NoError(tb, err)
	return s
}

func benchWalk(b *testing.B, n int, row bool) {
	t := benchTable(b, plainSchema(b))
	w := t.Writer(context.Background())
	for i := range n {
		w.SetInt(0, int64(i))
		if w.SetInt(1, int64(i)); i%2 == 0 {
			w.SetInt(1, 0)
		}
		if _, _, err := w.Insert(); err != nil {
			b.Fatal(err)
		}
	}
	x, err := t.AddIndex(context.Background(), IndexSpec{Key: Asc(0), Ordered: true})
	require.NoError(b, err)
	c := x.Cursor()
	defer c.Close()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		ok, err := c.Next(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if !ok {
			_, _ = c.First(context.Background())
		} else if row {
			if _, err := c.Row(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
