package input

import (
	"context"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSchema(t *testing.T) {
	s := schema(t, "Id INT(11) unsigned NOT NULL, `s` varchar (64) null, t time(3), n bigint not null")
	require.Equal(t, Schema{
		{Name: "Id", Type: UInt, NotNull: true}, {Name: "s", Type: Varchar, Length: 64},
		{Name: "t", Type: Time, FSP: 3}, {Name: "n", Type: BigInt, NotNull: true},
	}, s)
	require.Equal(t, s, schema(t, s.String()))
	require.Equal(t, "Id int unsigned not null, s varchar(64), t time(3), n bigint not null", s.String())
}

func TestParseSchemaErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                     `column 1, "": a name and a type`,
		"i int, s":             `column 2, "s": a name and a type`,
		"i int,":               "column 2",
		"s varchar":            "a length from 0 to 65535",
		"s varchar(70000)":     "a length from 0 to 65535",
		"s varchar(x)":         `"x" is not a length`,
		"s varchar(-1)":        `"-1" is not a length`,
		"s varchar(3":          "numbers or members in parentheses",
		"t time(7)":            "at most 6 digits",
		"x point":              "type point is not one of bigint, ",
		"e enum":               "1 to 65535 members in quotes",
		"e enum(a)":            "a is no new member",
		"e enum('a','a')":      "a is no new member",
		"e set('a,b')":         "a,b is no new member",
		"d decimal(66)":        "1 to 65 digits",
		"d decimal(3,4)":       "1 to 65 digits",
		"d decimal(1,2,3)":     "too many numbers",
		"c char(256)":          "a length from 0 to 255",
		"b bit(0)":             "a length from 0 to 64",
		"i int collate binary": "int takes no collation",
		"s text collate x":     "collation x is not one of binary, ",
		"s text collate":       `"collate" is not understood`,
		"s varchar('3')":       `"3" is not a length`,
		"s varchar(3,":         "numbers or members in parentheses",
		"s varchar()":          "numbers or members in parentheses",
		"t time unsigned":      "type time unsigned",
		"i int zerofill":       `"zerofill" is not understood`,
		"i int not null x":     `"x" is not understood`,
		"s varchar(4) not nul": `"not nul" is not understood`,
	} {
		_, err := ParseSchema(text)
		require.ErrorIs(t, err, ErrSchema, text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestWidths(t *testing.T) {
	s := schema(t, "a tinyint, b smallint, c mediumint, d int, e bigint, f time, g time(1), h time(6), i varchar(3)")
	var got []int
	for _, c := range s {
		got = append(got, c.Width())
	}
	require.Equal(t, []int{1, 2, 3, 4, 8, 3, 4, 6, 0}, got)
}

func TestRowText(t *testing.T) {
	tab := read(t, "i int, s varchar(9), t time", "1\t\\N\t1:00:00\n\\N\ta|b\t\\N\n\\N\t\\N\t\\N\n5\t\t\\N\n", Format{})
	var got []string
	var sum uint64
	for k := range tab.N {
		row := string(tab.AppendRow(nil, k))
		got = append(got, row)
		sum += uint64(crc32.ChecksumIEEE([]byte(row)))
	}
	require.Equal(t, []string{"1|01:00:00", "a|b", "", "5|"}, got)
	require.Equal(t, sum, tab.Checksum())
}

// Rows whose CONCAT_WS text is the same are not the same rows.
func TestExpectTellsRowsApart(t *testing.T) {
	left := read(t, "a varchar(9), b varchar(9)", "x\t\\N\n\\N\tx\na|b\t\\N\na\tb\n\t\\N\nab\tc\n", Format{})
	right := read(t, "a varchar(9), b varchar(9)", "x\t\\N\na\tbc\na\tbc\n\\N\t\\N\n\\N\t\\N\n", Format{})
	a, err := Expect(t.Context(), left, right, nil)
	require.NoError(t, err)
	require.Equal(t, 8, a.Rows)
	require.Equal(t, 0, a.LeftDup)
	require.Equal(t, 3, a.RightDup)
}

func TestExpectIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tab := read(t, "a int", "1\n", Format{})
	_, err := Expect(ctx, tab, tab, nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = Expect(ctx, NewTable(tab.Schema), tab, nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestGenerator(t *testing.T) {
	for dup, want := range map[float64]int{0: 0, 0.25: 50, 1: 200} {
		g := Generator{Rows: 200, Dup: dup, Seed: 7}
		left, right, err := g.Make(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, 200, left.N)
		require.Equal(t, 200, right.N)
		require.Equal(t, rows(left)[:want], rows(right)[:want])
		a, err := Expect(t.Context(), left, right, nil)
		require.NoError(t, err)
		require.Equal(t, 0, a.LeftDup)
		require.Equal(t, want, a.RightDup)
		l2, r2, err := g.Make(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, []*Table{left, right}, []*Table{l2, r2})
	}
	require.Contains(t, Generator{Seed: 7}.String(), "i int not null, s varchar(64)")
}

// What is generated can be exported and read again.
func TestGeneratedRowsFitTheirSchema(t *testing.T) {
	left, _, err := Generator{Rows: 500, Seed: 1}.Make(t.Context(), nil)
	require.NoError(t, err)
	again := read(t, left.Schema.String(), write(left), Format{})
	require.Equal(t, left, again)
	require.Len(t, left.Cols[1].Text(0), 36)
	require.Equal(t, 4, strings.Count(string(left.Cols[1].Text(0)), "-"))
}

func TestGeneratorIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Generator{Rows: 1}.Make(ctx, nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestShuffled(t *testing.T) {
	tab := read(t, "i int, s varchar(9)", strings.Repeat("1\ta\n\\N\tb\n3\t\\N\n4\td\n5\te\n", 20), Format{})
	a, err := tab.Shuffled(1)
	require.NoError(t, err)
	b, err := tab.Shuffled(2)
	require.NoError(t, err)
	again, err := tab.Shuffled(1)
	require.NoError(t, err)
	require.Equal(t, a, again)
	require.NotEqual(t, rows(a), rows(b))
	require.NotEqual(t, rows(a), rows(tab))
	require.Equal(t, slices.Sorted(slices.Values(rows(tab))), slices.Sorted(slices.Values(rows(a))))
	require.Equal(t, tab.Checksum(), a.Checksum())
}

func TestTooLarge(t *testing.T) {
	v := Vector{Off: []int32{0}, Bytes: unreadable(math.MaxInt32 - 3)}
	require.NoError(t, v.appendText(0, nil))
	require.ErrorIs(t, v.appendText(1, []byte("four")), ErrTooLarge)
	require.Len(t, v.Off, 2)
}

// unreadable is a slice of n bytes that takes no memory, since no page of it
// is touched.
func unreadable(n int) []byte { return make([]byte, n) }

func TestSliceIntoDoesNotAllocate(t *testing.T) {
	tab := read(t, "i int, s varchar(3)", strings.Repeat("1\ta\n", 300), Format{})
	s := tab.Slice(0, 0)
	require.Zero(t, testing.AllocsPerRun(10, func() { tab.SliceInto(&s, 64, 200) }))
	require.Equal(t, 136, s.N)
}
