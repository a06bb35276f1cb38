package temptable

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a caller should not do gives an error, or nothing worse than one.
func TestMisuse(t *testing.T) {
	ctx := context.Background()
	_, owner := openTest(t, Options{MaxRAM: 4 << 20, MaxMmap: Disabled})
	rows := randomJoinit(2000)

	t.Run("no context is one that nobody cancels", func(t *testing.T) {
		var none context.Context
		tab, err := owner.Create(none, unionSchema(t))
		require.NoError(t, err)
		w := tab.Writer(none)
		for k := range rows.N {
			writeJoinit(w, rows, k)
			_, added, err := w.Insert()
			require.True(t, added)
			require.NoError(t, err)
		}
		n := 0
		for _, err := range tab.Rows(none) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, rows.N, n)
	})
	t.Run("a batch of less than no rows", func(t *testing.T) {
		tab := createTest(t, owner, unionSchema(t))
		_, err := tab.InsertBatch(ctx, &Batch{N: -1}, nil)
		require.ErrorIs(t, err, ErrBatch)
	})
	t.Run("a cursor outlives its table", func(t *testing.T) {
		tab := createTest(t, owner, unionSchema(t))
		insertAll(t, tab, rows)
		c := tab.Cursor(ScanOptions{})
		ok, err := c.Next(ctx)
		require.True(t, ok)
		require.NoError(t, err)
		require.NoError(t, tab.Drop())
		ok, err = c.Next(ctx)
		require.False(t, ok)
		require.ErrorIs(t, err, ErrClosed)
		c.Close()
		_, err = tab.InsertBatch(ctx, rows, nil)
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, tab.Drop())
	})
}
