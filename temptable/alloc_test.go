package temptable

import (
	"context"
	"testing"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/stretchr/testify/require"
)

// openTest opens an engine that is closed, and checked for leaks, at the end.
func openTest(tb testing.TB, o Options) (*Engine, *Owner) {
	if o.Dir == "" {
		o.Dir = tb.TempDir()
	}
	eng, err := Open(o)
	require.NoError(tb, err)
	owner, err := eng.NewOwner("test", Limits{})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, eng.Close()) })
	return eng, owner
}

func createTest(tb testing.TB, o *Owner, s *Schema, opts ...TableOption) *Table {
	t, err := o.Create(context.Background(), s, opts...)
	require.NoError(tb, err)
	return t
}

// The loops that the promise "no Go heap allocation in the steady state" is
// about: new rows and duplicates, row at a time and in batches, on each tier.
func TestInsertAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	rows := randomJoinit(8192)
	for _, m := range benchModes {
		t.Run(m.name, func(t *testing.T) {
			_, owner := openTest(t, m.o)
			tab := createTest(t, owner, unionSchema(t))
			insertAll(t, tab, rows) // the pool is hot, the scratch there
			require.NoError(t, tab.Truncate())

			w := tab.Writer(context.Background())
			at := 0
			insert := func() {
				c := rows.Cols
				w.SetInt(0, c[0].I64[at])
				w.SetBytes(1, c[1].Bytes[c[1].Off[at]:c[1].Off[at+1]])
				w.SetInt(2, c[2].I64[at])
				w.SetInt(3, c[3].I64[at])
				if _, _, err := w.Insert(); err != nil {
					t.Fatal(err)
				}
				at++
			}
			require.Zero(t, testing.AllocsPerRun(3000, insert), "new rows")
			at = 0
			require.Zero(t, testing.AllocsPerRun(3000, insert), "duplicates")
			require.EqualValues(t, 3001, tab.Len())

			require.NoError(t, tab.Truncate())
			var part Batch
			res := make([]Result, 512)
			at = 0
			batch := func() {
				window(rows, at, at+512, &part)
				if _, err := tab.InsertBatch(context.Background(), &part, res); err != nil {
					t.Fatal(err)
				}
				at += 512
			}
			window(rows, 0, 512, &part)
			require.Zero(t, testing.AllocsPerRun(14, batch), "new rows in batches")
			at = 0
			require.Zero(t, testing.AllocsPerRun(14, batch), "duplicates in batches")
			require.EqualValues(t, 15*512, tab.Len())
		})
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx := context.Background()
	for _, m := range benchModes {
		t.Run(m.name, func(t *testing.T) {
			_, owner := openTest(t, m.o)
			tab := createTest(t, owner, unionSchema(t))
			insertAll(t, tab, randomJoinit(32768))
			c := tab.Cursor(ScanOptions{})
			defer c.Close()
			var out Batch
			_, err := c.ReadBatch(ctx, &out)
			require.NoError(t, err)
			require.Zero(t, testing.AllocsPerRun(10, func() { _, _ = c.ReadBatch(ctx, &out) }))
			require.Zero(t, testing.AllocsPerRun(10000, func() { _, _ = c.Next(ctx) }))
			id := c.ID()
			require.NotZero(t, id)
			var buf RowBuffer
			require.Zero(t, testing.AllocsPerRun(1000, func() { _, _ = tab.Get(id, &buf) }))
		})
	}
}

// createInsertDrop is the life of a table that gets one row.
func createInsertDrop(tb testing.TB, owner *Owner, s *Schema) {
	t, err := owner.Create(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	w := t.Writer(context.Background())
	w.SetInt(0, 1)
	w.SetString(1, "a")
	w.SetInt(2, 1e6)
	w.SetInt(3, 2)
	if _, added, err := w.Insert(); !added || err != nil {
		tb.Fatal(added, err)
	}
	if err := t.Drop(); err != nil {
		tb.Fatal(err)
	}
}

func TestSmallTableIsCheap(t *testing.T) {
	fs := sys.NewFaulty(sys.Default())
	_, owner := openTest(t, Options{MaxRAM: 12 << 20, fs: fs})
	s := unionSchema(t)
	createInsertDrop(t, owner, s)
	before := fs.Calls()
	allocs := testing.AllocsPerRun(1000, func() { createInsertDrop(t, owner, s) })
	require.Equal(t, before, fs.Calls(), "system calls")
	if !raceEnabled {
		require.LessOrEqual(t, allocs, 4.0)
	}
}

// BenchmarkCreateInsertDrop: a shared schema, one row, drop.
func BenchmarkCreateInsertDrop(b *testing.B) {
	_, owner := openTest(b, Options{MaxRAM: 12 << 20})
	s := unionSchema(b)
	b.ReportAllocs()
	for b.Loop() {
		createInsertDrop(b, owner, s)
	}
}
