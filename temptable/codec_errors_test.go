package temptable

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSchemaReportsEveryFault(t *testing.T) {
	_, err := NewSchema([]Column{
		{Name: "a"},
		{Name: "b", Type: numTypes},
		{Name: "c", Type: TypeBit},
		{Name: "d", Type: TypeSet, Length: 65},
		{Name: "e", Type: TypeDecimal, Length: 5, Scale: 6},
		{Name: "f", Type: TypeTime, FSP: 7},
		{Name: "g", Type: TypeInt, FSP: 1},
		{Name: "h", Type: TypeInt, Collation: foldCase{}},
		{Name: "i", Type: TypeJSON, Collation: foldCase{}},
		{Name: "j", Type: TypeVarchar, Length: -1, Scale: 1},
	}, Distinct(3, 10, 3), Distinct())
	require.ErrorIs(t, err, ErrSchema)
	for _, part := range []string{
		"column 0 (a): no type 0", "column 1 (b): no type", "column 2 (c): length 0 is not in 1..64",
		"column 3 (d): length 65", "column 4 (e): scale 6 is not in 0..5", "column 5 (f): fsp 7 is not in 0..6",
		"column 6 (g): fsp 1", "column 7 (h): int takes no collation", "column 8 (i): json takes no collation",
		"column 9 (j): length -1", "scale 1 is not in 0..0", "Distinct is given twice",
	} {
		require.ErrorContains(t, err, part)
	}
	_, err = NewSchema(make([]Column, 4), Distinct(0, 4, 0))
	require.ErrorContains(t, err, "no column 4")
	require.ErrorContains(t, err, "column 0 is named twice")
	_, err = NewSchema(make([]Column, MaxColumns+1))
	require.ErrorContains(t, err, "4097 columns")
}

func TestSchemaIsACopy(t *testing.T) {
	cols, key := []Column{{Name: "a", Type: TypeInt}}, []int{0}
	s, err := NewSchema(cols, Distinct(key...))
	require.NoError(t, err)
	cols[0].Name, key[0] = "changed", 7
	require.Equal(t, "a", s.Column(0).Name)
	require.Equal(t, 1, s.NumCols())
	named, ok := s.Distinct()
	require.True(t, ok)
	require.Equal(t, []int{0}, named)
}

// setterCase is a value that its column refuses.
type setterCase struct {
	col   Column
	set   func(w *rowWriter)
	cause error
}

