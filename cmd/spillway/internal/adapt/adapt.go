package adapt

import (
	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/temptable"
)

// BatchRows is how many rows are inserted at a time; a multiple of 64.
const BatchRows = 1024

// columnTypes are the library's names for the tool's types.
var columnTypes = map[input.Type]temptable.Type{
	input.TinyInt: temptable.TypeTinyInt, input.SmallInt: temptable.TypeSmallInt, input.MediumInt: temptable.TypeMediumInt,
	input.Int: temptable.TypeInt, input.BigInt: temptable.TypeBigInt,
	input.UTinyInt: temptable.TypeUTinyInt, input.USmallInt: temptable.TypeUSmallInt,
	input.UMediumInt: temptable.TypeUMediumInt, input.UInt: temptable.TypeUInt, input.UBigInt: temptable.TypeUBigInt,
	input.Bit: temptable.TypeBit, input.Year: temptable.TypeYear, input.Enum: temptable.TypeEnum, input.Set: temptable.TypeSet,
	input.Float: temptable.TypeFloat, input.Double: temptable.TypeDouble,
	input.Date: temptable.TypeDate, input.Time: temptable.TypeTime,
	input.Datetime: temptable.TypeDatetime, input.Timestamp: temptable.TypeTimestamp,
	input.Decimal: temptable.TypeDecimal,
	input.Char:    temptable.TypeChar, input.Varchar: temptable.TypeVarchar,
	input.Binary: temptable.TypeBinary, input.Varbinary: temptable.TypeVarbinary,
	input.Text: temptable.TypeText, input.Blob: temptable.TypeBlob,
	input.JSON: temptable.TypeJSON, input.Geometry: temptable.TypeGeometry,
}

// maxCharLen is the length of a character in UTF-8.
const maxCharLen = 4

// Columns describes the columns of s to the library.
func Columns(s input.Schema) []temptable.Column {
	cols := make([]temptable.Column, len(s))
	for i, c := range s {
		cols[i] = temptable.Column{Name: c.Name, Type: columnTypes[c.Type], NotNull: c.NotNull,
			FSP: c.FSP, Scale: c.Scale, Length: length(c)}
		if c.Collation != nil {
			cols[i].Collation = c.Collation
		}
	}
	return cols
}

// length is the library's measure of a column: members, bytes, bits or digits.
func length(c input.Column) int {
	switch c.Type {
	case input.Enum, input.Set:
		return len(c.Members)
	case input.Char, input.Varchar:
		return c.Length * maxCharLen
	}
	return c.Length
}

// Feed hands out the rows of tables of one schema as the library takes them.
type Feed struct {
	part  input.Table
	batch temptable.Batch
}

// NewFeed returns a Feed for tables of schema s.
func NewFeed(s input.Schema) *Feed {
	return &Feed{part: *input.NewTable(s), batch: temptable.Batch{Cols: make([]temptable.Vector, len(s))}}
}

// Batch returns the rows of t from the given one on, BatchRows at most, without
// copying them; from is a multiple of 64. It is valid until the next call, and
// does not allocate.
func (f *Feed) Batch(t *input.Table, from int) *temptable.Batch {
	t.SliceInto(&f.part, from, min(from+BatchRows, t.N))
	f.batch.N = f.part.N
	for c := range f.part.Cols {
		v := &f.part.Cols[c]
		f.batch.Cols[c] = temptable.Vector{Valid: v.Valid, I64: v.I64, F64: v.F64, Off: v.Off, Bytes: v.Bytes}
	}
	return &f.batch
}

// View makes t a view of b, without copying the rows.
func View(t *input.Table, b *temptable.Batch) {
	t.N = b.N
	for c := range b.Cols {
		v := &b.Cols[c]
		t.Cols[c] = input.Vector{Valid: v.Valid, I64: v.I64, F64: v.F64, Off: v.Off, Bytes: v.Bytes}
	}
}
