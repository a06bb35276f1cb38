package temptable

import (
	"context"
	"testing"

	"github.com/spillway-db/spillway/internal/invariants"
	"github.com/stretchr/testify/require"
)

// C.19: what a getter returned is overwritten by the next use of the cursor or
// buffer that it came from.
func TestStaleValuesAreSpoiled(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("in checked builds only")
	}
	ctx := context.Background()
	for _, n := range []int{5, 5000} { // a short row, one in pieces
		_, owner := openTest(t, Options{MaxRAM: 1 << 20})
		s, err := NewSchema([]Column{{Type: TypeBlob}})
		require.NoError(t, err)
		tab := createTest(t, owner, s)
		w := tab.Writer(ctx)
		var ids []RowID
		for _, ch := range []byte{'a', 'b', 'c'} {
			v := make([]byte, n)
			for i := range v {
				v[i] = ch
			}
			w.SetBytes(0, v)
			id, _, err := w.Insert()
			require.NoError(t, err)
			ids = append(ids, id)
		}
		spoiled := func(lent []byte, use func()) {
			require.NotEqual(t, byte(poison), lent[n/2])
			use()
			require.NotContains(t, "abc", string(lent[n/2]), "%d bytes", n)
		}
		next := func(c *Cursor) {
			ok, err := c.Next(ctx)
			require.NoError(t, err)
			require.True(t, ok)
		}
		for _, use := range []func(c *Cursor){
			next,
			func(c *Cursor) { c.Close() },
			func(c *Cursor) { _, _ = c.Prev(ctx) },
			func(c *Cursor) { _, _ = c.ReadBatch(ctx, &Batch{}) },
		} {
			c := tab.Cursor(ScanOptions{})
			next(c)
			next(c)
			lent := c.Row().Bytes(0)
			if n == 5 {
				spoiled(lent, func() { use(c) })
			} else { // the next row may be in the same memory
				require.Equal(t, "b", string(lent[n/2]))
				use(c)
				require.NotEqual(t, "b", string(lent[n/2]))
			}
			c.Close()
		}
		var buf RowBuffer
		row, err := tab.Get(ids[0], &buf)
		require.NoError(t, err)
		lent := row.Bytes(0)
		_, err = tab.Get(1<<40, &buf)
		require.ErrorIs(t, err, ErrRowGone)
		require.Equal(t, byte(poison), lent[n/2])
	}
}