func setterCases() map[string]setterCase {
	anInt := func(v int64) func(*rowWriter) { return func(w *rowWriter) { w.setInt(0, v) } }
	text := func(v string) func(*rowWriter) { return func(w *rowWriter) { w.setString(0, v) } }
	required := Column{Type: TypeInt, NotNull: true}
	return map[string]setterCase{
		"int above":              {Column{Type: TypeInt}, anInt(math.MaxInt32 + 1), ErrRange},
		"int below":              {Column{Type: TypeInt}, anInt(math.MinInt32 - 1), ErrRange},
		"mediumint":              {Column{Type: TypeMediumInt}, anInt(1 << 23), ErrRange},
		"unsigned below":         {Column{Type: TypeUInt}, anInt(-1), ErrRange},
		"uint into bigint":       {Column{Type: TypeBigInt}, func(w *rowWriter) { w.setUint(0, 1<<63) }, ErrRange},
		"bit":                    {Column{Type: TypeBit, Length: 3}, anInt(8), ErrRange},
		"enum":                   {Column{Type: TypeEnum, Length: 3}, anInt(4), ErrRange},
		"year 1900":              {Column{Type: TypeYear}, anInt(1900), ErrRange},
		"year 2156":              {Column{Type: TypeYear}, anInt(2156), ErrRange},
		"time above":             {Column{Type: TypeTime, FSP: 6}, anInt(maxTime + 1), ErrRange},
		"time below":             {Column{Type: TypeTime, FSP: 6}, anInt(-maxTime - 1), ErrRange},
		"time finer than fsp":    {Column{Type: TypeTime, FSP: 2}, anInt(1000), ErrRange},
		"time in ns":             {Column{Type: TypeTime, FSP: 6}, func(w *rowWriter) { w.setTime(0, 1) }, ErrRange},
		"timestamp before 1970":  {Column{Type: TypeTimestamp}, anInt(-1e6), ErrRange},
		"timestamp after 2106":   {Column{Type: TypeTimestamp}, anInt(1e6 << 32), ErrRange},
		"date with a clock":      {Column{Type: TypeDate}, anInt(PackDatetime(2000, 1, 1, 1, 0, 0, 0)), ErrRange},
		"date beyond 9999":       {Column{Type: TypeDate}, anInt(PackDate(10000, 1, 1)), ErrRange},
		"datetime hour 24":       {Column{Type: TypeDatetime}, anInt(PackDatetime(2000, 1, 1, 24, 0, 0, 0)), ErrRange},
		"datetime finer":         {Column{Type: TypeDatetime}, anInt(PackDatetime(2000, 1, 1, 1, 0, 0, 5)), ErrRange},
		"datetime negative":      {Column{Type: TypeDatetime}, anInt(-1), ErrRange},
		"float overflow":         {Column{Type: TypeFloat}, func(w *rowWriter) { w.setFloat(0, 1e39) }, ErrRange},
		"decimal digits":         {Column{Type: TypeDecimal, Length: 3, Scale: 1}, text("100.0"), ErrRange},
		"decimal scale":          {Column{Type: TypeDecimal, Length: 3, Scale: 1}, text("1.05"), ErrRange},
		"decimal text":           {Column{Type: TypeDecimal, Length: 3}, text("1x"), ErrRange},
		"decimal empty":          {Column{Type: TypeDecimal, Length: 3}, text(""), ErrRange},
		"varchar bytes":          {Column{Type: TypeVarchar, Length: 3}, text("abcd"), ErrTooLong},
		"varchar bytes of utf8":  {Column{Type: TypeVarchar, Length: 3, Collation: foldCase{}}, text("ääää"), ErrTooLong},
		"varchar chars":          {Column{Type: TypeVarchar, Length: 3, Collation: foldQuick{}}, text("ääää"), ErrTooLong},
		"char":                   {Column{Type: TypeChar, Length: 3}, text("abcd "), ErrTooLong},
		"binary":                 {Column{Type: TypeBinary, Length: 3}, text("abcd"), ErrTooLong},
		"text into int":          {Column{Type: TypeInt}, text("1"), ErrType},
		"int into text":          {Column{Type: TypeVarchar}, anInt(1), ErrType},
		"int into float":         {Column{Type: TypeDouble}, anInt(1), ErrType},
		"float into int":         {Column{Type: TypeInt}, func(w *rowWriter) { w.setFloat(0, 1) }, ErrType},
		"time into int":          {Column{Type: TypeInt}, func(w *rowWriter) { w.setTime(0, time.Second) }, ErrType},
		"NULL in NOT NULL":       {required, func(w *rowWriter) { w.setNull(0) }, ErrNull},
		"nothing in NOT NULL":    {required, func(*rowWriter) {}, ErrNull},
		"column 1":               {required, func(w *rowWriter) { w.setInt(1, 0) }, ErrColumn},
		"column -1":              {required, func(w *rowWriter) { w.setString(-1, "") }, ErrColumn},
		"column 1, null":         {required, func(w *rowWriter) { w.setNull(1) }, ErrColumn},
		"column 1, time, float":  {required, func(w *rowWriter) { w.setTime(1, 0); w.setFloat(1, 0) }, ErrColumn},
		"the first error sticks": {required, func(w *rowWriter) { w.setInt(0, 1<<40); w.setNull(0); w.setInt(9, 1) }, ErrRange},
	}
}

func TestSetterRefuses(t *testing.T) {
	for name, c := range setterCases() {
		t.Run(name, func(t *testing.T) {
			s, err := NewSchema([]Column{c.col})
			require.NoError(t, err)
			w := newRowWriter(s)
			c.set(w)
			_, err = w.finish()
			require.ErrorIs(t, err, c.cause)
			w.begin() // the error is gone
			require.NoError(t, w.err)
		})
	}
}

