package input

import (
	"maps"
	"slices"
)

// Type is a column's type.
type Type int

// The types that the tool reads, under their SQL names; U marks an unsigned
// integer.
const (
	TinyInt Type = iota
	SmallInt
	MediumInt
	Int
	BigInt
	UTinyInt
	USmallInt
	UMediumInt
	UInt
	UBigInt
	Bit
	Year
	Enum
	Set
	Float
	Double
	Date
	Time
	Datetime
	Timestamp
	Decimal
	Char
	Varchar
	Binary
	Varbinary
	Text
	Blob
	JSON
	Geometry
	numTypes
)

// kind groups the types whose text is alike.
type kind int

const (
	kindInt kind = iota
	kindUint
	kindBit
	kindYear
	kindEnum
	kindSet
	kindFloat
	kindDate
	kindTime
	kindTimestamp
	kindDecimal
	kindText  // characters, with a collation
	kindBytes // bytes
)

// typeInfo is what the tool knows of a type.
type typeInfo struct {
	name string
	kind kind
	bits int // of integers and floats
	// most is the largest number in parentheses; 0: none is wanted.
	most int
}

const (
	maxVarchar = 65535 // of VARCHAR and VARBINARY, in characters and bytes
	maxChar    = 255   // of CHAR and BINARY
	maxDigits  = 65    // of DECIMAL
	maxScale   = 30
	maxMembers = 64 // of SET
	maxNames   = 65535
	maxFSP     = 6
)

var types = [numTypes]typeInfo{
	TinyInt:    {name: "tinyint", kind: kindInt, bits: 8},
	SmallInt:   {name: "smallint", kind: kindInt, bits: 16},
	MediumInt:  {name: "mediumint", kind: kindInt, bits: 24},
	Int:        {name: "int", kind: kindInt, bits: 32},
	BigInt:     {name: "bigint", kind: kindInt, bits: 64},
	UTinyInt:   {name: "tinyint", kind: kindUint, bits: 8},
	USmallInt:  {name: "smallint", kind: kindUint, bits: 16},
	UMediumInt: {name: "mediumint", kind: kindUint, bits: 24},
	UInt:       {name: "int", kind: kindUint, bits: 32},
	UBigInt:    {name: "bigint", kind: kindUint, bits: 64},
	Bit:        {name: "bit", kind: kindBit, most: 64},
	Year:       {name: "year", kind: kindYear, bits: 16},
	Enum:       {name: "enum", kind: kindEnum},
	Set:        {name: "set", kind: kindSet},
	Float:      {name: "float", kind: kindFloat, bits: 32},
	Double:     {name: "double", kind: kindFloat, bits: 64},
	Date:       {name: "date", kind: kindDate},
	Time:       {name: "time", kind: kindTime, most: maxFSP},
	Datetime:   {name: "datetime", kind: kindDate, most: maxFSP},
	Timestamp:  {name: "timestamp", kind: kindTimestamp, most: maxFSP},
	Decimal:    {name: "decimal", kind: kindDecimal, most: maxDigits},
	Char:       {name: "char", kind: kindText, most: maxChar},
	Varchar:    {name: "varchar", kind: kindText, most: maxVarchar},
	Binary:     {name: "binary", kind: kindBytes, most: maxChar},
	Varbinary:  {name: "varbinary", kind: kindBytes, most: maxVarchar},
	Text:       {name: "text", kind: kindText},
	Blob:       {name: "blob", kind: kindBytes},
	JSON:       {name: "json", kind: kindText},
	Geometry:   {name: "geometry", kind: kindBytes},
}

// typeNames finds a type by its name in a schema.
var typeNames = named(map[string]Type{
	"integer": Int, "integer unsigned": UInt, "bool": TinyInt, "boolean": TinyInt,
	"dec": Decimal, "numeric": Decimal, "fixed": Decimal, "real": Double,
	"tinytext": Text, "mediumtext": Text, "longtext": Text,
	"tinyblob": Blob, "mediumblob": Blob, "longblob": Blob,
})

// named adds the types' own names to their other ones.
func named(names map[string]Type) map[string]Type {
	for t := range numTypes {
		names[t.String()] = t
	}
	return names
}

// String returns the type's name.
func (t Type) String() string {
	if types[t].kind == kindUint {
		return types[t].name + " unsigned"
	}
	return types[t].name
}

func knownTypes() []string { return slices.Sorted(maps.Keys(typeNames)) }

// isString says that the values are in Vector.Bytes.
func (c Column) isString() bool { return types[c.Type].kind >= kindDecimal }

// isFloat says that the values are in Vector.F64.
func (c Column) isFloat() bool { return types[c.Type].kind == kindFloat }

// takesLength says that a number in parentheses must be given.
func (c Column) takesLength() bool {
	return c.Type == Varchar || c.Type == Varbinary
}

// takesFSP says that the number in parentheses is digits of a second.
func (c Column) takesFSP() bool {
	return c.Type == Time || c.Type == Datetime || c.Type == Timestamp
}

// takesCollation says that the column's text has an order to choose.
func (c Column) takesCollation() bool { return types[c.Type].kind == kindText && c.Type != JSON }

// Width is the number of bytes in which a server stores the column (YEAR, which
// counts from 1900 there, takes one more here); 0 for strings, and for DECIMAL,
// which travels as text.
func (c Column) Width() int {
	switch fraction := (c.FSP + 1) / 2; c.Type {
	case Time, Date:
		return 3 + fraction
	case Timestamp:
		return 4 + fraction
	case Datetime:
		return 5 + fraction
	case Bit:
		return (c.Length + 7) / 8
	case Enum:
		return (len(c.Members) + 255) / 256
	case Set:
		return setWidth(len(c.Members))
	}
	return types[c.Type].bits / 8
}

// setWidth is the width of a SET of n members.
func setWidth(n int) int {
	if n > 32 {
		return 8
	}
	return (n + 7) / 8
}

// Unit is what a server stores as one step, in the terms of Vector.I64: TIME
// without fraction is stored in seconds, DATE without a time.
func (c Column) Unit() int64 {
	switch {
	case c.Type == Date:
		return 1e6 << 17
	case c.takesFSP():
		return pow10((6 - c.FSP) / 2 * 2)
	}
	return 1
}

// Unsigned says whether the column's integers have no sign.
func (c Column) Unsigned() bool {
	switch types[c.Type].kind {
	case kindInt, kindTime:
		return false
	}
	return true
}

// Packed says that Vector.I64 has a microsecond in its low 24 bits, as in
// PackDatetime.
func (c Column) Packed() bool { return types[c.Type].kind == kindDate }

func pow10(n int) int64 {
	x := int64(1)
	for range n {
		x *= 10
	}
	return x
}
