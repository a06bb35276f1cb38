package difftest

import (
	"bytes"
	"database/sql"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-db/spillway/temptable"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"
)

var noCase = temptable.Custom("nocase", func(dst, src []byte) ([]byte, error) {
	for _, b := range src {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst, nil
})

var rtrim = temptable.Custom("rtrim", func(dst, src []byte) ([]byte, error) {
	return append(dst, bytes.TrimRight(src, " ")...), nil
})

// hexOrNull is HEX, which SQLite would make empty of NULL.
const hexOrNull = "CASE WHEN %[1]s IS NOT NULL THEN HEX(%[1]s) END"

func sqliteKinds() []kind {
	var noNUL []string
	for _, s := range utf8Texts {
		if !strings.Contains(s, "\x00") {
			noNUL = append(noNUL, s)
		}
	}
	str := func(name, ddl string, c temptable.Collation, pool []string) kind {
		return kind{name: name, ddl: ddl, col: temptable.Column{Type: temptable.TypeText, Collation: c},
			pool: texts("CAST(%s AS TEXT)", pool...), sel: hexOrNull, show: hexed}
	}
	reals := floatKinds()[0].pool
	reals = append(reals, value{"9e999", float(math.Inf(1)).set}, value{"-9e999", float(math.Inf(-1)).set})
	return []kind{
		{name: "integer", ddl: "INTEGER", col: temptable.Column{Type: temptable.TypeBigInt}, sel: "%s", show: plain,
			pool: []value{integer("0", 0), integer("1", 1), integer("-1", -1), integer("9223372036854775807", math.MaxInt64),
				integer("-9223372036854775808", math.MinInt64), integer("1.0", 1), integer("'2'", 2), integer("2", 2)}},
		{name: "real", ddl: "REAL", col: temptable.Column{Type: temptable.TypeDouble}, pool: reals},
		str("text", "TEXT", nil, utf8Texts),
		str("text nocase", "TEXT COLLATE NOCASE", noCase, noNUL),
		str("text rtrim", "TEXT COLLATE RTRIM", rtrim, noNUL),
		{name: "blob", ddl: "BLOB", col: temptable.Column{Type: temptable.TypeBlob}, sel: hexOrNull, show: hexed,
			pool: texts("%s", append([]string{"\x80", "\xff", strings.Repeat("\x00", 9000), strings.Repeat("x", 5000)}, asciiTexts...)...)},
	}
}

func TestSQLite(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	_, err = db.Exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
	require.NoError(t, err)
	compare(t, &engine{db: db, groupIDs: "GROUP_CONCAT(id)"}, sqliteKinds())
}