func TestCharactersFit(t *testing.T) {
	s, err := NewSchema([]Column{{Type: TypeVarchar, Length: 3, Collation: foldQuick{}}, {Type: TypeChar, Length: 2}})
	require.NoError(t, err)
	w := newRowWriter(s)
	w.setString(0, "äöü")
	w.setString(1, "ab   ")
	buf, err := w.finish()
	require.NoError(t, err)
	require.Equal(t, "äöü", Row{s, buf}.String(0))
	require.Equal(t, "ab", Row{s, buf}.String(1))
}

// TestBatchRefuses spoils one row of a batch: exactly the rows before it are
// encoded, and the error names it.
func TestBatchRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		col   Column
		good  any
		bad   func(v *Vector, i int)
		cause error
	}{
		"int":           {Column{Type: TypeInt}, int64(1), func(v *Vector, i int) { v.I64[i] = 1 << 31 }, ErrRange},
		"bigint NULL":   {Column{Type: TypeBigInt, NotNull: true}, int64(1), func(v *Vector, i int) { v.Valid[i/64] = 0 }, ErrNull},
		"time(0)":       {Column{Type: TypeTime}, int64(1e6), func(v *Vector, i int) { v.I64[i]++ }, ErrRange},
		"time(0) above": {Column{Type: TypeTime}, int64(1e6), func(v *Vector, i int) { v.I64[i] = maxTime + 1 }, ErrRange},
		"year":          {Column{Type: TypeYear}, int64(2000), func(v *Vector, i int) { v.I64[i] = 1 }, ErrRange},
		"float":         {Column{Type: TypeFloat}, 1.0, func(v *Vector, i int) { v.F64[i] = 1e39 }, ErrRange},
		"decimal":       {Column{Type: TypeDecimal, Length: 2}, "10", func(v *Vector, i int) { v.Bytes[v.Off[i]] = 'x' }, ErrRange},
		"decimal off":   {Column{Type: TypeDecimal, Length: 2}, "10", func(v *Vector, i int) { v.Off[i+1] = 1 << 30 }, ErrBatch},
		"varchar off":   {Column{Type: TypeVarchar}, "abc", func(v *Vector, i int) { v.Off[i+1] = 1 << 30 }, ErrBatch},
		"varchar falls": {Column{Type: TypeVarchar}, "abc", func(v *Vector, i int) { v.Off[i+1] = v.Off[i] - 1 }, ErrBatch},
		"varchar long":  {Column{Type: TypeVarchar, Length: 3}, "abc", lengthen, ErrTooLong},
		"char long":     {Column{Type: TypeChar, Length: 3}, "abc", lengthen, ErrTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			for _, bad := range []int{0, 1, 255, 256, 599} {
				checkBatchRefuses(t, []Column{{Type: TypeVarchar}, c.col, {Type: TypeInt}}, c.good, bad, c.bad, c.cause)
			}
		})
	}
}

// lengthen adds a byte to a value, at the cost of the next.
func lengthen(v *Vector, i int) {
	v.Bytes = append(v.Bytes, 'x')
	v.Off[i+1]++
}

func checkBatchRefuses(t *testing.T, cols []Column, good any, bad int, spoil func(*Vector, int), cause error) {
	s, err := NewSchema(cols)
	require.NoError(t, err)
	rows := make([][]any, 600)
	for i := range rows {
		rows[i] = []any{"before", good, int64(i)}
	}
	b := batchOf(rand.New(rand.NewPCG(1, 1)), cols, rows, false)
	if b.Cols[1].Valid == nil {
		b.Cols[1].Valid = []uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	}
	want := bad
	spoil(&b.Cols[1], bad)
	if cause == ErrNull { // the whole word
		want = bad / 64 * 64
	} else {
		b.Cols[1].Valid = nil
	}
	e := &batchEncoder{s: s}
	scratch := dirty(600 * 64)
	k, err := e.encode(b, 0, 600, scratch)
	require.ErrorIs(t, err, cause)
	require.Equal(t, want, k)
	require.ErrorContains(t, err, "column 1")
	require.Len(t, e.offs, k+1)
	for i := range k {
		buf := scratch[e.offs[i]:e.offs[i+1]]
		require.NoError(t, s.validate(buf))
		requireRow(t, s, cols, rows[i], buf)
	}
	k, err = e.encode(b, 0, want, scratch)
	require.NoError(t, err)
	require.Equal(t, want, k)
}

