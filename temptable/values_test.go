package temptable

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A value of the tests is nil, an int64, a float64 or a string: the integer
// form, the float or the bytes that Type describes.

// foldCase is a collation of the tests: ASCII letters without case, trailing
// spaces do not count, a string with '!' has no key.
type foldCase struct{}

var errNoKey = errors.New("no key for '!'")

func (foldCase) Name() string        { return "test_fold_ci" }
func (foldCase) PadSpace() bool      { return true }
func (foldCase) MaxKeyLen(n int) int { return n }
func (foldCase) AppendKey(dst, src []byte) ([]byte, error) {
	if bytes.IndexByte(src, '!') >= 0 {
		return dst, errNoKey
	}
	return append(dst, fold(string(src))...), nil
}

func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 32
		}
		return r
	}, strings.TrimRight(s, " "))
}

// foldQuick is foldCase with the optional methods; it counts characters.
type foldQuick struct{ foldCase }

func (foldQuick) Equal(a, b []byte) bool { return fold(string(a)) == fold(string(b)) }
func (foldQuick) Hash(src []byte) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(fold(string(src))) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
func (foldQuick) Chars(src []byte) int { return len([]rune(string(src))) }

func collationOf(c Column) Collation {
	if c.Type == TypeChar || c.Type == TypeVarchar || c.Type == TypeText {
		return c.Collation
	}
	return nil
}

func randomColumn(rng *rand.Rand) Column {
	c := Column{Type: Type(1 + rng.IntN(int(numTypes)-1)), NotNull: rng.IntN(3) == 0}
	switch c.Type {
	case TypeJSON:
		c.Type = TypeVarchar
	case TypeBit, TypeSet:
		c.Length = 1 + rng.IntN(64)
	case TypeEnum:
		c.Length = 1 + rng.IntN(600)
	case TypeDecimal:
		c.Length = 1 + rng.IntN(65)
		c.Scale = rng.IntN(min(c.Length, 30) + 1)
	case TypeTime, TypeDatetime, TypeTimestamp:
		c.FSP = rng.IntN(7)
	case TypeBinary:
		c.Length = rng.IntN(12)
	}
	if c.Type == TypeChar || c.Type == TypeVarchar || c.Type == TypeText {
		c.Collation = []Collation{nil, foldCase{}, foldQuick{}}[rng.IntN(3)]
	}
	return c
}

func randomColumns(rng *rand.Rand) []Column {
	cols := make([]Column, rng.IntN(8))
	if rng.IntN(20) == 0 {
		cols = make([]Column, 60+rng.IntN(80))
	}
	for i := range cols {
		cols[i] = randomColumn(rng)
	}
	return cols
}

var textPool = []string{
	"", "a", "A", "a ", "a  ", "ab", "aB ", "b", "c", "bc", "a\x00", "\x00", "\x00\x00", "\x00\x01", "a\xff", "\xff",
	"NULL", "<nil>", "ä", "\xc3", " ", "a\tb", joinitText, strings.Repeat("x", 300), strings.Repeat("\x00", 40),
}

func randomText(rng *rand.Rand) string {
	switch rng.IntN(40) {
	case 0:
		return strings.Repeat("y", 4000+rng.IntN(200))
	case 1:
		return strings.Repeat("z", rng.IntN(70_000))
	}
	return textPool[rng.IntN(len(textPool))]
}

func randomValue(rng *rand.Rand, c Column) any {
	if !c.NotNull && rng.IntN(5) == 0 {
		return nil
	}
	switch k := types[c.Type].kind; k {
	case kindFloat, kindDouble:
		return randomFloat(rng, k)
	case kindDecimal:
		return randomDecimal(rng, c)
	case kindBytes, kindChar:
		return randomText(rng)
	case kindBinary:
		v := randomText(rng)
		if c.Length > 0 {
			v = v[:min(len(v), c.Length)]
		}
		return v
	}
	return randomInt(rng, c)
}

// bounds are the least and the greatest integer form of a column, from the
// reference manual, not from the codec.
func bounds(c Column) (lo, hi int64) {
	signed := func(bits int) (int64, int64) { return -1 << (bits - 1), 1<<(bits-1) - 1 }
	switch c.Type {
	case TypeTinyInt:
		return signed(8)
	case TypeSmallInt:
		return signed(16)
	case TypeMediumInt:
		return signed(24)
	case TypeInt:
		return signed(32)
	case TypeBigInt:
		return math.MinInt64, math.MaxInt64
	case TypeUTinyInt:
		return 0, 255
	case TypeUSmallInt:
		return 0, 65535
	case TypeUMediumInt:
		return 0, 16777215
	case TypeUInt:
		return 0, 4294967295
	case TypeEnum:
		return 0, int64(c.Length)
	}
	return 0, 0
}

