package temptable

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// joinitSchema is the table of the bug report.
func joinitSchema(t testing.TB, opts ...SchemaOption) *Schema {
	t.Helper()
	s, err := NewSchema([]Column{
		{Name: "i", Type: TypeInt, NotNull: true},
		{Name: "s", Type: TypeVarchar, Length: 64},
		{Name: "t", Type: TypeTime, NotNull: true},
		{Name: "g", Type: TypeInt, NotNull: true},
	}, opts...)
	require.NoError(t, err)
	return s
}

const joinitText = "1a0b6fcb-ecbd-11f1-9b5b-02fc00000001"

func joinitRow(t testing.TB, w *rowWriter) []byte {
	t.Helper()
	w.begin()
	w.setInt(0, 1)
	w.setString(1, joinitText)
	w.setTime(2, 12*time.Hour+53*time.Minute+55*time.Second)
	w.setInt(3, 29)
	row, err := w.finish()
	require.NoError(t, err)
	return row
}

func TestJoinitRowBytes(t *testing.T) {
	row := joinitRow(t, newRowWriter(joinitSchema(t)))
	want := "0700" + // 56 bytes
		"00" + // nothing is NULL
		"01000000" + // i
		"63b500" + // 46,435 s = 0xb563
		"1d000000" + // g
		"2400" + // s ends after 36 bytes
		hex.EncodeToString([]byte(joinitText)) +
		"00000000"
	require.Equal(t, want, hex.EncodeToString(row))
}

func TestJoinitGetters(t *testing.T) {
	s := joinitSchema(t)
	row := Row{s: s, buf: joinitRow(t, newRowWriter(s))}
	require.NoError(t, s.validate(row.buf))
	require.Equal(t, 4, row.NumCols())
	require.Equal(t, int64(1), row.Int(0))
	require.Equal(t, joinitText, row.String(1))
	require.Equal(t, joinitText, string(row.Bytes(1)))
	require.Equal(t, 46435*time.Second, row.Time(2))
	require.Equal(t, int64(46435e6), row.Int(2))
	require.Equal(t, int64(29), row.Int(3))
	require.False(t, row.IsNull(1))
}

func TestSettersComeInAnyOrder(t *testing.T) {
	s, err := NewSchema([]Column{
		{Type: TypeVarchar}, {Type: TypeInt}, {Type: TypeBlob}, {Type: TypeVarchar},
	})
	require.NoError(t, err)
	w := newRowWriter(s)
	w.setString(3, "third")
	w.setBytes(0, []byte("a long first value"))
	w.setString(2, strings.Repeat("x", 100))
	w.setInt(1, 7)
	w.setString(0, "first")
	w.setNull(2)
	w.setString(3, "the third")
	w.setString(2, "second")
	got, err := w.finish()
	require.NoError(t, err)
	got = append([]byte(nil), got...)

	w.begin()
	w.setString(0, "first")
	w.setInt(1, 7)
	w.setString(2, "second")
	w.setString(3, "the third")
	want, err := w.finish()
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func joinitBatch(n int, rng *rand.Rand) *Batch {
	b := &Batch{N: n, Cols: make([]Vector, 4)}
	b.Cols[1].Off = []int32{0}
	for i := range n {
		b.Cols[0].I64 = append(b.Cols[0].I64, int64(i))
		b.Cols[1].Bytes = append(b.Cols[1].Bytes, joinitText...)
		copy(b.Cols[1].Bytes[36*i:], hex.EncodeToString([]byte{byte(rng.Uint32()), byte(rng.Uint32()), byte(i), byte(i >> 8)}))
		b.Cols[1].Off = append(b.Cols[1].Off, int32(len(b.Cols[1].Bytes)))
		b.Cols[2].I64 = append(b.Cols[2].I64, 46435e6)
		b.Cols[3].I64 = append(b.Cols[3].I64, int64(rng.IntN(60)))
	}
	return b
}
