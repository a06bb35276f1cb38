package temptable

import "fmt"

// Type is the type of a column. What a value looks like in a [Vector] and in
// the setters of a writer:
//
//   - integers, BIT, YEAR, ENUM (its number) and SET (its bits): int64;
//     unsigned ones as the same 64 bits.
//   - TIME: microseconds, signed. TIMESTAMP: microseconds since
//     1970-01-01 00:00:00 UTC.
//   - DATE and DATETIME: packed as [PackDatetime] does, so that the zero date
//     and dates with zero parts have a value and the order of the integers is
//     the order of time.
//   - FLOAT and DOUBLE: float64.
//   - DECIMAL: text, as bytes; a sign, a point and an exponent are allowed, and
//     what is read back has all digits of the scale.
//   - all others: bytes.
type Type uint8

// The types, under their SQL names; U marks an unsigned integer. The number of
// stored bytes of the fixed ones is behind them.
const (
	TypeInvalid Type = iota // no type: a column that was never described

	TypeTinyInt    // 1
	TypeSmallInt   // 2
	TypeMediumInt  // 3
	TypeInt        // 4
	TypeBigInt     // 8
	TypeUTinyInt   // 1
	TypeUSmallInt  // 2
	TypeUMediumInt // 3
	TypeUInt       // 4
	TypeUBigInt    // 8
	TypeBit        // 1 to 8, by Column.Length in bits
	TypeYear       // 1
	TypeEnum       // 1 or 2, by Column.Length in members
	TypeSet        // 1, 2, 3, 4 or 8, by Column.Length in members

	TypeFloat  // 4
	TypeDouble // 8

	TypeDate      // 3
	TypeTime      // 3 to 6, by Column.FSP
	TypeDatetime  // 5 to 8, by Column.FSP
	TypeTimestamp // 4 to 7, by Column.FSP

	TypeDecimal // 1 to 28, by Column.Length in digits

	TypeChar      // variable; trailing spaces are not stored
	TypeVarchar   // variable
	TypeBinary    // variable; filled with zero bytes up to Column.Length
	TypeVarbinary // variable
	TypeText      // variable
	TypeBlob      // variable
	TypeJSON      // variable
	TypeGeometry  // variable

	numTypes
)

// kind groups the types whose values are stored and compared alike.
type kind uint8

const (
	kindInt       kind = iota // signed integer
	kindUint                  // unsigned integer
	kindYear                  // 0 or 1901..2155, less 1900
	kindTime                  // signed count of the smallest fraction
	kindTimestamp             // unsigned count of the smallest fraction
	kindDate                  // packed date
	kindDatetime              // packed date and time, then the fraction
	kindFloat                 // IEEE 754, 4 bytes
	kindDouble                // IEEE 754, 8 bytes
	kindDecimal               // big-endian, offset binary; travels as text
	kindBytes                 // variable
	kindChar                  // variable, trailing spaces cut
	kindBinary                // variable, filled with zero bytes
)

// typeInfo is what the codec knows of a type.
type typeInfo struct {
	name  string
	kind  kind
	width uint8 // stored bytes; 0 where the column decides or the value is variable
	fsp   bool  // takes Column.FSP
}

// types describes every Type. The widths are those of MySQL's row format.
var types = [numTypes]typeInfo{
	TypeInvalid:    {name: "invalid"},
	TypeTinyInt:    {name: "tinyint", kind: kindInt, width: 1},
	TypeSmallInt:   {name: "smallint", kind: kindInt, width: 2},
	TypeMediumInt:  {name: "mediumint", kind: kindInt, width: 3},
	TypeInt:        {name: "int", kind: kindInt, width: 4},
	TypeBigInt:     {name: "bigint", kind: kindInt, width: 8},
	TypeUTinyInt:   {name: "tinyint unsigned", kind: kindUint, width: 1},
	TypeUSmallInt:  {name: "smallint unsigned", kind: kindUint, width: 2},
	TypeUMediumInt: {name: "mediumint unsigned", kind: kindUint, width: 3},
	TypeUInt:       {name: "int unsigned", kind: kindUint, width: 4},
	TypeUBigInt:    {name: "bigint unsigned", kind: kindUint, width: 8},
	TypeBit:        {name: "bit", kind: kindUint},
	TypeYear:       {name: "year", kind: kindYear, width: 1},
	TypeEnum:       {name: "enum", kind: kindUint},
	TypeSet:        {name: "set", kind: kindUint},
	TypeFloat:      {name: "float", kind: kindFloat, width: 4},
	TypeDouble:     {name: "double", kind: kindDouble, width: 8},
	TypeDate:       {name: "date", kind: kindDate, width: 3},
	TypeTime:       {name: "time", kind: kindTime, fsp: true},
	TypeDatetime:   {name: "datetime", kind: kindDatetime, fsp: true},
	TypeTimestamp:  {name: "timestamp", kind: kindTimestamp, fsp: true},
	TypeDecimal:    {name: "decimal", kind: kindDecimal},
	TypeChar:       {name: "char", kind: kindChar},
	TypeVarchar:    {name: "varchar", kind: kindBytes},
	TypeBinary:     {name: "binary", kind: kindBinary},
	TypeVarbinary:  {name: "varbinary", kind: kindBytes},
	TypeText:       {name: "text", kind: kindBytes},
	TypeBlob:       {name: "blob", kind: kindBytes},
	TypeJSON:       {name: "json", kind: kindBytes},
	TypeGeometry:   {name: "geometry", kind: kindBytes},
}

// String returns the SQL name in lower case.
func (t Type) String() string {
	if t >= numTypes {
		return fmt.Sprintf("type(%d)", uint8(t))
	}
	return types[t].name
}

// valid reports whether t names a type.
func (t Type) valid() bool { return t > TypeInvalid && t < numTypes }

// variable reports whether values of the kind have no fixed width.
func (k kind) variable() bool { return k >= kindBytes }

// float reports whether values of the kind travel as float64.
func (k kind) float() bool { return k == kindFloat || k == kindDouble }
