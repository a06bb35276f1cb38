package temptable

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// everyType has a column of each type, and a value for it.
func everyType() (cols []Column, row []any) {
	add := func(c Column, v any) { cols, row = append(cols, c), append(row, v) }
	for _, t := range []Type{TypeTinyInt, TypeSmallInt, TypeMediumInt, TypeInt, TypeBigInt,
		TypeUTinyInt, TypeUSmallInt, TypeUMediumInt, TypeUInt, TypeUBigInt} {
		add(Column{Type: t}, int64(100))
	}
	add(Column{Type: TypeBit, Length: 60}, int64(5))
	add(Column{Type: TypeYear}, int64(2024))
	add(Column{Type: TypeEnum, Length: 300}, int64(256))
	add(Column{Type: TypeSet, Length: 40}, int64(1)<<39)
	add(Column{Type: TypeFloat}, 0.5)
	add(Column{Type: TypeDouble}, 0.25)
	add(Column{Type: TypeDate}, PackDate(2024, 2, 29))
	for fsp := range 7 {
		add(Column{Type: TypeTime, FSP: fsp}, int64(-5e6))
		add(Column{Type: TypeDatetime, FSP: fsp}, PackDatetime(2024, 2, 29, 1, 2, 3, 0))
		add(Column{Type: TypeTimestamp, FSP: fsp}, int64(1_700_000_000e6))
	}
	add(Column{Type: TypeDecimal, Length: 65, Scale: 30}, "-12345.678")
	for _, t := range []Type{TypeChar, TypeVarchar, TypeBinary, TypeVarbinary, TypeText, TypeBlob, TypeGeometry} {
		add(Column{Type: t, Length: 40}, "some text ")
	}
	add(Column{Type: TypeVarchar, Collation: foldQuick{}}, "Text")
	add(Column{Type: TypeJSON}, `[1,"a"]`)
	return cols, row
}

func TestCodecAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	cols, row := everyType()
	s, err := NewSchema(cols)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	w := newRowWriter(s)
	buf, err := writeAll(w, cols, row)
	require.NoError(t, err)
	require.NoError(t, s.validate(buf))
	buf = append([]byte(nil), buf...)

	e := &batchEncoder{s: s}
	b := batchOf(rng, cols, [][]any{row, row, row}, true)
	scratch := make([]byte, 3*len(buf))
	var out Batch
	text := make([]byte, 0, 200)
	for name, f := range map[string]func(){
		"writer": func() { _, _ = writeAll(w, cols, row) },
		"batch":  func() { _, _ = e.encode(b, 0, 3, scratch) },
		"decode": func() { out.Reset(); s.decodeRows(&out, scratch, e.offs) },
		"text": func() {
			for i := range cols {
				text = Row{s, buf}.AppendText(text[:0], i)
			}
		},
		"validate": func() { _ = s.validate(buf) },
	} {
		f()
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

func writeAll(w *rowWriter, cols []Column, row []any) ([]byte, error) {
	w.begin()
	for i := range cols {
		switch v := row[i].(type) {
		case int64:
			w.setInt(i, v)
		case float64:
			w.setFloat(i, v)
		case string:
			w.setString(i, v)
		}
	}
	return w.finish()
}

// TestKeysAllocateNothing hashes and compares in each mode.
func TestKeysAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, cols := range map[string][]Column{
		"row":      {{Type: TypeInt}, {Type: TypeVarchar}},
		"word":     {{Type: TypeInt}},
		"two":      {{Type: TypeBigInt}, {Type: TypeBigInt}},
		"columns":  {{Type: TypeDouble}, {Type: TypeVarchar}},
		"collated": {{Type: TypeVarchar, Collation: keyed{}}, {Type: TypeInt}},
		"hasher":   {{Type: TypeVarchar, Collation: keyedQuick{}}},
	} {
		s, err := NewSchema(cols, Distinct())
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(3, 3))
		w := newRowWriter(s)
		a, err := writeRow(w, rng, cols, randomRows(rng, cols, 1)[0])
		require.NoError(t, err)
		a = append([]byte(nil), a...)
		b, err := writeRow(w, rng, cols, randomRows(rng, cols, 1)[0])
		require.NoError(t, err)
		key := make([]byte, 0, 200_000)
		f := func() {
			_, _ = s.keyHash(a)
			_, _ = s.keyEqual(a, b)
			_, _ = s.whole.appendKey(key, a)
		}
		f()
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

// keyed is the identity as a collation.
type keyed struct{}

func (keyed) Name() string                              { return "test_keyed" }
func (keyed) PadSpace() bool                            { return false }
func (keyed) MaxKeyLen(n int) int                       { return n }
func (keyed) AppendKey(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }

type keyedQuick struct{ keyed }

func (keyedQuick) Hash(src []byte) uint64 { return uint64(len(src)) }

// TestHashSpreads counts how often one changed bit of a key changes each bit of
// the hash: about half of the time, for keys of every mode.
func TestHashSpreads(t *testing.T) {
	for name, cols := range map[string][]Column{
		"word":    {{Type: TypeInt, NotNull: true}, {Type: TypeInt, NotNull: true}},
		"two":     {{Type: TypeBigInt, NotNull: true}, {Type: TypeBigInt, NotNull: true}},
		"columns": {{Type: TypeBigInt, NotNull: true}, {Type: TypeBigInt, NotNull: true}, {Type: TypeBigInt, NotNull: true}, {Type: TypeDouble, NotNull: true}},
	} {
		s, err := NewSchema(cols, Distinct())
		require.NoError(t, err)
		w := newRowWriter(s)
		hash := func(vals []int64) uint64 {
			w.begin()
			for i, v := range vals {
				if cols[i].Type == TypeDouble {
					w.setFloat(i, float64(v))
					continue
				}
				w.setInt(i, v)
			}
			buf, err := w.finish()
			require.NoError(t, err)
			h, err := s.keyHash(buf)
			require.NoError(t, err)
			return h
		}
		checkSpread(t, name, len(cols), hash)
	}
}

func checkSpread(t *testing.T, name string, n int, hash func([]int64) uint64) {
	const trials = 2000
	rng := rand.New(rand.NewPCG(7, 7))
	var flips [64]int
	seen := make(map[uint64]bool)
	for range trials {
		vals := make([]int64, n)
		for i := range vals {
			vals[i] = int64(rng.IntN(1000)) // small, as keys are
		}
		before := hash(vals)
		vals[rng.IntN(n)] ^= 1 << rng.IntN(20)
		after := hash(vals)
		seen[before], seen[after] = true, true
		for d := before ^ after; d != 0; d &= d - 1 {
			flips[bits.TrailingZeros64(d)]++
		}
	}
	for b, f := range flips {
		require.InDelta(t, trials/2, f, trials/10, "%s: bit %d", name, b)
	}
}

// TestHashTellsColumnsApart has what a sum or an XOR of column hashes confuses:
// equal columns, permuted columns, NULL against zero and empty.
func TestHashTellsColumnsApart(t *testing.T) {
	for _, ty := range []Type{TypeInt, TypeBigInt, TypeDouble, TypeVarchar} {
		cols := []Column{{Type: ty}, {Type: ty}, {Type: ty}}
		s, err := NewSchema(cols, Distinct(2, 0, 1))
		require.NoError(t, err)
		values := []any{nil, int64(0), int64(1)}
		switch ty {
		case TypeDouble:
			values = []any{nil, 0.0, 1.0}
		case TypeVarchar:
			values = []any{nil, "", "a", "aa"}
		}
		seen := make(map[uint64][]any)
		w := newRowWriter(s)
		rng := rand.New(rand.NewPCG(1, 1))
		for _, a := range values {
			for _, b := range values {
				for _, c := range values {
					row := []any{a, b, c}
					buf, err := writeRow(w, rng, cols, row)
					require.NoError(t, err)
					h, err := s.keyHash(buf)
					require.NoError(t, err)
					require.NotContains(t, seen, h, "%v and %v", row, seen[h])
					seen[h] = row
				}
			}
		}
	}
}

// TestWordKeysNeverCollide: the hash of a key of one word is a bijection, here
// over all rows of two nullable small columns.
func TestWordKeysNeverCollide(t *testing.T) {
	s, err := NewSchema([]Column{{Type: TypeTinyInt}, {Type: TypeUTinyInt}}, Distinct())
	require.NoError(t, err)
	require.Equal(t, keyWord, s.key.mode)
	seen := make(map[uint64]bool)
	w := newRowWriter(s)
	for a := int64(-129); a < 128; a++ {
		for b := int64(-1); b < 256; b++ {
			w.begin()
			if a >= -128 {
				w.setInt(0, a)
			}
			if b >= 0 {
				w.setInt(1, b)
			}
			buf, err := w.finish()
			require.NoError(t, err)
			h, err := s.keyHash(buf)
			require.NoError(t, err)
			seen[h] = true
		}
	}
	require.Len(t, seen, 257*257)
}
