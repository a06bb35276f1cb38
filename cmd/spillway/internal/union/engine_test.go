package union

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
	"github.com/spillway-db/spillway/temptable"
	"github.com/spillway-db/spillway/testdata/joinit"
)

func TestEngineModes(t *testing.T) {
	for _, pool := range Pools() {
		c := smaller(t, joinitConfig(t, RAM, Mmap, Disk))
		c.Pool = pool
		res, err := Run(t.Context(), c)
		require.NoError(t, err)
		ram, mmap, disk := &res.Runs[0], &res.Runs[1], &res.Runs[2]
		for _, run := range res.Runs {
			require.Equal(t, c.Answer.Rows, run.Rows)
			require.Equal(t, c.Answer.Checksum, run.Checksum)
			require.Equal(t, pool, run.Pool)
			require.LessOrEqual(t, run.RAMPeak, run.RAMBudget, run.Mode)
			require.Positive(t, run.BlocksCreated+run.BlocksReused)
			if pool == Hot {
				require.Zero(t, run.BlocksCreated, "%s: all memory is there from the last sample", run.Mode)
			}
		}
		require.Zero(t, ram.FilesCreated)
		require.Zero(t, ram.MmapPeak)
		require.EqualValues(t, 1, mmap.FilesCreated)
		require.Positive(t, mmap.MmapPeak)
		require.Zero(t, mmap.DiskPeak)
		require.Zero(t, disk.MmapPeak)
		require.Positive(t, disk.DiskPeak)
	}
}

// smaller is c with fewer rows where rows take long.
func smaller(t testing.TB, c Config) Config {
	if !raceEnabled {
		return c
	}
	part := c.Left.Slice(0, 8192)
	c.Left, c.Right, c.Count = &part, &part, 1
	var err error
	c.Answer, err = input.Expect(t.Context(), &part, &part, nil)
	require.NoError(t, err)
	return c
}

// Pictures' data: what is in use goes up tier by tier, and a duplicate takes
// nothing, where the old policy makes a file for each.
func TestFills(t *testing.T) {
	c := joinitConfig(t)
	fills, err := Fills(t.Context(), c, 0)
	require.NoError(t, err)
	require.Len(t, fills, 2)
	ours, old := fills[0], fills[1]
	require.Equal(t, AllTiers, ours.Mode)
	require.EqualValues(t, 1<<20, ours.MmapBudget)
	require.EqualValues(t, 12<<20, old.RAMBudget)
	half, last := point(t, &ours, joinit.Rows), point(t, &ours, 2*joinit.Rows)
	require.Equal(t, report.FillPoint{}, ours.Points[0])
	for _, p := range ours.Points {
		require.LessOrEqual(t, p.RAM, ours.RAMBudget)
		require.LessOrEqual(t, p.Mmap, ours.MmapBudget)
	}
	require.Positive(t, half.Mmap)
	require.Positive(t, half.Disk)
	half.Rows = last.Rows
	require.Equal(t, half, last, "duplicates take nothing")
	require.Zero(t, point(t, &old, joinit.Rows).Filled)
	require.EqualValues(t, 26035*8<<20, point(t, &old, 2*joinit.Rows).Filled)
	require.EqualValues(t, 8<<20, point(t, &old, 2*joinit.Rows).RAM)
}

// point is the one after so many rows.
func point(t testing.TB, f *report.Fill, rows int) report.FillPoint {
	for _, p := range f.Points {
		if p.Rows == rows {
			return p
		}
	}
	require.Fail(t, "no such point")
	return report.FillPoint{}
}

func TestSizes(t *testing.T) {
	points, err := Sizes(t.Context(), Config{Dir: t.TempDir()}, 4096)
	require.NoError(t, err)
	var got []string
	for _, p := range points {
		require.Positive(t, p.NsPerRow)
		got = append(got, fmt.Sprint(p.Mode, p.Rows))
	}
	require.Equal(t, []string{"ram1024", "mmap1024", "disk1024", "ram4096", "mmap4096", "disk4096"}, got)
	// A probe for the budget, a warm-up of each mode, and nine samples of each.
	require.EqualValues(t, (1+3+3*9)*2*(1024+4096), sizeRows(4096))
}

// everyType is the columns of a table, and rows of it: the least values, the
// greatest, NULLs, zeros. Rows that look different and are equal are behind
// each other.
const everyType = "a tinyint, b smallint, c mediumint, d int, e bigint, f tinyint unsigned, g smallint unsigned, " +
	"h mediumint unsigned, i int unsigned, j bigint unsigned, k bit(12), l year, m enum('x','y'), n set('x','y'), " +
	"o float, p double, q date, r time, s time(1), t time(6), u datetime, v datetime(3), w timestamp, x timestamp(6), " +
	"y decimal(30,4), z char(4), aa varchar(4) collate utf8mb4_0900_ai_ci, ab binary(3), ac varbinary(3), " +
	"ad text collate latin1_swedish_ci, ae blob, af json, ag geometry"

