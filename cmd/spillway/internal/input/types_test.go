package input

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everyType declares each type, with what its exported text may look like;
// values that come back in another form have it behind an arrow.
var everyType = map[string][]string{
	"tinyint":                  {"-128", "127", "0"},
	"smallint":                 {"-32768", "32767"},
	"mediumint":                {"-8388608", "8388607"},
	"int":                      {"-2147483648", "2147483647"},
	"bigint":                   {"-9223372036854775808", "9223372036854775807"},
	"tinyint unsigned":         {"0", "255"},
	"smallint unsigned":        {"65535"},
	"mediumint unsigned":       {"16777215"},
	"int unsigned":             {"4294967295"},
	"bigint unsigned":          {"18446744073709551615"},
	"bit(1)":                   {"\x01", "b'1' -> \x01"},
	"bit(12)":                  {"\x0f\xff", "b'101' -> \\0\x05", "0xaB -> \\0\xab"},
	"bit(64)":                  {"abcdefgh", "0xffffffffffffffff -> \xff\xff\xff\xff\xff\xff\xff\xff"},
	"year":                     {"0000", "1901", "2155"},
	"enum('a','b''c','d,e')":   {"a", "b'c", "d,e", ""},
	"set('x','y','z')":         {"", "x", "x,z", "z,y -> y,z"},
	"float":                    {"1.5", "-0", "0.1", "3.4028235e38", "1e-20", "100000"},
	"double":                   {"1.5", "0.1", "1.7976931348623157e308", "123456789012345", "1e15", "1.0 -> 1", ".5 -> 0.5"},
	"date":                     {"2024-02-29", "0000-00-00", "9999-12-31", "2024-00-00"},
	"time":                     {"838:59:59", "-838:59:59", "00:00:00", "-00:00:01"},
	"time(3)":                  {"01:02:03.450", "1:02:03.4 -> 01:02:03.400"},
	"datetime":                 {"2024-02-29 23:59:59", "0000-00-00 00:00:00"},
	"datetime(6)":              {"9999-12-31 23:59:59.999999", "2024-01-01 00:00:00 -> 2024-01-01 00:00:00.000000"},
	"timestamp":                {"1970-01-01 00:00:01", "2106-02-07 06:28:15", "0000-00-00 00:00:00"},
	"timestamp(2)":             {"2024-02-29 23:59:59.90"},
	"decimal(5,2)":             {"-999.99", "0.00", "1 -> 1.00", "-.5 -> -0.50", "-0 -> 0.00", "12e1 -> 120.00"},
	"decimal(65,30)":           {"12345678901234567890123456789012345.123456789012345678901234567890"},
	"decimal(3)":               {"999", "-1"},
	"char(4)":                  {"äöü€", "a  -> a", ""},
	"varchar(4)":               {"a  ", "äöü€"},
	"binary(3)":                {"abc", "a -> a\\0\\0"},
	"varbinary(3)":             {"a\xff", ""},
	"text":                     {"any text", ""},
	"blob":                     {"\xff\xfe"},
	"json":                     {`{"a": [1, 2.50, "x"]}`, "null"},
	"geometry":                 {"\\0\\0\x01"},
	"text collate utf8mb4_bin": {"ä"},
}

func TestEveryTypesText(t *testing.T) {
	seen := map[Type]bool{}
	for decl, values := range everyType {
		s := schema(t, "c "+decl)
		seen[s[0].Type] = true
		require.Equal(t, "c "+decl, s.String())
		require.Equal(t, s, schema(t, s.String()))
		for _, v := range values {
			text, want, ok := strings.Cut(v, " -> ")
			if !ok {
				want = text
			}
			tab := read(t, "c "+decl, text+"\n", Format{})
			want = strings.ReplaceAll(want, `\0`, "\x00")
			require.Equal(t, want, string(tab.appendField(nil, 0, 0)), decl)
		}
	}
	require.Len(t, seen, int(numTypes))
}

