package temptable

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Limits of a schema.
const (
	// MaxColumns is the largest number of columns of a table, as in MySQL.
	MaxColumns = 4096
	// MaxValueLen is the largest value of a variable column, in bytes (1 GiB).
	MaxValueLen = 1 << 30
)

// Column describes one column. The zero values of all fields but Type give a
// nullable column without a limit of its own.
type Column struct {
	// Name is used in messages only; it need not be unique.
	Name string
	Type Type
	// NotNull refuses NULL and saves its bit in the row.
	NotNull bool
	// Length bounds strings: bytes, or characters under a collation that
	// counts them; 0 sets no bound but MaxValueLen. BINARY is filled up to it.
	// For BIT it is the number of bits (1..64), for ENUM (1..65535) and SET
	// (1..64) the number of members, for DECIMAL the number of digits (1..65).
	Length int
	// Scale is the number of DECIMAL's digits behind the point (0..30).
	Scale int
	// FSP is the number of fractional digits of seconds (0..6) of TIME,
	// DATETIME and TIMESTAMP.
	FSP int
	// Collation orders and compares strings; nil compares bytes. On binary types
	// it is most often a Custom one.
	Collation Collation
}

// Schema is the validated, immutable description of a table's rows, and the
// place of each value in them. Any number of tables and goroutines share one.
type Schema struct {
	public []Column
	cols   []column
	// template is an empty row: header, null bits all set, zeros up to the
	// first variable byte of a row with 2-byte offsets.
	template []byte
	missing  []uint64 // a bit for each column, set where it is NOT NULL
	// bitmapLen is the length of the null bitmap, in bytes.
	bitmapLen int
	endsOff   int // where the end offsets start
	numVar    int
	key       keyPlan
	whole     *keyOrder // the canonical form of key
	scratches sync.Pool // of *keyScratch
}

// SchemaOption adds to a schema what its columns do not say.
type SchemaOption func(*schemaBuilder)

// Distinct makes tables of the schema reject a row whose values in cols equal
// those of a row that is there; NULL equals NULL. Without arguments all columns
// are meant. It may be given once.
func Distinct(cols ...int) SchemaOption {
	cols = slices.Clone(cols)
	return func(b *schemaBuilder) {
		if b.distinct {
			b.fail("Distinct is given twice")
		}
		b.distinct, b.keyCols = true, cols
	}
}

// schemaBuilder collects the options, and every fault.
type schemaBuilder struct {
	distinct bool
	keyCols  []int
	faults   []error
}

func (b *schemaBuilder) fail(format string, args ...any) {
	b.faults = append(b.faults, fmt.Errorf(format, args...))
}

// NewSchema checks cols and opts and lays out the row. A description with
// faults gives an ErrSchema that names all of them. No columns at all is
// allowed: such a table counts rows, and at most one if it is distinct.
func NewSchema(cols []Column, opts ...SchemaOption) (*Schema, error) {
	var b schemaBuilder
	for _, o := range opts {
		o(&b)
	}
	b.check(cols)
	if len(b.faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrSchema, errors.Join(b.faults...))
	}
	s := &Schema{public: slices.Clone(cols)}
	s.layout()
	s.key = newKeyPlan(s, b.distinct, b.keyCols)
	s.whole = s.wholeKey()
	return s, nil
}

func (b *schemaBuilder) check(cols []Column) {
	if len(cols) > MaxColumns {
		b.fail("%d columns, at most %d", len(cols), MaxColumns)
	}
	for i, c := range cols {
		if err := checkColumn(c); err != nil {
			b.fail("column %d (%s): %w", i, c.Name, err)
		}
	}
	b.checkKey(len(cols))
}

func (b *schemaBuilder) checkKey(numCols int) {
	seen := make(map[int]bool)
	for _, k := range b.keyCols {
		if k < 0 || k >= numCols {
			b.fail("Distinct: no column %d", k)
		}
		if seen[k] {
			b.fail("Distinct: column %d is named twice", k)
		}
		seen[k] = true
	}
}

func checkColumn(c Column) error {
	if !c.Type.valid() {
		return fmt.Errorf("no type %d", c.Type)
	}
	t := types[c.Type]
	lo, hi := lengthBounds(c.Type)
	return errors.Join(
		within("length", c.Length, lo, hi),
		within("scale", c.Scale, 0, maxScale(c)),
		within("fsp", c.FSP, 0, maxFSP(t)),
		checkCollation(c, t),
	)
}

func within(what string, v, lo, hi int) error {
	if v < lo || v > hi {
		return fmt.Errorf("%s %d is not in %d..%d", what, v, lo, hi)
	}
	return nil
}

// lengthBounds are MySQL's, where Length says what a value is made of.
func lengthBounds(t Type) (lo, hi int) {
	switch t {
	case TypeBit, TypeSet:
		return 1, 64
	case TypeEnum:
		return 1, 65535
	case TypeDecimal:
		return 1, maxDigits
	}
	return 0, MaxValueLen
}

func maxScale(c Column) int {
	if c.Type != TypeDecimal {
		return 0
	}
	return min(30, c.Length)
}

func maxFSP(t typeInfo) int {
	if t.fsp {
		return 6
	}
	return 0
}

func checkCollation(c Column, t typeInfo) error {
	if c.Collation != nil && (!t.kind.variable() || c.Type == TypeJSON) {
		return fmt.Errorf("%s takes no collation", c.Type)
	}
	return nil
}

// NumCols returns the number of columns.
func (s *Schema) NumCols() int { return len(s.public) }

// Column returns the description of column i. It panics, as indexing does, if
// there is none.
func (s *Schema) Column(i int) Column { return s.public[i] }

// Distinct reports whether tables of the schema reject duplicates, and the
// columns that decide, in the order given (nil: all).
func (s *Schema) Distinct() (cols []int, ok bool) {
	return slices.Clone(s.key.named), s.key.distinct
}
