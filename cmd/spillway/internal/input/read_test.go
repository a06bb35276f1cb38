package input

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/testdata/joinit"
)

func schema(t testing.TB, text string) Schema {
	s, err := ParseSchema(text)
	require.NoError(t, err)
	return s
}

// read reads text; a Format without Null means \N.
func read(t testing.TB, decl, text string, f Format) *Table {
	if f.Null == "" {
		f.Null = `\N`
	}
	tab, err := Read(t.Context(), strings.NewReader(text), schema(t, decl), f)
	require.NoError(t, err)
	return tab
}

// rows renders t unambiguously.
func rows(t *Table) (out []string) {
	for k := range t.N {
		var f []string
		for c := range t.Cols {
			if t.Cols[c].IsNull(k) {
				f = append(f, "NULL")
				continue
			}
			f = append(f, "'"+string(t.appendField(nil, c, k))+"'")
		}
		out = append(out, strings.Join(f, ","))
	}
	return out
}

func TestReadsTheReportsTable(t *testing.T) {
	tab, err := Read(t.Context(), joinit.Open(), schema(t, joinit.Schema), Format{})
	require.NoError(t, err)
	require.Equal(t, joinit.Rows, tab.N)
	require.EqualValues(t, joinit.Checksum, tab.Checksum())
	a, err := Expect(t.Context(), tab, tab, nil)
	require.NoError(t, err)
	require.Equal(t, Answer{Rows: joinit.Rows, Checksum: joinit.Checksum, RightDup: joinit.Rows}, a)
}

func TestEscapes(t *testing.T) {
	tab := read(t, "s varchar(30)", `a\tb\nc\\d\0e\bf\rg\Zh\xi\`+"\tj\\\nk\n"+`\\`+"\n"+`\\N`+"\n\nlast", Format{})
	require.Equal(t, []string{"'a\tb\nc\\d\x00e\bf\rg\x1ahxi\tj\nk'", `'\'`, `'\N'`, "''", "'last'"}, rows(tab))
}

func TestNulls(t *testing.T) {
	text := "1\tNULL\n\\N\t\\N\nNULL\tx\n3\tnull\n"
	require.Equal(t, []string{"'1',NULL", "NULL,NULL", "NULL,'x'", "'3','null'"},
		rows(read(t, "i int, s varchar(9)", text, Format{Null: "NULL"})))
	require.Equal(t, []string{"'1','NULL'", "NULL,NULL"},
		rows(read(t, "i int, s varchar(9)", "1\tNULL\n\\N\t\\N\n", Format{Null: `\N`})))
}

func TestManyNulls(t *testing.T) {
	text := strings.Repeat("1\n", 200) + strings.Repeat("\\N\n1\n", 100)
	tab := read(t, "i int", text, Format{})
	require.Equal(t, 400, tab.N)
	for k := range 400 {
		require.Equal(t, k >= 200 && k%2 == 0, tab.Cols[0].IsNull(k), k)
	}
	part := tab.Slice(192, 300)
	require.Equal(t, rows(tab)[192:300], rows(&part))
}

func TestHeader(t *testing.T) {
	require.Equal(t, []string{"'1','2'"}, rows(read(t, "a int, b int", "a\tb\n1\t2\n", Format{Header: true})))
	require.Empty(t, rows(read(t, "a int, b int", "", Format{Header: true})))
	_, err := Read(t.Context(), strings.NewReader("a\n1\t2\n"), schema(t, "a int, b int"), Format{Header: true})
	require.ErrorContains(t, err, "line 1: the header has 1 columns, the schema 2")
}

func TestTimes(t *testing.T) {
	text := "00:00:00\n-00:00:01\n838:59:59\n1:02:03\n-838:59:59\n\\N\n"
	require.Equal(t, []string{"'00:00:00'", "'-00:00:01'", "'838:59:59'", "'01:02:03'", "'-838:59:59'", "NULL"},
		rows(read(t, "t time", text, Format{})))
	tab := read(t, "t time(3)", "12:00:00.5\n-0:0:0.001\n", Format{})
	require.Equal(t, []int64{43200500000, -1000}, tab.Cols[0].I64)
	require.Equal(t, []string{"'12:00:00.500'", "'-00:00:00.001'"}, rows(tab))
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ decl, text, want string }{
		{"i int, s varchar(3)", "1\ta\n2\tabcd\n", "line 2, column 2 (s): 4 characters do not fit in s varchar(3)"},
		{"i int, s varchar(3)", "1\ta\nx\ta\n", `line 2, column 1 (i): "x" is not a number`},
		{"i int, s varchar(9)", "1\ta\\\nb\nx\ta\n", `line 3, column 1 (i): "x" is not a number`},
		{"i int", "2147483648\n", "line 1, column 1 (i): 2147483648 does not fit in i int"},
		{"i tinyint unsigned", "1\n-1\n", "line 2, column 1 (i): \"-1\" is not a number"},
		{"i tinyint unsigned", "256\n", "256 does not fit in i tinyint unsigned"},
		{"i int not null", "\\N\n", "NULL in a column that is NOT NULL"},
		{"i int", "1\t2\n", "line 1: 2 columns, the schema has 1"},
		{"i int, j int", "\n", "line 1: 1 columns, the schema has 2"},
		{"t time", "12:60:00\n", `"12:60:00" is not a t time`},
		{"t time", "12:00:00.5\n", "is not a t time"},
		{"t time(1)", "12:00:00.\n", "is not a t time(1)"},
		{"t time", "--1:00:00\n", "is not a t time"},
		{"t time", "1:00\n", "is not a t time"},
		{"t time", "839:00:00\n", "839:00:00 is beyond 838:59:59.999999"},
	} {
		_, err := Read(t.Context(), strings.NewReader(c.text), schema(t, c.decl), Format{})
		require.ErrorContains(t, err, c.want)
		var p *ParseError
		require.ErrorAs(t, err, &p)
	}
}