var everyRow = []string{
	"-128\t-32768\t-8388608\t-2147483648\t-9223372036854775808\t0\t0\t0\t0\t0\t0x000\t1901\tx\tx\t" +
		"-3.4e38\t-1e308\t0000-00-00\t-838:59:59\t-838:59:59.9\t-838:59:59.999999\t0000-00-00 00:00:00\t0000-00-00 00:00:00\t" +
		"1970-01-01 00:00:01\t1970-01-01 00:00:00.000001\t-99999999999999999999999999.9999\ta\ta\ta\ta\ta\ta\t[1]\ta",
	"127\t32767\t8388607\t2147483647\t9223372036854775807\t255\t65535\t16777215\t4294967295\t18446744073709551615\t" +
		"0xfff\t2155\ty\tx,y\t3.4e38\t1e308\t9999-12-31\t838:59:59\t838:59:59.9\t838:59:59.999999\t9999-12-31 23:59:59\t" +
		"9999-12-31 23:59:59.999\t2106-02-07 06:28:15\t2106-02-07 06:28:15.999999\t99999999999999999999999999.9999\t" +
		"äöü€\täöü€\tabc\t\xff\\0a\täöü\t\xff\t{\"a\":[1,null]}\t\xff",
	strings.Repeat("\\N\t", 32) + `\N`,
	"0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0x0\t0000\t\t\t0\t-0\t2024-00-00\t0:00:00\t0:00:00\t0:00:00\t2024-02-29 00:00:00\t" +
		"2024-02-29 00:00:00.5\t0000-00-00 00:00:00\t0000-00-00 00:00:00\t1e2\ta \tA\tb\tb\tE \tb\t{\"a\":1, \"b\":2}\tb",
	"0\t0\t0\t0\t0\t0\t0\t0\t0\t0\tb'0'\t0000\t\t\t-0\t0\t2024-00-00\t00:00:00\t-0:00:00\t0:00:00.0\t2024-02-29 00:00:00\t" +
		"2024-02-29 00:00:00.50\t0000-00-00 00:00:00\t0000-00-00 00:00:00\t100.00\ta\tä\tb\\0\tb\té\tb\t{\"b\":2.0,\"a\":1e0}\tb",
}

// readAll reads rows of a declaration.
func readAll(t testing.TB, decl string, lines []string) *input.Table {
	s, err := input.ParseSchema(decl)
	require.NoError(t, err)
	tab, err := input.Read(t.Context(), strings.NewReader(strings.Join(lines, "\n")), s, input.Format{Null: `\N`})
	require.NoError(t, err)
	return tab
}

// sides makes tables of every type, their rows told apart by their first
// column; half of the right ones are there before.
func sides(t testing.TB, n int) (left, right *input.Table) {
	var lines [2][]string
	for side := range lines {
		for k := range n {
			row := everyRow[(k+side)%len(everyRow)]
			lines[side] = append(lines[side], fmt.Sprint(k/len(everyRow)+side*n/len(everyRow)/2, "\t", row))
		}
	}
	decl := "id int, " + everyType
	return readAll(t, decl, lines[0]), readAll(t, decl, lines[1])
}

// Every type goes through every mode, and comes back as it went in.
func TestEngineTypes(t *testing.T) {
	left, right := sides(t, 2000)
	c := Config{Modes: Modes(), MaxRAM: 4 << 20, MaxMmap: 64 << 20, Count: 1, Pool: Fresh, LegacyCycles: 1,
		Dir: t.TempDir(), Left: left, Right: right}
	var err error
	c.Answer, err = input.Expect(t.Context(), left, right, nil)
	require.NoError(t, err)
	require.Equal(t, 400*4+200*4, c.Answer.Rows)
	res, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Positive(t, res.Runs[3].MmapPeak)
	require.Positive(t, res.Runs[4].DiskPeak)
}

// The tool packs dates as the library does.
func TestDatesArePackedAlike(t *testing.T) {
	tab := readAll(t, "a datetime(6), b date", []string{"2024-02-29 12:34:56.789\t9999-12-31"})
	require.Equal(t, temptable.PackDatetime(2024, 2, 29, 12, 34, 56, 789000), tab.Cols[0].I64[0])
	require.Equal(t, temptable.PackDate(9999, 12, 31), tab.Cols[1].I64[0])
}
