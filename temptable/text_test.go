package temptable

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAppendText has what MySQL 8.0 shows for such values.
func TestAppendText(t *testing.T) {
	at := PackDatetime(2024, 2, 29, 13, 5, 9, 120_000)
	for _, c := range []struct {
		col  Column
		v    any
		want string
	}{
		{Column{Type: TypeInt}, int64(-5), "-5"},
		{Column{Type: TypeUBigInt}, int64(-1), "18446744073709551615"},
		{Column{Type: TypeYear}, int64(0), "0000"},
		{Column{Type: TypeYear}, int64(1999), "1999"},
		{Column{Type: TypeBit, Length: 12}, int64(0x141), "\x01\x41"},
		{Column{Type: TypeEnum, Length: 3}, int64(2), "2"},
		{Column{Type: TypeTime}, int64(46435e6), "12:53:55"},
		{Column{Type: TypeTime}, int64(-(3600e6)), "-01:00:00"},
		{Column{Type: TypeTime, FSP: 6}, int64(maxTime), "838:59:59.999999"},
		{Column{Type: TypeTime, FSP: 3}, int64(-1000), "-00:00:00.001"},
		{Column{Type: TypeDate}, PackDate(2024, 2, 29), "2024-02-29"},
		{Column{Type: TypeDate}, int64(0), "0000-00-00"},
		{Column{Type: TypeDate}, PackDate(2024, 0, 0), "2024-00-00"},
		{Column{Type: TypeDatetime, FSP: 2}, at, "2024-02-29 13:05:09.12"},
		{Column{Type: TypeDatetime}, PackDatetime(9999, 12, 31, 23, 59, 59, 0), "9999-12-31 23:59:59"},
		{Column{Type: TypeTimestamp}, int64(0), "0000-00-00 00:00:00"},
		{Column{Type: TypeTimestamp, FSP: 1}, int64(1_700_000_000_500_000), "2023-11-14 22:13:20.5"},
		{Column{Type: TypeDouble}, 0.1, "0.1"},
		{Column{Type: TypeDouble}, -1e15, "-1e15"},
		{Column{Type: TypeDouble}, 1e14, "100000000000000"},
		{Column{Type: TypeDouble}, 1.5e-20, "1.5e-20"},
		{Column{Type: TypeDouble}, 1e-9, "0.000000001"},
		{Column{Type: TypeDouble}, 1e300, "1e300"},
		{Column{Type: TypeFloat}, float64(float32(0.1)), "0.1"},
		{Column{Type: TypeFloat}, 1e-16, "1e-16"},
		{Column{Type: TypeDecimal, Length: 5, Scale: 2}, "1.5", "1.50"},
		{Column{Type: TypeDecimal, Length: 5, Scale: 2}, "-0", "0.00"},
		{Column{Type: TypeDecimal, Length: 5, Scale: 2}, ".5", "0.50"},
		{Column{Type: TypeDecimal, Length: 5, Scale: 2}, "-999.99", "-999.99"},
		{Column{Type: TypeDecimal, Length: 5, Scale: 0}, "12.e2", "1200"},
		{Column{Type: TypeDecimal, Length: 2, Scale: 2}, "0.05", "0.05"},
		{Column{Type: TypeDecimal, Length: 65}, strings.Repeat("9", 65), strings.Repeat("9", 65)},
		{Column{Type: TypeDecimal, Length: 65, Scale: 30}, "-" + strings.Repeat("9", 35) + "." + strings.Repeat("9", 30), "-" + strings.Repeat("9", 35) + "." + strings.Repeat("9", 30)},
		{Column{Type: TypeDecimal, Length: 65}, "1e64", "1" + strings.Repeat("0", 64)},
		{Column{Type: TypeVarchar}, "as it is", "as it is"},
		{Column{Type: TypeBinary, Length: 3}, "a", "a\x00\x00"},
		{Column{Type: TypeChar}, "a  ", "a"},
	} {
		s, err := NewSchema([]Column{c.col})
		require.NoError(t, err)
		w := newRowWriter(s)
		setValue(w, rand.New(rand.NewPCG(1, 1)), c.col, 0, c.v)
		buf, err := w.finish()
		require.NoError(t, err, "%v", c)
		require.Equal(t, "="+c.want, string(Row{s, buf}.AppendText([]byte("="), 0)), "%v", c)
	}
}

// TestDecimalWidths has the least widths for two's complement, worked out with
// bc: 10^n needs ceil(log2(10^n)) bits and a sign.
func TestDecimalWidths(t *testing.T) {
	for digits, want := range map[int]uint8{1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 9: 4, 10: 5, 18: 8, 19: 9, 38: 16, 39: 17, 65: 28} {
		require.Equal(t, want, decimalWidth(digits), digits)
	}
}

func TestDecimalText(t *testing.T) {
	c := &column{kind: kindDecimal, width: decimalWidth(5), digits: 5, scale: 2}
	dst := make([]byte, 8)
	for _, good := range []string{"0", "+1", "-1.5", "1.", ".1", "00000000.10000000", "999.99", "1e2", "10E-1", "1e-2", "0e999999999999", "0.00e-5", "100e+0", "12345e-2"} {
		require.True(t, c.putDecimal(dst, []byte(good)), good)
	}
	for _, bad := range []string{"", "+", "-", ".", "e1", "1e", "1e+", "1ee1", "1.2.3", " 1", "1 ", "0x1", "1000", "1e3", "0.001", "1e-3", "1e99999999999999999999", "١", "1_0", "NaN", strings.Repeat("1", 70)} {
		require.False(t, c.putDecimal(dst, []byte(bad)), bad)
	}
}

func TestTypeNames(t *testing.T) {
	require.Equal(t, "bigint unsigned", TypeUBigInt.String())
	require.Equal(t, "type(200)", Type(200).String())
	for ty := TypeTinyInt; ty < numTypes; ty++ {
		require.NotEmpty(t, ty.String())
	}
}

// TestGettersOfAnotherType give zeros.
func TestGettersOfAnotherType(t *testing.T) {
	s, err := NewSchema([]Column{{Type: TypeInt}, {Type: TypeVarchar}, {Type: TypeDouble}, {Type: TypeDecimal, Length: 3}})
	require.NoError(t, err)
	w := newRowWriter(s)
	w.setInt(0, 7)
	w.setString(1, "seven")
	w.setFloat(2, math.Pi)
	w.setString(3, "7")
	buf, err := w.finish()
	require.NoError(t, err)
	row := Row{s, buf}
	for i := range 4 {
		require.Zero(t, row.Time(i))
	}
	for _, i := range []int{1, 2, 3} {
		require.Zero(t, row.Int(i))
		require.Zero(t, row.Uint(i))
	}
	for _, i := range []int{0, 1, 3} {
		require.Zero(t, row.Float(i))
	}
	for _, i := range []int{0, 2, 3} {
		require.Empty(t, row.Bytes(i))
	}
}