func TestMultiByteCharactersCount(t *testing.T) {
	require.Len(t, rows(read(t, "s varchar(3)", "äöü\n", Format{})), 1)
}

func TestReadFile(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := io.WriteString(w, strings.Repeat("a\n", 5000))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	name := filepath.Join(t.TempDir(), "t.tsv.gz")
	require.NoError(t, os.WriteFile(name, z.Bytes(), 0o600))
	tab, err := ReadFile(t.Context(), name, schema(t, "s varchar(3)"), Format{}, nil)
	require.NoError(t, err)
	require.Equal(t, 5000, tab.N)

	_, err = ReadFile(t.Context(), name, schema(t, "i int"), Format{}, nil)
	require.ErrorContains(t, err, name+": line 1")
	_, err = ReadFile(t.Context(), name+"none", nil, Format{}, nil)
	require.ErrorIs(t, err, os.ErrNotExist)

	require.NoError(t, os.WriteFile(name, z.Bytes()[:z.Len()-4], 0o600))
	_, err = ReadFile(t.Context(), name, schema(t, "s varchar(3)"), Format{}, nil)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, os.WriteFile(name, z.Bytes()[:2], 0o600))
	_, err = ReadFile(t.Context(), name, schema(t, "s varchar(3)"), Format{}, nil)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := Read(t.Context(), io.MultiReader(strings.NewReader("1\n2"), iotest.ErrReader(broken)), schema(t, "i int"), Format{})
	require.ErrorIs(t, err, broken)
	_, err = Read(t.Context(), iotest.ErrReader(broken), schema(t, "i int"), Format{Header: true})
	require.ErrorIs(t, err, broken)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Read(ctx, strings.NewReader("1\n"), schema(t, "i int"), Format{})
	require.ErrorIs(t, err, context.Canceled)
}

// A line longer than the reader's buffer.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 65000)
	tab := read(t, "a varchar(65000), b varchar(65000)", long+"\t"+long+"\nz\ty\n", Format{})
	require.Equal(t, []string{"'" + long + "','" + long + "'", "'z','y'"}, rows(tab))
}

// write exports t as a server does.
func write(t *Table) string {
	esc := strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\x00", `\0`)
	var b strings.Builder
	for k := range t.N {
		for c := range t.Cols {
			if c > 0 {
				b.WriteByte('\t')
			}
			if t.Cols[c].IsNull(k) {
				b.WriteString(`\N`)
				continue
			}
			b.WriteString(esc.Replace(string(t.appendField(nil, c, k))))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func FuzzRead(f *testing.F) {
	s := Schema{{Name: "i", Type: Int}, {Name: "s", Type: Varchar, Length: 8}, {Name: "t", Type: Time, FSP: 2}}
	f.Add([]byte("1\ta\\tb\t-12:00:00.5\n\\N\t\\N\t\\N\n"), "NULL", false)
	f.Add([]byte("i\ts\tt\n7\tx\\\ny\t0:0:0\n"), "", true)
	f.Fuzz(func(t *testing.T, text []byte, null string, header bool) {
		tab, err := Read(t.Context(), bytes.NewReader(text), s, Format{Null: null, Header: header})
		if err != nil {
			return
		}
		again, err := Read(t.Context(), strings.NewReader(write(tab)), s, Format{Null: `\N`})
		require.NoError(t, err)
		require.Equal(t, rows(tab), rows(again))
		require.Equal(t, tab.Checksum(), again.Checksum())
	})
}

func BenchmarkRead(b *testing.B) {
	z, err := gzip.NewReader(joinit.Open())
	require.NoError(b, err)
	text, err := io.ReadAll(z)
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, err := Read(b.Context(), bytes.NewReader(text), schema(b, joinit.Schema), Format{})
		require.NoError(b, err)
	}
}