func randomInt(rng *rand.Rand, c Column) int64 {
	lo, hi := bounds(c)
	unit := int64(math.Pow10(6 - c.FSP))
	switch c.Type {
	case TypeUBigInt:
		return pick(rng, 0, 1, -1, math.MinInt64, math.MaxInt64, int64(rng.Uint64()))
	case TypeBit, TypeSet:
		return int64(pick(rng, 0, 1, math.MaxUint64, rng.Uint64()) >> (64 - c.Length))
	case TypeYear:
		return pick(rng, 0, 1901, 2155, 1901+rng.Int64N(255))
	case TypeTime:
		return pick(rng, 0, 1e6, -1e6, (maxTime)/unit*unit, -maxTime/unit*unit, (rng.Int64N(2*maxTime)-maxTime)/unit*unit)
	case TypeTimestamp:
		return pick(rng, 0, 1e6, (1<<32-1)*1e6, rng.Int64N(1e6<<32)/unit*unit)
	case TypeDate:
		return PackDate(randomDate(rng))
	case TypeDatetime:
		y, m, d := randomDate(rng)
		micro := pick(rng, 0, rng.Int64N(1e6), 999999) / unit * unit
		return PackDatetime(y, m, d, rng.IntN(24), rng.IntN(60), rng.IntN(60), int(micro))
	}
	v := pick(rng, 0, 1, -1, lo, hi, lo+int64(rng.Uint64N(uint64(hi)-uint64(lo)+1|1)))
	return min(max(v, lo), hi)
}

func randomDate(rng *rand.Rand) (y, m, d int) {
	return pick(rng, 0, 2000, 9999, rng.IntN(10000)), rng.IntN(13), rng.IntN(32)
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func randomFloat(rng *rand.Rand, k kind) float64 {
	v := pick(rng, 0, math.Copysign(0, -1), 1, -1, 0.5, math.Inf(1), math.Inf(-1), math.NaN(),
		math.Float64frombits(0x7ff8000000000001), math.Copysign(math.NaN(), -1),
		math.MaxFloat32, math.SmallestNonzeroFloat32, rng.NormFloat64())
	if k == kindFloat {
		return float64(float32(v))
	}
	return v
}

// randomDecimal is text in some of the forms of one number.
func randomDecimal(rng *rand.Rand, c Column) string {
	digits := make([]byte, pick(rng, 1, c.Length, 1+rng.IntN(c.Length)))
	for i := range digits {
		digits[i] = '0' + byte(pick(rng, 0, 9, rng.IntN(10)))
	}
	text := decimalString(new(big.Int), string(digits), c.Scale)
	switch rng.IntN(4) {
	case 0:
		text = "000" + text
	case 1:
		text = text + "e0"
	case 2:
		text = strings.TrimRight(text, ".") + pick(rng, "", "E+0")
	}
	return pick(rng, "", "-", "+") + text
}

// decimalString puts a point before the last scale digits.
func decimalString(_ *big.Int, digits string, scale int) string {
	for len(digits) <= scale {
		digits = "0" + digits
	}
	return digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

func randomRows(rng *rand.Rand, cols []Column, n int) [][]any {
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = make([]any, len(cols))
		for j, c := range cols {
			rows[i][j] = randomValue(rng, c)
		}
		if i > 0 && rng.IntN(3) == 0 && len(cols) > 0 { // nearly the row before
			copy(rows[i], rows[i-1])
			j := rng.IntN(len(cols))
			rows[i][j] = randomValue(rng, cols[j])
		}
	}
	return rows
}

func setValue(w *rowWriter, rng *rand.Rand, c Column, col int, v any) {
	switch v := v.(type) {
	case nil:
		w.setNull(col)
	case float64:
		w.setFloat(col, v)
	case string:
		if rng.IntN(2) == 0 {
			w.setString(col, v)
		} else {
			w.setBytes(col, []byte(v))
		}
	case int64:
		switch {
		case c.Type == TypeTime && rng.IntN(2) == 0:
			w.setTime(col, time.Duration(v)*time.Microsecond)
		case types[c.Type].kind == kindUint && rng.IntN(2) == 0:
			w.setUint(col, uint64(v))
		default:
			w.setInt(col, v)
		}
	}
}

// writeRow encodes one row; NULLs are left out or set, columns come in order or
// not.
func writeRow(w *rowWriter, rng *rand.Rand, cols []Column, row []any) ([]byte, error) {
	order := rng.Perm(len(cols))
	if rng.IntN(2) == 0 {
		order = seq(len(cols))
	}
	w.begin()
	for _, j := range order {
		if rng.IntN(10) == 0 && row[j] != nil { // it is set again
			setValue(w, rng, cols[j], j, randomValue(rng, Column{Type: cols[j].Type, NotNull: true,
				Length: cols[j].Length, Scale: cols[j].Scale, FSP: cols[j].FSP}))
		}
		if row[j] != nil || rng.IntN(2) == 0 {
			setValue(w, rng, cols[j], j, row[j])
		}
	}
	return w.finish()
}

// batchOf has the rows as a batch; with sel they are spread over more places,
// in another order.
func batchOf(rng *rand.Rand, cols []Column, rows [][]any, sel bool) *Batch {
	places := rows
	b := &Batch{N: len(rows), Cols: make([]Vector, len(cols))}
	if sel {
		places = make([][]any, 2*len(rows)+1)
		b.Sel = make([]int32, len(rows))
		for i, p := range rng.Perm(len(places))[:len(rows)] {
			b.Sel[i], places[p] = int32(p), rows[i]
		}
	}
	for j := range cols {
		fillVector(&b.Cols[j], rng, cols[j], places, j)
	}
	return b
}

func fillVector(v *Vector, rng *rand.Rand, c Column, places [][]any, j int) {
	v.Off = []int32{0}
	nulls := false
	valid := make([]uint64, (len(places)+63)/64)
	for i, row := range places {
		var x any
		if row != nil {
			x = row[j]
		}
		nulls = nulls || x == nil && row != nil
		if x != nil {
			valid[i/64] |= 1 << (i % 64)
		}
		n, _ := x.(int64)
		f, _ := x.(float64)
		s, _ := x.(string)
		if x == nil {
			n, f, s = rng.Int64(), rng.Float64(), "junk" // must not come out
		}
		v.I64, v.F64, v.Bytes = append(v.I64, n), append(v.F64, f), append(v.Bytes, s...)
		v.Off = append(v.Off, int32(len(v.Bytes)))
	}
	if nulls || rng.IntN(3) == 0 {
		v.Valid = valid
	}
}

// stored is the value as it comes out of a row.
func storedValue(c Column, v any) any {
	s, ok := v.(string)
	switch {
	case !ok:
		return v
	case c.Type == TypeChar:
		return strings.TrimRight(s, " ")
	case c.Type == TypeBinary && c.Length > 0:
		return s + strings.Repeat("\x00", c.Length-len(s))
	case c.Type == TypeDecimal:
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(s)
		}
		return r.FloatString(c.Scale)
	}
	return s
}

