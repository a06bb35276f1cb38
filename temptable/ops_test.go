package temptable

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// fillPlain inserts n rows (k, k%7) and returns their ids.
func fillPlain(t *testing.T, tab *Table, n int) []RowID {
	w := tab.Writer(context.Background())
	ids := make([]RowID, n)
	for i := range ids {
		w.SetInt(0, int64(i))
		w.SetInt(1, int64(i%7))
		var err error
		ids[i], _, err = w.Insert()
		require.NoError(t, err)
	}
	return ids
}

// REQUIREMENTS D.26: a table that is read for the last time gives memory back.
func TestConsumeGivesBlocksBack(t *testing.T) {
	for name, o := range tinyBudgets {
		t.Run(name, func(t *testing.T) {
			_, owner := openTest(t, o)
			tab := createTest(t, owner, groupSchema(t))
			const n = 8000
			ids := fillPlain(t, tab, n)
			before := total(tab)
			c, err := tab.Consume()
			require.NoError(t, err)
			defer c.Close()
			for k := range n {
				ok, err := c.Next(context.Background())
				require.NoError(t, err)
				require.True(t, ok)
				require.Equal(t, int64(k), c.Row().Int(0))
				if k == n/2 {
					require.Less(t, total(tab), before*3/4)
				}
			}
			ok, err := c.Next(context.Background())
			require.NoError(t, err)
			require.False(t, ok)
			var buf RowBuffer
			_, err = tab.Get(ids[0], &buf)
			require.ErrorIs(t, err, ErrConsumed)
			require.ErrorIs(t, tab.Truncate(), ErrConsumed)
			require.NoError(t, tab.Drop())
		})
	}
}

func total(tab *Table) (n int64) {
	for _, b := range tab.Stats().Bytes {
		n += b.Total()
	}
	return n
}

func TestConsumeNeedsTheTableAlone(t *testing.T) {
	_, owner := openTest(t, Options{MaxRAM: 1 << 20})
	tab := createTest(t, owner, groupSchema(t))
	c := tab.Cursor(ScanOptions{})
	_, err := tab.Consume()
	require.ErrorIs(t, err, ErrConcurrentUse)
	c.Close()
	c, err = tab.Consume()
	require.NoError(t, err)
	c.Close()
}

// A sealed table refuses every change, and its parts hold each row once.
func TestSealAndSplit(t *testing.T) {
	for name, o := range tinyBudgets {
		t.Run(name, func(t *testing.T) {
			_, owner := openTest(t, o)
			tab := createTest(t, owner, groupSchema(t))
			const n = 8000
			ids := fillPlain(t, tab, n)
			_, err := tab.Split(3)
			require.ErrorIs(t, err, ErrNotSealed)
			require.NoError(t, tab.Seal())
			requireSealed(t, tab, ids[0])
			for _, parts := range []int{1, 3, 8, 1000} {
				requireParts(t, tab, parts, n)
			}
		})
	}
}

func requireSealed(t *testing.T, tab *Table, id RowID) {
	ctx := context.Background()
	w := tab.Writer(ctx)
	w.SetInt(0, -1)
	w.SetInt(1, -1)
	_, _, err := w.Insert()
	require.ErrorIs(t, err, ErrSealed)
	require.ErrorIs(t, tab.Delete(ctx, id), ErrSealed)
	require.ErrorIs(t, tab.Truncate(), ErrSealed)
	_, err = tab.AddIndex(ctx, IndexSpec{Key: Asc(0)})
	require.ErrorIs(t, err, ErrSealed)
	_, err = tab.Savepoint()
	require.ErrorIs(t, err, ErrSealed)
}

// requireParts reads all parts at once, each in a goroutine of its own.
func requireParts(t *testing.T, tab *Table, parts, n int) {
	cursors, err := tab.Split(parts)
	require.NoError(t, err)
	require.LessOrEqual(t, len(cursors), parts)
	got := make([][]int64, len(cursors))
	var wg sync.WaitGroup
	for i, c := range cursors {
		wg.Go(func() {
			defer c.Close()
			for ok, err := c.Next(context.Background()); ok && err == nil; ok, err = c.Next(context.Background()) {
				got[i] = append(got[i], c.Row().Int(0))
			}
		})
	}
	wg.Wait()
	next := int64(0)
	for _, part := range got {
		for _, k := range part {
			require.Equal(t, next, k)
			next++
		}
	}
	require.EqualValues(t, n, next)
}

