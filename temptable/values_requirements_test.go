package temptable_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/spillway-db/spillway/temptable"
	"github.com/spillway-db/spillway/temptable/collation"
	"github.com/spillway-db/spillway/temptable/temptabletest"
	"github.com/stretchr/testify/require"
)

// REQUIREMENTS C.16, item by item: classes of values that are equal, written
// down by hand, go through Writer and InsertBatch into tables on every tier. A
// table must hold one row a class, and answer with its id. Many other rows are
// inserted before and between, so that the table has left RAM by then.

// row is a row of a case: nil, int, uint64, float64 or string for each column.
type row []any

// class are rows that SQL calls equal.
type class []row

func one(vals ...any) class {
	c := make(class, len(vals))
	for i, v := range vals {
		c[i] = row{v}
	}
	return c
}

type valueCase struct {
	name    string
	cols    []temptable.Column
	classes []class
}

func builtin(name string) temptable.Collation {
	c, err := collation.ByName(name)
	if err != nil {
		panic(err)
	}
	return c
}

func cols(c ...temptable.Column) []temptable.Column { return c }

func text(collation string) []temptable.Column {
	return cols(temptable.Column{Type: temptable.TypeVarchar, Length: 400, Collation: builtin(collation)})
}

func typed(t temptable.Type) []temptable.Column { return cols(temptable.Column{Type: t}) }

// both writes a case for two column types.
func both(name string, a, b temptable.Type, classes ...class) []valueCase {
	return []valueCase{{name + "/" + a.String(), typed(a), classes}, {name + "/" + b.String(), typed(b), classes}}
}

var varchar, blob = temptable.TypeVarchar, temptable.TypeBlob

