package temptable

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// bomb is a collation that panics once it is armed.
type bomb struct{ armed bool }

func (b *bomb) collation() Collation {
	return Custom("bomb", func(dst, src []byte) ([]byte, error) {
		if b.armed {
			panic("boom")
		}
		return append(dst, src...), nil
	})
}

// panicTable is an engine with a table of ten rows, distinct by a column with
// the collation and indexed by it.
func panicTable(t *testing.T, c Collation) (*Engine, *Table, []RowID) {
	eng, err := Open(Options{MaxRAM: 1 << 20, Dir: t.TempDir()})
	require.NoError(t, err)
	owner, err := eng.NewOwner("session", Limits{})
	require.NoError(t, err)
	schema, err := NewSchema([]Column{{Type: TypeBlob, Collation: c}, {Type: TypeInt}}, Distinct(0))
	require.NoError(t, err)
	table, err := owner.Create(t.Context(), schema)
	require.NoError(t, err)
	_, err = table.AddIndex(t.Context(), IndexSpec{Name: "order", Key: Asc(0, 1), Ordered: true})
	require.NoError(t, err)
	var ids []RowID
	w := table.Writer(t.Context())
	for i := range 10 {
		w.SetString(0, strings.Repeat("x", i))
		id, _, err := w.Insert()
		require.NoError(t, err)
		ids = append(ids, id)
	}
	return eng, table, ids
}

// A collation that panics costs the table that was being changed, and nothing
// else: every later call says so, and the engine can be closed.
func TestCollationPanics(t *testing.T) {
	row := &Batch{N: 1, Cols: []Vector{{Off: []int32{0, 1}, Bytes: []byte("y")}, {I64: []int64{1}}}}
	changes := map[string]func(ctx context.Context, t *Table, ids []RowID){
		"insert": func(ctx context.Context, t *Table, _ []RowID) {
			w := t.Writer(ctx)
			w.SetString(0, "y")
			_, _, _ = w.Insert()
		},
		"insert batch": func(ctx context.Context, t *Table, _ []RowID) { _, _ = t.InsertBatch(ctx, row, nil) },
		"delete":       func(ctx context.Context, t *Table, ids []RowID) { _ = t.Delete(ctx, ids[3]) },
		"handle":       func(_ context.Context, t *Table, ids []RowID) { _ = t.Handle(ids[3]).SetInt(1, 5) },
		"upsert": func(ctx context.Context, t *Table, _ []RowID) {
			u, err := t.Upserter(ctx)
			if err == nil {
				u.SetString(0, "xxx")
				_, _, _ = u.Upsert()
			}
		},
		"update": func(ctx context.Context, t *Table, ids []RowID) {
			u := t.Updater(ctx)
			_, _ = u.Load(ids[3])
			u.SetString(0, "changed")
			_, _ = u.Update()
		},
		"add index": func(ctx context.Context, t *Table, _ []RowID) {
			_, _ = t.AddIndex(ctx, IndexSpec{Name: "more", Key: Asc(0), Ordered: true})
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			var b bomb
			eng, table, ids := panicTable(t, b.collation())
			b.armed = true
			require.PanicsWithValue(t, "boom", func() { change(t.Context(), table, ids) })
			b.armed = false
			_, err := table.Get(ids[0], new(RowBuffer))
			require.ErrorIs(t, err, ErrTableFailed)
			require.ErrorContains(t, err, "boom")
			require.ErrorIs(t, table.Delete(t.Context(), ids[0]), ErrTableFailed)
			require.NoError(t, eng.Close())
		})
	}
}

// A lookup changes nothing, so a panic costs nothing.
func TestCollationPanicsInLookup(t *testing.T) {
	var b bomb
	eng, table, ids := panicTable(t, b.collation())
	for _, name := range []string{"order", distinctName} {
		c := table.Index(name).Cursor()
		c.SetString(0, "xxx")
		b.armed = true
		require.Panics(t, func() { _, _ = c.Find(t.Context()) })
		b.armed = false
		c.SetString(0, "xxx")
		ok, err := c.FindPrefix(t.Context(), 1)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, ids[3], c.ID())
		c.Close()
	}
	require.NoError(t, table.Delete(t.Context(), ids[3]))
	require.NoError(t, eng.Close())
}

// The owner may be closed between an insert and the question what refused it, by
// somebody else, too.
func TestConflictOutlivesTable(t *testing.T) {
	eng, table, _ := panicTable(t, nil)
	unique, err := table.AddIndex(t.Context(), IndexSpec{Name: "unique", Key: Asc(0, 1), Unique: true})
	require.NoError(t, err)
	w := table.Writer(t.Context())
	u, err := table.Upserter(t.Context())
	require.NoError(t, err)
	for range 2 {
		w.SetString(0, "x")
		_, added, err := w.Insert()
		require.NoError(t, err)
		require.False(t, added)
	}
	var closing sync.WaitGroup
	closing.Go(func() { _ = eng.Close() })
	for range 1000 {
		require.Equal(t, distinctName, w.Conflict().Index.Spec().Name)
		require.Same(t, unique, table.Index("unique"))
		_, _ = u.Conflict(), unique.Len()
	}
	closing.Wait()
	require.Equal(t, distinctName, w.Conflict().Index.Spec().Name)
	require.Zero(t, unique.Len())
}