func TestBatchShape(t *testing.T) {
	s := joinitSchema(t)
	e := &batchEncoder{s: s}
	for name, spoil := range map[string]func(b *Batch) (from, to int){
		"too few vectors": func(b *Batch) (int, int) { b.Cols = b.Cols[:3]; return 0, 8 },
		"beyond N":        func(*Batch) (int, int) { return 0, 9 },
		"from -1":         func(*Batch) (int, int) { return -1, 8 },
		"short I64":       func(b *Batch) (int, int) { b.Cols[0].I64 = b.Cols[0].I64[:7]; return 0, 8 },
		"short Off":       func(b *Batch) (int, int) { b.Cols[1].Off = b.Cols[1].Off[:8]; return 0, 8 },
		"no Off":          func(b *Batch) (int, int) { b.Cols[1].Off = nil; return 0, 8 },
		"short Valid":     func(b *Batch) (int, int) { b.Cols[2].Valid = []uint64{}; return 0, 8 },
		"short Sel":       func(b *Batch) (int, int) { b.Sel = []int32{1, 2}; return 0, 8 },
		"Sel below":       func(b *Batch) (int, int) { b.Sel = []int32{1, -2}; return 0, 2 },
		"Sel above":       func(b *Batch) (int, int) { b.Sel = []int32{1, 8}; return 0, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			b := joinitBatch(8, rand.New(rand.NewPCG(1, 1)))
			from, to := spoil(b)
			k, err := e.encode(b, from, to, dirty(1000))
			require.ErrorIs(t, err, ErrBatch)
			require.Zero(t, k)
		})
	}
}

// TestWideBoundary is the row of 4,096 bytes, the last with 2-byte ends, and
// its neighbours.
func TestWideBoundary(t *testing.T) {
	s, err := NewSchema([]Column{{Type: TypeVarchar, NotNull: true}, {Type: TypeVarchar, NotNull: true}})
	require.NoError(t, err)
	w := newRowWriter(s)
	for n, wide := range map[int]bool{0: false, 4084: false, 4090: false, 4091: true, 70_000: true} {
		w.begin()
		w.setString(1, strings.Repeat("a", n))
		w.setString(0, "")
		buf, err := w.finish()
		require.NoError(t, err)
		require.NoError(t, s.validate(buf))
		require.Equal(t, wide, header(buf)&flagChained != 0, n)
		require.Len(t, Row{s, buf}.Bytes(1), n)
		if !wide {
			require.Equal(t, len(buf), rowLen(header(buf)))
			require.LessOrEqual(t, len(buf), maxPiece)
		}
	}
	require.Greater(t, len(w.buf), 70_000)
	w.dropScratch()
	require.Less(t, len(w.buf), 1000)
}

func TestKeyErrorNamesTheColumn(t *testing.T) {
	s, err := NewSchema([]Column{{Type: TypeInt}, {Name: "s", Type: TypeVarchar, Collation: foldCase{}}}, Distinct())
	require.NoError(t, err)
	w := newRowWriter(s)
	encode := func(v string) []byte {
		w.begin()
		w.setString(1, v)
		buf, err := w.finish()
		require.NoError(t, err)
		return append([]byte(nil), buf...)
	}
	good, bad := encode("a"), encode("a!")
	_, err = s.keyHash(bad)
	require.ErrorIs(t, err, errNoKey)
	require.ErrorContains(t, err, "column 1 (s)")
	_, err = s.keyEqual(good, bad)
	require.ErrorIs(t, err, errNoKey)
	_, err = s.keyEqual(bad, good)
	require.ErrorIs(t, err, errNoKey)
	_, err = s.whole.appendKey(nil, bad)
	require.ErrorIs(t, err, errNoKey)
	rows := append(append(append([]byte(nil), good...), bad...), good...)
	hashes, err := s.keyHashes(nil, rows, []int32{0, int32(len(good)), int32(len(good) + len(bad)), int32(len(rows))})
	require.ErrorIs(t, err, errNoKey)
	require.Len(t, hashes, 1)
	_, err = newKeyOrder(s, []KeyPart{{Col: 2}})
	require.ErrorIs(t, err, ErrColumn)
}