func valueCases() []valueCase {
	nan := func(bits uint64) float64 { return math.Float64frombits(0x7ff0000000000000 | bits) }
	negZero := math.Copysign(0, -1)
	decimal := cols(temptable.Column{Type: temptable.TypeDecimal, Length: 65, Scale: 30})
	var cases []valueCase
	add := func(name string, c []temptable.Column, classes ...class) {
		cases = append(cases, valueCase{name, c, classes})
	}
	cases = append(cases, both("NULL and NULL; NULL against the text of NULL; empty against NULL", varchar, blob,
		one(nil), one("NULL"), one("null"), one("<nil>"), one(""), one("\x00"), one("\\N"))...)
	add("NULL against 0", typed(temptable.TypeInt), one(nil), one(0))
	add("NULL against the zero date", typed(temptable.TypeDate), one(nil), one(int(temptable.PackDate(0, 0, 0))))
	for _, f := range []temptable.Type{temptable.TypeFloat, temptable.TypeDouble} {
		add("-0.0 and 0.0; NaN payloads/"+f.String(), typed(f),
			one(0.0, negZero), one(nan(1<<51), nan(1<<51|1<<40), -nan(1<<51|1<<45), math.NaN()), one(math.Inf(1)), one(math.Inf(-1)), one(1.0), one(nil))
	}
	add("decimals of different scale", decimal,
		one("1", "1.0", "1.000000", "+1", "01", "10e-1", "0.1e1", ".1e1"), one("-0", "0", "0.000", "0e10", "-.0"), one("1.000000000000000000000000000001"), one("-1", "-1.0"), one("10", "1e1"))
	for _, t := range []temptable.Type{temptable.TypeTinyInt, temptable.TypeSmallInt, temptable.TypeMediumInt, temptable.TypeInt, temptable.TypeBigInt} {
		add("integers of different sign and width/"+t.String(), typed(t), one(-1), one(1), one(0), one(127), one(-128), one(nil))
	}
	add("integers of different sign and width/bigint unsigned", typed(temptable.TypeUBigInt),
		one(uint64(math.MaxUint64)), one(uint64(1), 1), one(uint64(1<<63)), one(uint64(math.MaxInt64)))
	add("integers of different sign and width/what SQL converts to", cols(temptable.Column{Type: temptable.TypeDecimal, Length: 20}),
		one("-1"), one("18446744073709551615"), one("9223372036854775807"), one("-9223372036854775808"))
	for _, pad := range []string{"ascii_general_ci", "latin1_swedish_ci", "utf8mb4_bin", "utf8mb4_general_ci"} {
		add("trailing spaces under PAD SPACE/"+pad, text(pad), one("a", "a ", "a    "), one("", " ", "   "), one("a\t"), one("a\x00"), one(" a"), one("a b", "a b "))
	}
	for _, noPad := range []string{"binary", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs"} {
		add("trailing spaces under NO PAD/"+noPad, text(noPad), one("a"), one("a "), one("a  "), one(""), one(" "))
	}
	for _, c := range []temptable.Collation{nil, builtin("latin1_swedish_ci"), builtin("utf8mb4_0900_ai_ci")} {
		add(fmt.Sprint("CHAR against VARCHAR/char ", c), cols(temptable.Column{Type: temptable.TypeChar, Length: 10, Collation: c}),
			one("a", "a ", "a         "), one("", " "), one("b"))
	}
	add("CHAR against VARCHAR/varchar", typed(varchar), one("a"), one("a "), one(""), one(" "))
	add("CHAR against VARCHAR/binary", cols(temptable.Column{Type: temptable.TypeBinary, Length: 4}), one("a", "a\x00", "a\x00\x00\x00"), one("a "), one("", "\x00"))
	add("case- and accent-insensitive collations/latin1_swedish_ci", text("latin1_swedish_ci"),
		one("a", "A", "\xe1", "\xc1"), one("\xe5", "\xc5"), one("\xe4", "\xc4", "\xe6"), one("o", "O", "\xf3"), one("\xf6", "\xd6"), one("\xf8", "\xd8"), one("y", "Y", "\xfc", "\xdc"), one("\xdf"), one("ss"))
	add("case- and accent-insensitive collations/utf8mb4_general_ci", text("utf8mb4_general_ci"),
		one("a", "A", "ä", "Å"), one("s", "S", "ß"), one("ss"), one("😀", "🙂", "𐐀"))
	add("case- and accent-insensitive collations/utf8mb4_0900_ai_ci", text("utf8mb4_0900_ai_ci"),
		one("a", "A", "ä", "Å", "a\u0301"), one("ss", "ß", "SS"), one("ae", "æ", "Æ"), one("😀"), one("🙂"))
	add("case- and accent-insensitive collations/utf8mb4_0900_as_cs", text("utf8mb4_0900_as_cs"),
		one("a"), one("A"), one("ä", "a\u0308"), one("å"), one("ss"), one("ß"))
	add("ignorable characters", text("utf8mb4_0900_ai_ci"),
		one("ab", "a\u200bb", "\u200dab", "ab\x00", "a\x01b", "\u00adab"), one("", "\x00", "\u200b\u200c"), one("a b"))
	for _, c := range []string{"utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs"} {
		add("invalid byte sequences/"+c, text(c), one("\xff"), one("\xfe"), one("\xc3"), one("\xc3\xff"), one("a\xff"), one("\xe2\x82"), one("\xe2\x82\xac"), one("\ufffd"), one("\xed\xa0\x80"))
	}
	cases = append(cases, both("embedded NUL bytes", varchar, blob,
		one("a\x00b"), one("a"), one("a\x00"), one("a\x00\x00"), one("\x00a"), one("\x00"), one("\x00\x00"), one("\x00\x01"), one("\x00\xff"))...)
	pair := cols(temptable.Column{Type: varchar}, temptable.Column{Type: blob})
	add("field-boundary shifts", pair,
		class{{"ab", "c"}}, class{{"a", "bc"}}, class{{"abc", ""}}, class{{"", "abc"}}, class{{"abc", nil}}, class{{nil, "abc"}},
		class{{"a\x00", "b"}}, class{{"a", "\x00b"}}, class{{"a", "\x01b"}}, class{{nil, nil}}, class{{"", ""}}, class{{"", nil}}, class{{nil, ""}})
	collated := append(text("latin1_swedish_ci"), text("utf8mb4_0900_as_cs")...)
	add("field-boundary shifts/collated", collated,
		class{{"ab", "c"}, {"AB ", "c"}}, class{{"a", "bc"}}, class{{"abc", ""}}, class{{"", "abc"}}, class{{nil, "abc"}}, class{{"a\x00", "b"}}, class{{"a", "\x00b"}, {"A", "b"}})
	for _, bits := range []int{1, 9, 64} {
		add(fmt.Sprintf("BIT/%d", bits), cols(temptable.Column{Type: temptable.TypeBit, Length: bits}),
			one(0, uint64(0)), one(1, uint64(1)), one(nil), one(uint64(math.MaxUint64)>>(64-bits), uint64(math.MaxUint64)>>(64-bits))[:min(bits-1, 1)*2])
	}
	empty := temptable.Column{Type: temptable.TypeChar}
	add("zero-length columns", cols(empty, temptable.Column{Type: varchar}, temptable.Column{Type: temptable.TypeBinary}),
		class{{"", "", ""}, {"   ", "", ""}}, class{{nil, "", ""}}, class{{"", nil, ""}}, class{{"", "", nil}}, class{{nil, nil, nil}})
	add("zero-column rows", nil, class{{}, {}, {}})
	add("JSON", typed(temptable.TypeJSON),
		one("1", "1.0", "10e-1", " 1 "), one(`"1"`), one(`{"a":1,"b":[1,2]}`, `{"b": [1, 2.0], "a": 1}`), one(`{"a":1}`), one("[1,2]", "[1,2.00]"), one("[2,1]"), one("null"), one(nil),
		one("true"), one("false"), one(`"\u0041"`, `"A"`), one("-0", "0", "0.0"), one("{}"), one("[]"), one(`""`), one("12345678901234567890123"), one("12345678901234567890124"))
	long := strings.Repeat("x", 20_000)
	add("blobs", typed(blob), one(long), one(long+"y"), one("y"+long), one(long[1:]+"\x00"), one(long[1:]), one(""), one(nil))
	return cases
}

