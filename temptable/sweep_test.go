package temptable

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// sweepSchema has rows of any multiple of 8 bytes from 16 on.
func sweepSchema(t *testing.T) *Schema {
	s, err := NewSchema([]Column{{Name: "n", Type: TypeBigInt, NotNull: true}, {Name: "s", Type: TypeVarbinary, NotNull: true}}, Distinct())
	require.NoError(t, err)
	return s
}

// sweepHead is what a row takes beside its string: header, integer, one end.
const sweepHead = 2 + 8 + 2

// The pattern of bug 98739, wherever the end of the last block lies: the fill
// of a block is swept over every offset. At each, duplicates take no block, and
// neither does going back and forth over the end by truncating and filling
// again.
func TestNoThrashAtAnyFill(t *testing.T) {
	step := 8
	if raceEnabled || testing.Short() {
		step = 232
	}
	_, owner := openTest(t, Options{MaxRAM: 8 << 20})
	s := sweepSchema(t)
	for fill := 16; fill <= 36<<10; fill += step {
		sweepPoint(t, owner, s, fill)
	}
}

func sweepPoint(t *testing.T, owner *Owner, s *Schema, fill int) {
	tab := createTest(t, owner, s)
	defer func() { require.NoError(t, tab.Drop()) }()
	w := tab.Writer(context.Background())
	n := fillTo(t, w, fill)
	taken := tab.Stats().Taken()
	for k := range 64 {
		offer(t, w, k%n, rowSize(fill, k%n, n), false)
	}
	require.Equal(t, taken, tab.Stats().Taken(), "fill %d: blocks taken by duplicates", fill)

	offer(t, w, n, 64, true) // this one may need a block, and the index one
	after := tab.Stats().Taken()
	require.LessOrEqual(t, after-taken, int64(2), "fill %d", fill)
	for range 64 {
		offer(t, w, n, 64, false)
	}
	require.Equal(t, after, tab.Stats().Taken(), "fill %d: blocks taken by duplicates of the last row", fill)

	for range 3 {
		require.NoError(t, tab.Truncate())
		require.Equal(t, n, fillTo(t, w, fill))
		offer(t, w, n, 64, true)
	}
	require.Equal(t, after, tab.Stats().Taken(), "fill %d: blocks taken by filling again", fill)
}

// rowSize is the size of row k of n that together take fill bytes.
func rowSize(fill, k, n int) int {
	if k < n-1 {
		return 4096
	}
	return fill - 4096*(n-1)
}

// fillTo inserts rows of 4,096 bytes, the last one less, and returns how many.
func fillTo(t *testing.T, w *Writer, fill int) int {
	n := (fill + 4095) / 4096
	if fill-4096*(n-1) < 16 {
		n--
	}
	for k := range n {
		offer(t, w, k, min(rowSize(fill, k, n), 4096), true)
	}
	return n
}

func offer(t *testing.T, w *Writer, n, size int, want bool) {
	w.SetInt(0, int64(n))
	w.SetBytes(1, make([]byte, min(size, 4096)-sweepHead))
	_, added, err := w.Insert()
	if err != nil || added != want {
		t.Fatalf("row %d of %d bytes: added %v, %v", n, size, added, err)
	}
}

// Two tables that come to the global limit in turn do not take and give the
// same memory for ever.
func TestTwoTablesAtTheLimit(t *testing.T) {
	_, owner := openTest(t, Options{MaxRAM: 256 << 10, MaxMmap: 64 << 20, MaxDisk: Disabled})
	s := sweepSchema(t)
	a, b := createTest(t, owner, s, Named("a")), createTest(t, owner, s, Named("b"))
	wa, wb := a.Writer(context.Background()), b.Writer(context.Background())
	const n = 8000
	for k := range n {
		offer(t, wa, k, 64, true)
		offer(t, wb, k, 64, true)
	}
	for _, tab := range []*Table{a, b} {
		st := tab.Stats()
		require.EqualValues(t, n, st.Rows)
		require.Less(t, st.BlocksPerRow(), 0.03, "%+v", st)
		require.Positive(t, st.Bytes[Mmap].Rows)
	}
	taken := a.Stats().Taken() + b.Stats().Taken()
	for k := range n {
		offer(t, wa, k, 64, false)
		offer(t, wb, k, 64, false)
	}
	require.Equal(t, taken, a.Stats().Taken()+b.Stats().Taken())
}
