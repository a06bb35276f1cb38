package difftest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/spillway-db/spillway/temptable"
	"github.com/spillway-db/spillway/temptable/collation"
)

// mariaKinds are columns of every type that MariaDB has.
func mariaKinds() []kind {
	var all []kind
	for _, of := range [][]kind{integerKinds(), bitKinds(), floatKinds(), decimalKinds(), timeKinds(), stringKinds(), binaryKinds()} {
		all = append(all, of...)
	}
	return all
}

func integerKinds() []kind {
	var kinds []kind
	for _, k := range []struct {
		ddl    string
		typ    temptable.Type
		lo, hi int64
	}{
		{"tinyint", temptable.TypeTinyInt, math.MinInt8, math.MaxInt8},
		{"smallint", temptable.TypeSmallInt, math.MinInt16, math.MaxInt16},
		{"mediumint", temptable.TypeMediumInt, -1 << 23, 1<<23 - 1},
		{"int", temptable.TypeInt, math.MinInt32, math.MaxInt32},
		{"bigint", temptable.TypeBigInt, math.MinInt64, math.MaxInt64},
		{"tinyint unsigned", temptable.TypeUTinyInt, 0, math.MaxUint8},
		{"smallint unsigned", temptable.TypeUSmallInt, 0, math.MaxUint16},
		{"mediumint unsigned", temptable.TypeUMediumInt, 0, 1<<24 - 1},
		{"int unsigned", temptable.TypeUInt, 0, math.MaxUint32},
	} {
		pool := []value{}
		for _, v := range []int64{0, 1, 2, 127, -1, -2, k.lo, k.lo + 1, k.hi - 1, k.hi} {
			if v >= k.lo {
				pool = append(pool, integer(fmt.Sprint(v), v))
			}
		}
		kinds = append(kinds, kind{name: k.ddl, ddl: k.ddl, col: temptable.Column{Type: k.typ}, pool: pool, sel: "CAST(%s AS CHAR)", show: plain})
	}
	return append(kinds, kind{name: "bigint unsigned", ddl: "bigint unsigned", col: temptable.Column{Type: temptable.TypeUBigInt},
		pool: unsigned(0, 1, math.MaxInt64, 1<<63, math.MaxUint64), sel: "CAST(%s AS CHAR)", show: plain})
}

func unsigned(pool ...uint64) []value {
	var vals []value
	for _, v := range pool {
		vals = append(vals, integer(fmt.Sprint(v), int64(v)))
	}
	return vals
}

func bitKinds() []kind {
	bit := func(n int, pool ...uint64) kind {
		ddl := fmt.Sprintf("bit(%d)", n)
		return kind{name: ddl, ddl: ddl, col: temptable.Column{Type: temptable.TypeBit, Length: n},
			pool: unsigned(pool...), sel: "LPAD(HEX(%s)," + fmt.Sprint((n+7)/8*2) + ",'0')", show: hexed}
	}
	return []kind{
		bit(1, 0, 1),
		bit(9, 0, 1, 255, 256, 511),
		bit(64, 0, 1, 1<<63, math.MaxUint64),
		{name: "enum", ddl: "enum('z','a','M')", col: temptable.Column{Type: temptable.TypeEnum, Length: 3},
			pool: unsigned(1, 2, 3), sel: "%s+0", show: plain},
		{name: "set", ddl: "set('z','a','M','q','r','s','t','u','v')", col: temptable.Column{Type: temptable.TypeSet, Length: 9},
			pool: unsigned(0, 1, 2, 3, 255, 256, 511), sel: "%s+0", show: plain},
		{name: "year", ddl: "year", col: temptable.Column{Type: temptable.TypeYear}, sel: "CAST(%s AS CHAR)", show: plain,
			pool: []value{integer("'0000'", 0), integer("'1901'", 1901), integer("'2000'", 2000), integer("'2155'", 2155)}},
	}
}

func floatKinds() []kind {
	zero := float(math.Copysign(0, -1))
	doubles := []value{zero, float(0), float(1), float(-1), float(0.1), float(1e15), float(-1e15), float(1e-15), float(1e14 + 0.5),
		float(math.MaxFloat64), float(-math.MaxFloat64), float(math.SmallestNonzeroFloat64), float(1.0 / 3), float(123456.75)}
	floats := []value{zero, float(0), float(1), float(-1), float(0.1), float(0.5), float(-16777216), float(math.MaxFloat32), float(1e-20)}
	return []kind{
		{name: "double", ddl: "double", col: temptable.Column{Type: temptable.TypeDouble}, pool: doubles, sel: "CAST(ABS(%s) AS CHAR)", show: unsign},
		{name: "float", ddl: "float", col: temptable.Column{Type: temptable.TypeFloat}, pool: floats},
	}
}

