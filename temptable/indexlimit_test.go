package temptable

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nodes of an ordered index cannot go to the disk table. Where RAM holds nothing
// else any more, the insert is refused with the name of the limit, and the table
// and its index hold exactly the rows before it; rows and room for others remain.
func TestOrderedIndexNeedsMemory(t *testing.T) {
	ctx := context.Background()
	_, owner := openTest(t, Options{MaxRAM: 512 << 10, MaxMmap: Disabled})
	tab := createTest(t, owner, plainSchema(t))
	x, err := tab.AddIndex(ctx, IndexSpec{Name: "k", Key: Asc(0), Ordered: true})
	require.NoError(t, err)
	w := tab.Writer(ctx)
	n := int64(0)
	for ; err == nil; n++ {
		w.SetInt(0, n*7919%100003)
		w.SetInt(1, n)
		_, _, err = w.Insert()
		require.Less(t, n, int64(100003))
	}
	n--
	require.ErrorIs(t, err, ErrRAMLimit)
	require.EqualValues(t, n, tab.Len())
	require.EqualValues(t, n, x.Len())
	require.Greater(t, n, int64(512<<10/32), "half of the RAM and more served the index")
	c := x.Cursor()
	defer c.Close()
	last, seen := int64(-1), int64(0)
	ok, err := c.Next(ctx)
	for ; ok; ok, err = c.Next(ctx) {
		row, err := c.Row()
		require.NoError(t, err)
		require.Greater(t, row.Int(0), last)
		last = row.Int(0)
		seen++
	}
	require.NoError(t, err)
	require.Equal(t, n, seen)
}