func requireRow(t testing.TB, s *Schema, cols []Column, want []any, buf []byte) {
	row := Row{s: s, buf: buf}
	for j, c := range cols {
		v := storedValue(c, want[j])
		require.Equal(t, v == nil, row.IsNull(j), "column %d", j)
		switch v := v.(type) {
		case int64:
			require.Equal(t, v, row.Int(j), "column %d %v", j, c)
			require.Equal(t, uint64(v), row.Uint(j))
		case float64:
			requireSameFloat(t, v, row.Float(j))
		case string:
			require.Equal(t, v, string(row.AppendText(nil, j)), "column %d %v", j, c)
			if c.Type != TypeDecimal {
				require.Equal(t, v, row.String(j))
			}
		case nil:
			require.Zero(t, row.Int(j))
			require.Empty(t, row.Bytes(j))
			require.Empty(t, row.AppendText(nil, j))
		}
	}
}

func requireSameFloat(t testing.TB, want, got float64) {
	if want != want {
		require.True(t, got != got)
		return
	}
	require.Equal(t, math.Float64bits(want), math.Float64bits(got))
}

// compareValues is the order of values, written without the codec.
func compareValues(c Column, a, b any) int {
	switch x := a.(type) {
	case int64:
		if types[c.Type].kind == kindUint {
			return cmp.Compare(uint64(x), uint64(b.(int64)))
		}
		return cmp.Compare(x, b.(int64))
	case float64:
		return compareFloats(x, b.(float64))
	}
	x, y := storedValue(c, a).(string), storedValue(c, b).(string)
	if c.Type == TypeDecimal {
		p, _ := new(big.Rat).SetString(x)
		q, _ := new(big.Rat).SetString(y)
		return p.Cmp(q)
	}
	if collationOf(c) != nil {
		x, y = fold(x), fold(y)
	}
	return strings.Compare(x, y)
}

// compareFloats has NaN above all, and -0 equal to 0.
func compareFloats(a, b float64) int {
	switch {
	case a != a || b != b:
		return cmp.Compare(one01(a != a), one01(b != b))
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func one01(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareParts is the order of rows by a key, written without the codec.
func compareParts(cols []Column, parts []KeyPart, a, b []any) int {
	for _, p := range parts {
		x, y := a[p.Col], b[p.Col]
		r := 0
		switch {
		case x == nil || y == nil:
			if r = cmp.Compare(one01(y == nil), one01(x == nil)); p.NullsLast {
				r = -r
			}
		default:
			if r = compareValues(cols[p.Col], x, y); p.Desc {
				r = -r
			}
		}
		if r != 0 {
			return r
		}
	}
	return 0
}
