package legacy

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/testdata/joinit"
)

// joinitCols is the report's table: INT, VARCHAR(64), TIME, INT.
var joinitCols = []Column{{Width: 4}, {}, {Width: 3, Unit: 1e6}, {Width: 4}}

// loadJoinit returns the first n rows of the report's table.
func loadJoinit(t testing.TB, n int) *Batch {
	b := *parsed(t)
	b.N = n
	return &b
}

var parseOnce = sync.OnceValues(parseJoinit)

func parsed(t testing.TB) *Batch {
	b, err := parseOnce()
	require.NoError(t, err)
	require.Equal(t, joinit.Rows, b.N)
	return b
}

func parseJoinit() (*Batch, error) {
	z, err := gzip.NewReader(joinit.Open())
	if err != nil {
		return nil, err
	}
	b := newBatch(joinitCols)
	sc := bufio.NewScanner(z)
	for sc.Scan() {
		if err := addJoinit(b, strings.Split(sc.Text(), "\t")); err != nil {
			return nil, err
		}
	}
	return b, sc.Err()
}

func newBatch(cols []Column) *Batch {
	b := &Batch{Cols: make([]Vector, len(cols))}
	for c := range cols {
		b.Cols[c].reset(cols[c].Width == 0)
		b.Cols[c].Valid = nil
	}
	return b
}

func addJoinit(b *Batch, f []string) error {
	var h, m, sec int64
	if _, err := fmt.Sscanf(f[2], "%d:%d:%d", &h, &m, &sec); err != nil {
		return err
	}
	i, err1 := strconv.ParseInt(f[0], 10, 64)
	g, err2 := strconv.ParseInt(f[3], 10, 64)
	b.Cols[0].I64 = append(b.Cols[0].I64, i)
	b.Cols[1].Bytes = append(b.Cols[1].Bytes, f[1]...)
	b.Cols[1].Off = append(b.Cols[1].Off, int32(len(b.Cols[1].Bytes)))
	b.Cols[2].I64 = append(b.Cols[2].I64, (h*3600+m*60+sec)*1e6)
	b.Cols[3].I64 = append(b.Cols[3].I64, g)
	b.N++
	return errors.Join(err1, err2)
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