// unsign drops the sign, which MariaDB shows of a negative zero only sometimes.
func unsign(text []byte) string { return strings.TrimPrefix(string(text), "-") }

func decimalKinds() []kind {
	nines := strings.Repeat("9", 35) + "." + strings.Repeat("9", 30)
	decimal := func(digits, scale int, pool string) kind {
		ddl := fmt.Sprintf("decimal(%d,%d)", digits, scale)
		return kind{name: ddl, ddl: ddl, col: temptable.Column{Type: temptable.TypeDecimal, Length: digits, Scale: scale},
			pool: numbers(pool), sel: "CAST(%s AS CHAR)", show: plain}
	}
	return []kind{
		decimal(1, 0, "0 -0 9 -9 1 01 1.0"),
		decimal(10, 2, "0 -0.00 0.1 0.10 1e-1 .1 -.1 99999999.99 -99999999.99 1 1.0 1.00 10e-1 123.45 12345e-2"),
		decimal(38, 10, "0 1 -1 1.0000000001 9999999999999999999999999999.9999999999 1234567890123456789.0 1234567890123456789"),
		decimal(65, 30, "0 1 -1 1.0 "+nines+" -"+nines+" 0."+strings.Repeat("0", 29)+"1 1e34"),
	}
}

func timeKinds() []kind {
	return []kind{
		{name: "date", ddl: "date", col: temptable.Column{Type: temptable.TypeDate}, sel: "CAST(%s AS CHAR)", show: plain, pool: []value{
			date(0, 0, 0), date(1, 1, 1), date(2024, 2, 29), date(2023, 2, 29), date(2024, 0, 0), date(2024, 5, 0), date(9999, 12, 31)}},
		timeKind(0, 0, 1e6, -1e6, 838*3600e6+59*60e6+59e6, -(838*3600e6 + 59*60e6 + 59e6), 3600e6),
		timeKind(3, 0, 1e3, -1e3, 1e6, 999e3, -999e3, 838*3600e6+59*60e6+59e6),
		timeKind(6, 0, 1, -1, 1e6-1, -1e6, 838*3600e6+59*60e6+59e6+999999, -(838*3600e6 + 59*60e6 + 59e6 + 999999)),
		datetimeKind(0), datetimeKind(2), datetimeKind(6),
		timestampKind(0, 1e6, 86400e6, (1<<31-1)*1e6),
		timestampKind(6, 1e6, 1e6+1, 1e9*1e6+999999, (1<<31-1)*1e6),
	}
}

func date(y, m, d int) value {
	return integer(fmt.Sprintf("'%04d-%02d-%02d'", y, m, d), temptable.PackDate(y, m, d))
}

func timeKind(fsp int, micros ...int64) kind {
	ddl := fmt.Sprintf("time(%d)", fsp)
	k := kind{name: ddl, ddl: ddl, col: temptable.Column{Type: temptable.TypeTime, FSP: fsp}, sel: "CAST(%s AS CHAR)", show: plain}
	for _, v := range micros {
		sign, a := "", v
		if v < 0 {
			sign, a = "-", -v
		}
		k.pool = append(k.pool, integer(fmt.Sprintf("'%s%d:%02d:%02d.%06d'", sign, a/3600e6, a/60e6%60, a/1e6%60, a%1e6), v))
	}
	return k
}

func datetimeKind(fsp int) kind {
	ddl := fmt.Sprintf("datetime(%d)", fsp)
	k := kind{name: ddl, ddl: ddl, col: temptable.Column{Type: temptable.TypeDatetime, FSP: fsp}, sel: "CAST(%s AS CHAR)", show: plain}
	unit := int(math.Pow10(6 - fsp))
	for _, v := range [][7]int{{}, {1, 1, 1}, {2024, 2, 29, 23, 59, 59, 1e6 - unit}, {2024, 2, 29, 23, 59, 59}, {2024, 2, 30}, {2024, 3, 1},
		{2024, 3, 0, 1, 2, 3}, {9999, 12, 31, 23, 59, 59, 1e6 - unit}, {1969, 12, 31, 23, 59, 59}} {
		micro := v[6] % 1e6
		lit := fmt.Sprintf("'%04d-%02d-%02d %02d:%02d:%02d.%06d'", v[0], v[1], v[2], v[3], v[4], v[5], micro)
		k.pool = append(k.pool, integer(lit, temptable.PackDatetime(v[0], v[1], v[2], v[3], v[4], v[5], micro)))
	}
	return k
}

