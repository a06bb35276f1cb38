package legacy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/testdata/joinit"
)

const miB = 1 << 20

// union runs the report's statement over its first n rows and returns the
// dropped table.
func union(t testing.TB, cfg Config, n int) *Table {
	if cfg.Cycles == 0 {
		cfg.Cycles = 2
	}
	cfg.Dir = t.TempDir()
	tab, err := Create(t.Context(), cfg, joinitCols)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tab.Drop()) })
	b := loadJoinit(t, n)
	require.NoError(t, tab.Insert(t.Context(), b))
	require.NoError(t, tab.Insert(t.Context(), b))
	if n == joinit.Rows {
		rows, sum := checksum(t, tab)
		require.Equal(t, joinit.Rows, rows)
		require.Equal(t, joinit.Checksum, sum)
	}
	require.NoError(t, tab.Drop())
	require.Zero(t, tab.alloc.store.live)
	return tab
}

// The counts follow from the layout; they were worked out on paper and by a
// simulation that shares no code with this package.
func TestCounts(t *testing.T) {
	tried := 0
	for _, c := range []struct {
		name   string
		cfg    Config
		rows   int
		files  int
		filled int64
	}{
		{"8.0.19 12 MiB, the report", Config{MaxRAM: 12 * miB}, joinit.Rows, 26035, 26035 * 8 * miB},
		{"8.0.21 4 MiB", Config{Policy: V8021, MaxRAM: 4 * miB}, joinit.Rows, 1, 4 * miB},
		{"8.0.19 20,000 rows", Config{MaxRAM: 12 * miB}, 20000, 0, 0},
		{"8.0.19 4 MiB", Config{MaxRAM: 4 * miB}, joinit.Rows, 26036, 4*miB + 26035*8*miB},
		{"8.0.19 2 MiB", Config{MaxRAM: 2 * miB}, joinit.Rows, 26037, 6*miB + 26035*8*miB},
		{"8.0.19 16 MiB", Config{MaxRAM: 16 * miB}, joinit.Rows, 0, 0},
		{"8.0.19 chunk + 8", Config{MaxRAM: 12 * miB, RowSlack: 8}, joinit.Rows, 27635, 27635 * 8 * miB},
		{"8.0.21 12 MiB", Config{Policy: V8021, MaxRAM: 12 * miB}, joinit.Rows, 0, 0},
	} {
		if raceEnabled && tried == 3 {
			break
		}
		tried++
		t.Run(c.name, func(t *testing.T) {
			r := union(t, c.cfg, c.rows).Result()
			require.Equal(t, c.files, r.Files)
			require.Equal(t, c.filled, r.Filled)
			require.Equal(t, c.rows, r.Unique)
			require.Equal(t, c.rows, r.Duplicates)
		})
	}
}

func TestWhereTheReportTips(t *testing.T) {
	cfg := Config{MaxRAM: 12 * miB, Cycles: 1, Dir: t.TempDir()}
	tab, err := Create(t.Context(), cfg, joinitCols)
	require.NoError(t, err)
	defer tab.Drop()
	b := loadJoinit(t, joinit.Rows)
	require.NoError(t, tab.Insert(t.Context(), b))

	third := tab.alloc.current
	require.Len(t, third.mem, 4*miB)
	require.Equal(t, 1131216, len(third.mem)-third.next)
	require.Zero(t, tab.Result().Files)

	require.NoError(t, tab.Insert(t.Context(), b))
	r := tab.Result()
	require.Equal(t, 6733, r.FirstFile)
	require.Equal(t, 8*miB, r.FileBlock)
	require.EqualValues(t, 8*miB, r.RAMPeak)
	require.EqualValues(t, 8*miB, r.MmapPeak)
}

func TestProjection(t *testing.T) {
	r := union(t, Config{MaxRAM: 12 * miB, Cycles: 3}, joinit.Rows).Result()
	require.Equal(t, 3, r.Measured.Files)
	require.EqualValues(t, 3*8*miB, r.Measured.Bytes)
	require.InDelta(t, float64(r.Measured.Time)/3*(26035-3), float64(r.Projected), float64(r.Projected)/1e6)
	require.LessOrEqual(t, r.Measured.P10, r.Measured.P50)
	require.LessOrEqual(t, r.Measured.P50, r.Measured.P90)

	r = union(t, Config{Policy: V8021, MaxRAM: 4 * miB, Cycles: Full}, joinit.Rows).Result()
	require.Equal(t, 1, r.Measured.Files)
	require.Zero(t, r.Projected)
}
