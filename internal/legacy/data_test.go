package legacy

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/testdata/joinit"
)

// joinitCols is the report's table: INT, VARCHAR(64), TIME, INT.
var joinitCols = []Column{{Width: 4}, {}, {Width: 3, Unit: 1e6}, {Width: 4}}

// loadJoinit parses the first n rows of the report's table.
func loadJoinit(t testing.TB, n int) *Batch {
	z, err := gzip.NewReader(joinit.Open())
	require.NoError(t, err)
	b := newBatch(joinitCols)
	for sc := bufio.NewScanner(z); b.N < n && sc.Scan(); {
		addJoinit(t, b, strings.Split(sc.Text(), "\t"))
	}
	require.Equal(t, n, b.N)
	return b
}

func newBatch(cols []Column) *Batch {
	b := &Batch{Cols: make([]Vector, len(cols))}
	for c := range cols {
		b.Cols[c].reset(cols[c].Width == 0)
		b.Cols[c].Valid = nil
	}
	return b
}

func addJoinit(t testing.TB, b *Batch, f []string) {
	b.Cols[0].I64 = append(b.Cols[0].I64, atoi(t, f[0]))
	b.Cols[1].Bytes = append(b.Cols[1].Bytes, f[1]...)
	b.Cols[1].Off = append(b.Cols[1].Off, int32(len(b.Cols[1].Bytes)))
	hms := strings.Split(f[2], ":")
	b.Cols[2].I64 = append(b.Cols[2].I64, (atoi(t, hms[0])*3600+atoi(t, hms[1])*60+atoi(t, hms[2]))*1e6)
	b.Cols[3].I64 = append(b.Cols[3].I64, atoi(t, f[3]))
	b.N++
}

func atoi(t testing.TB, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(t, err)
	return n
}

// checksum is the sum over the rows of t of the CRC-32 of their text.
func checksum(t testing.TB, tab *Table) (rows int, sum int) {
	require.NoError(t, tab.Scan(t.Context(), func(b *Batch) error {
		rows += b.N
		for k := range b.N {
			sum += int(crc32.ChecksumIEEE([]byte(joinitText(b, k))))
		}
		return nil
	}))
	return rows, sum
}

func joinitText(b *Batch, k int) string {
	sec := b.Cols[2].I64[k] / 1e6
	return fmt.Sprintf("%d|%s|%02d:%02d:%02d|%d", b.Cols[0].I64[k], b.Cols[1].bytes(k),
		sec/3600, sec/60%60, sec%60, b.Cols[3].I64[k])
}