func timestampKind(fsp int, micros ...int64) kind {
	ddl := fmt.Sprintf("timestamp(%d)", fsp)
	k := kind{name: ddl, ddl: ddl + " null", col: temptable.Column{Type: temptable.TypeTimestamp, FSP: fsp}, sel: "CAST(%s AS CHAR)", show: plain,
		pool: []value{integer("'0000-00-00'", 0)}}
	for _, v := range micros {
		k.pool = append(k.pool, integer(fmt.Sprintf("FROM_UNIXTIME(%d.%06d)", v/1e6, v%1e6), v))
	}
	return k
}

var asciiTexts = []string{"", " ", "  ", "a", "A", "a ", "A  ", "aa", "aA", "ab", "a b", "a\tb", "a\t", "b", "B", "Z", "[", "_", "`", "z", "{", "0", "a\x00", "\x00", "\x01", "ab\x00c",
	"abc", "null", "NULL", "3a1f0000", "3A1F0000 "}

var latin1Texts = append([]string{"\xe4", "\xc4", "\xe5", "\xc5", "\xf6", "\xd6", "o", "\xe9", "e", "\xc9", "E", "\xdf", "ss", "s", "\xff", "\xa0", "\x80", "\xe6", "ae"}, asciiTexts...)

var utf8Texts = append([]string{"ä", "Ä", "å", "Å", "ö", "Ö", "o", "é", "e", "É", "E", "ß", "ss", "s", "ÿ", "y", "Ÿ", "µ", "μ", "σ", "ς", "Σ", "İ", "ı", "i", "I", "漢", "字",
	"한", "😀", "😁", "\u00a0", "e\u0301", "\u200b", "Å"}, asciiTexts...)

func stringKinds() []kind {
	var kinds []kind
	for _, set := range []struct {
		charset string
		names   string
		pool    []string
	}{
		{"ascii", "ascii_general_ci", asciiTexts},
		{"latin1", "latin1_swedish_ci", latin1Texts},
		{"utf8mb4", "utf8mb4_bin utf8mb4_general_ci", utf8Texts},
	} {
		for _, name := range strings.Fields(set.names) {
			c, err := collation.ByName(name)
			if err != nil {
				panic(err)
			}
			for _, t := range []struct {
				ddl string
				col temptable.Column
			}{
				{"char(8)", temptable.Column{Type: temptable.TypeChar, Length: 8}},
				{"varchar(40)", temptable.Column{Type: temptable.TypeVarchar, Length: 40}},
				{"text", temptable.Column{Type: temptable.TypeText}},
			} {
				t.col.Collation = c
				kinds = append(kinds, kind{name: t.ddl + " " + name, ddl: t.ddl + " character set " + set.charset + " collate " + name,
					col: t.col, pool: texts("_"+set.charset+" %s", set.pool...), sel: "HEX(%s)", show: hexed})
			}
		}
	}
	return kinds
}

func binaryKinds() []kind {
	pool := append([]string{"\x80", "\xff", "\xff\xff", "\x7f"}, asciiTexts...)
	var short []string
	for _, s := range pool {
		if len(s) <= 3 {
			short = append(short, s)
		}
	}
	return []kind{
		{name: "binary(3)", ddl: "binary(3)", col: temptable.Column{Type: temptable.TypeBinary, Length: 3}, pool: texts("%s", short...), sel: "HEX(%s)", show: hexed},
		{name: "varbinary(40)", ddl: "varbinary(40)", col: temptable.Column{Type: temptable.TypeVarbinary, Length: 40}, pool: texts("%s", pool...), sel: "HEX(%s)", show: hexed},
		{name: "blob", ddl: "blob", col: temptable.Column{Type: temptable.TypeBlob}, sel: "HEX(%s)", show: hexed,
			pool: texts("%s", append(pool, strings.Repeat("x", 5000), strings.Repeat("x", 5000)+"y", strings.Repeat("\x00", 9000))...)},
		{name: "geometry", ddl: "geometry", col: temptable.Column{Type: temptable.TypeGeometry}, sel: "HEX(ST_AsBinary(%s))", show: hexed, unordered: true,
			pool: texts("ST_GeomFromWKB(%s)", point(0, 0), point(1, 2), point(2, 1), point(-1, 1e300))},
		{name: "varchar(0)", ddl: "varchar(0) character set latin1", col: temptable.Column{Type: temptable.TypeVarchar}, pool: texts("%s", ""), sel: "HEX(%s)", show: hexed},
	}
}

// point is a point as WKB.
func point(x, y float64) string {
	b := []byte{1, 1, 0, 0, 0}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	return string(binary.LittleEndian.AppendUint64(b, math.Float64bits(y)))
}