func TestRequirementC16(t *testing.T) {
	for _, b := range temptabletest.Budgets() {
		t.Run(b.Name, func(t *testing.T) {
			b.Options.Dir = t.TempDir()
			eng, err := temptable.Open(b.Options)
			require.NoError(t, err)
			defer func() { require.NoError(t, eng.Close()) }()
			for _, vc := range valueCases() {
				t.Run(vc.name, func(t *testing.T) {
					owner, err := eng.NewOwner(vc.name, temptable.Limits{})
					require.NoError(t, err)
					defer func() { require.NoError(t, owner.Close()) }()
					if b.Name != "ram" {
						fillUp(t, owner)
					}
					vc.run(t, owner, writeRows)
					vc.run(t, owner, batchRows)
				})
			}
		})
	}
}

// fillUp takes all RAM, so that the tables of the case get none.
func fillUp(t *testing.T, owner *temptable.Owner) {
	s, err := temptable.NewSchema(typed(blob))
	require.NoError(t, err)
	tab, err := owner.Create(context.Background(), s)
	require.NoError(t, err)
	w := tab.Writer(context.Background())
	for range 80 {
		w.SetBytes(0, make([]byte, 3900))
		_, _, err := w.Insert()
		require.NoError(t, err)
	}
}

// inserter inserts rows and says what became of each.
type inserter func(t *testing.T, tab *temptable.Table, cols []temptable.Column, rows []row) []temptable.Result

// run inserts all rows twice, the second time from the last to the first.
func (vc valueCase) run(t *testing.T, owner *temptable.Owner, insert inserter) {
	s, err := temptable.NewSchema(vc.cols, temptable.Distinct())
	require.NoError(t, err)
	tab, err := owner.Create(context.Background(), s)
	require.NoError(t, err)
	var rows []row
	var classOf []int
	for k := range 2 {
		for i := range vc.classes {
			if k == 1 {
				i = len(vc.classes) - 1 - i
			}
			for _, r := range vc.classes[i] {
				rows, classOf = append(rows, r), append(classOf, i)
			}
		}
	}
	first := map[int]temptable.RowID{}
	for k, res := range insert(t, tab, vc.cols, rows) {
		id, seen := first[classOf[k]]
		require.Equal(t, !seen, res.Added, "row %d: %q", k, fmt.Sprint(rows[k]))
		if seen {
			require.Equal(t, id, res.ID, "row %d: %q", k, fmt.Sprint(rows[k]))
		}
		first[classOf[k]] = res.ID
	}
	require.EqualValues(t, len(first), tab.Len())
	require.NoError(t, tab.Drop())
}

func writeRows(t *testing.T, tab *temptable.Table, _ []temptable.Column, rows []row) (res []temptable.Result) {
	w := tab.Writer(context.Background())
	for _, r := range rows {
		for i, v := range r {
			set(w, i, v)
		}
		id, added, err := w.Insert()
		require.NoError(t, err)
		res = append(res, temptable.Result{ID: id, Added: added})
	}
	return res
}

func set(w *temptable.Writer, i int, v any) {
	switch v := v.(type) {
	case nil:
		w.SetNull(i)
	case int:
		w.SetInt(i, int64(v))
	case uint64:
		w.SetUint(i, v)
	case float64:
		w.SetFloat(i, v)
	case string:
		w.SetString(i, v)
	}
}

func batchRows(t *testing.T, tab *temptable.Table, cols []temptable.Column, rows []row) []temptable.Result {
	b := &temptable.Batch{N: len(rows), Cols: make([]temptable.Vector, len(cols))}
	for i := range cols {
		b.Cols[i] = vector(rows, i)
	}
	res := make([]temptable.Result, len(rows))
	n, err := tab.InsertBatch(context.Background(), b, res)
	require.NoError(t, err)
	require.Equal(t, len(rows), n)
	return res
}

func vector(rows []row, i int) temptable.Vector {
	v := temptable.Vector{Off: []int32{0}, Valid: make([]uint64, (len(rows)+63)/64)}
	for k, r := range rows {
		if r[i] != nil {
			v.Valid[k/64] |= 1 << (k % 64)
		}
		var n int64
		switch x := r[i].(type) {
		case int:
			n = int64(x)
		case uint64:
			n = int64(x)
		}
		f, _ := r[i].(float64)
		s, _ := r[i].(string)
		v.I64, v.F64, v.Bytes = append(v.I64, n), append(v.F64, f), append(v.Bytes, s...)
		v.Off = append(v.Off, int32(len(v.Bytes)))
	}
	return v
}