func TestValuesOutOfRange(t *testing.T) {
	for decl, values := range map[string][]string{
		"tinyint":                              {"128", "x", "", "1.5"},
		"bit(3)":                               {"b'1000'", "0x8", "b'2'", "12", "\x08"},
		"year":                                 {"1900", "2156", "24", "x"},
		"enum('a')":                            {"b", "A"},
		"set('a','b')":                         {"c", "a,", "a,c"},
		"float":                                {"1e39", "nan", "inf", "0x1", "1_0", ""},
		"date":                                 {"2024-13-01", "2024-01-32", "24-01-01", "2024-1", "2024-01-01 00:00:00"},
		"datetime":                             {"2024-01-01", "2024-01-01 24:00:00", "2024-01-01 00:00:00.1", "2024-01-01T00:00:00"},
		"timestamp":                            {"1970-01-01 00:00:00", "2106-02-07 06:28:16", "2024-02-30 00:00:00"},
		"decimal(5,2)":                         {"1000", "0.001", "x", "1/2", "0x1", "1_0", "1e99999", ""},
		"varchar(2)":                           {"abc"},
		"char(2)":                              {"abc"},
		"binary(2)":                            {"abc"},
		"varbinary(2)":                         {"äa"},
		"json":                                 {"{", "\"\xff\"", ""},
		"text collate ascii_bin":               nil,
		"c2 collate":                           nil,
		"varchar(9) collate latin1":            nil,
		"varchar(9) collate latin1_swedish_ci": {"→"},
	} {
		if values == nil {
			_, err := ParseSchema("c " + decl)
			require.ErrorIs(t, err, ErrSchema, decl)
		}
		for _, v := range values {
			_, err := Read(t.Context(), strings.NewReader(v+"\n"), schema(t, "c "+decl), Format{Null: `\N`})
			var p *ParseError
			require.ErrorAs(t, err, &p, "%s: %q", decl, v)
			require.Equal(t, 1, p.Line)
		}
	}
}

func TestOtherNames(t *testing.T) {
	s := schema(t, "a integer unsigned, b boolean, c numeric(4,1), d real, e longtext, f tinyblob, g dec, h char, i bit, j binary")
	require.Equal(t, "a int unsigned, b tinyint, c decimal(4,1), d double, e text, f blob, g decimal(10), h char(1), i bit(1), j binary(1)", s.String())
}

func TestAttributesInAnyOrder(t *testing.T) {
	for _, decl := range []string{"`s` VARCHAR (9) COLLATE UTF8MB4_0900_AI_CI NOT NULL", "s varchar(9) not null collate utf8mb4_0900_ai_ci"} {
		require.Equal(t, "s varchar(9) collate utf8mb4_0900_ai_ci not null", schema(t, decl).String())
	}
	require.Nil(t, schema(t, "s text collate binary")[0].Collation)
	require.Equal(t, []string{"a b", "`", "'"}, schema(t, "`x``y` enum('a b', '`', '''')")[0].Members)
	require.Equal(t, "x`y", schema(t, "`x``y` int")[0].Name)
}

// Which rows are equal is SQL's matter, not the text's.
func TestExpectComparesAsSQLDoes(t *testing.T) {
	for decl, c := range map[string]struct {
		text string
		rows int
	}{
		"s varchar(9)":                            {"a\nA\na \na\n", 3},
		"s varchar(9) collate latin1_swedish_ci":  {"a\nA\na \nä\nÄ\n", 2},
		"s varchar(9) collate utf8mb4_0900_ai_ci": {"a\nA\nä\na \n", 2},
		"s varchar(9) collate utf8mb4_0900_as_cs": {"a\nA\nä\na \n", 4},
		"s char(9)":      {"a\nA\na \n", 2},
		"f double":       {"0\n-0\n1\n1.0\n1e0\n", 2},
		"d decimal(4,2)": {"1\n1.00\n01.0\n-0\n0\n", 2},
		"j json": {`{"a":1,"b":2}` + "\n" + `{"b":2.0,"a":10e-1}` + "\n" + `{"a":1,"b":3,"b":2}` + "\n" +
			"1\n1.0\n100e-2\n0\n-0.0\n\"1\"\n[1]\n[1.0]\n[1,2]\ntrue\nnull\n-1\n", 9},
		"e enum('a','A')": {"a\nA\n\na\n", 3},
	} {
		tab := read(t, decl, c.text, Format{})
		a, err := Expect(t.Context(), tab, NewTable(tab.Schema), nil)
		require.NoError(t, err)
		require.Equal(t, c.rows, a.Rows, decl)
	}
}

func TestShuffledFloats(t *testing.T) {
	tab := read(t, "f float, d date", "1.5\t2024-01-01\n\\N\t\\N\n-2\t2024-01-02\n", Format{})
	s, err := tab.Shuffled(3)
	require.NoError(t, err)
	require.ElementsMatch(t, rows(tab), rows(s))
	part := tab.Slice(0, 2)
	require.Equal(t, rows(tab)[:2], rows(&part))
}