// REQUIREMENTS D.22: slots are used again once nobody can come upon them, and a
// table that is deleted from and filled again does not grow.
func TestDeletedSlotsAreUsedAgain(t *testing.T) {
	ctx := context.Background()
	_, owner := openTest(t, Options{MaxRAM: 1 << 20})
	for _, ordered := range []bool{false, true} {
		var opts []TableOption
		if ordered {
			opts = append(opts, AppendOrder())
		}
		tab, err := owner.Create(ctx, groupSchema(t), opts...)
		require.NoError(t, err)
		ids := fillPlain(t, tab, 1000)
		before := tab.space.Arena.End()
		for round := range int64(20) {
			for i, id := range ids {
				require.NoError(t, tab.Delete(ctx, id))
				w := tab.Writer(ctx)
				w.SetInt(0, int64(i)+1000*(round+1))
				w.SetInt(1, 0)
				ids[i], _, err = w.Insert()
				require.NoError(t, err)
			}
		}
		require.Equal(t, !ordered, tab.space.Arena.End() == before)
		require.NoError(t, tab.Drop())
	}
}

// The id of a row stays what it was while the row grows and shrinks, through
// pieces and back, and so does its place in a scan.
func TestUpdateKeepsTheID(t *testing.T) {
	ctx := context.Background()
	s, err := NewSchema([]Column{{Name: "k", Type: TypeInt, NotNull: true}, {Name: "s", Type: TypeBlob, NotNull: true}}, Distinct(0))
	require.NoError(t, err)
	_, owner := openTest(t, Options{MaxRAM: 1 << 20})
	tab := createTest(t, owner, s)
	w := tab.Writer(ctx)
	var ids []RowID
	for i := range 3 {
		w.SetInt(0, int64(i))
		w.SetString(1, "x")
		id, _, err := w.Insert()
		require.NoError(t, err)
		ids = append(ids, id)
	}
	u := tab.Updater(ctx)
	var buf RowBuffer
	for _, n := range []int{10, 100, 4000, 4090, 5000, 20000, 9000, 50, 1, 30000, 0} {
		_, err := u.Load(ids[1])
		require.NoError(t, err)
		u.SetBytes(1, make([]byte, n))
		ok, err := u.Update()
		require.NoError(t, err)
		require.True(t, ok)
		row, err := tab.Get(ids[1], &buf)
		require.NoError(t, err)
		require.Len(t, row.Bytes(1), n)
		requireScan(t, tab, ids)
	}
}

func requireScan(t *testing.T, tab *Table, ids []RowID) {
	c := tab.Cursor(ScanOptions{})
	defer c.Close()
	for _, id := range ids {
		ok, err := c.Next(context.Background())
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, id, c.ID())
	}
	ok, err := c.Next(context.Background())
	require.NoError(t, err)
	require.False(t, ok)
}

// REQUIREMENTS D.20: a violation in the second of three indexes undoes the first.
func TestConflictUndoesEarlierIndexes(t *testing.T) {
	ctx := context.Background()
	_, owner := openTest(t, Options{MaxRAM: 1 << 20})
	tab := createTest(t, owner, plainSchema(t))
	var xs []*Index
	for _, spec := range []IndexSpec{{Name: "a", Key: Asc(0), Unique: true}, {Name: "b", Key: Asc(1), Unique: true, Ordered: true}, {Name: "c", Key: Asc(0, 1)}} {
		x, err := tab.AddIndex(ctx, spec)
		require.NoError(t, err)
		xs = append(xs, x)
	}
	w := tab.Writer(ctx)
	insert := func(a, b int64) (RowID, bool) {
		w.SetInt(0, a)
		w.SetInt(1, b)
		id, added, err := w.Insert()
		require.NoError(t, err)
		return id, added
	}
	first, added := insert(1, 1)
	require.True(t, added)
	id, added := insert(2, 1)
	require.False(t, added)
	require.Equal(t, Conflict{xs[1], first}, w.Conflict())
	require.Equal(t, first, id)
	for _, x := range xs {
		require.Equal(t, 1, x.Len())
	}
	_, added = insert(2, 2)
	require.True(t, added, "the first index must have forgotten 2")
}
