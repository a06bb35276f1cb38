package temptable

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// FoldOp says how a given value changes a stored one. A given NULL changes
// nothing; a stored NULL becomes the given value.
type FoldOp uint8

// The ways.
const (
	Add      FoldOp = iota // the sum: integers, FLOAT, DOUBLE; ErrRange if it does not fit
	Least                  // the lesser one
	Greatest               // the greater one
	Replace                // the given one
)

// Fold is one column of a group that Upsert changes. Its type must have a fixed
// width and not be DECIMAL.
type Fold struct {
	Col int
	Op  FoldOp
}

// folder changes columns of a stored row by those of a given one.
type folder struct {
	s    *Schema
	cols []*column
	ops  []FoldOp
	vals []int64 // what the columns become, as stored
	set  []bool  // which change
	w    *rowWriter

	sum  *column  // not nil: all there is to do is to add to this BIGINT NOT NULL
	word *wordKey // nil: the key is not one word
	flat bool     // all columns are integers, of the key or folded once
	skip bool     // the last row of a batch that was tried without encoding was new
}

func newFolder(s *Schema, folds []Fold) (*folder, error) {
	f := &folder{s: s, vals: make([]int64, len(folds)), set: make([]bool, len(folds))}
	for _, d := range folds {
		if d.Col < 0 || d.Col >= len(s.cols) {
			return nil, fmt.Errorf("%w: %d", ErrColumn, d.Col)
		}
		c := &s.cols[d.Col]
		if !c.folds(d.Op) {
			return nil, fmt.Errorf("%w: column %d (%s) cannot be folded", ErrType, d.Col, s.public[d.Col].Name)
		}
		f.cols = append(f.cols, c)
		f.ops = append(f.ops, d.Op)
	}
	if len(folds) == 1 && folds[0].Op == Add {
		if c := f.cols[0]; c.kind == kindInt && c.width == 8 && c.nullMask == 0 {
			f.sum = c
		}
	}
	return f, nil
}

// folds reports whether op can be done on values of the column.
func (c *column) folds(op FoldOp) bool {
	switch {
	case c.width == 0 || c.kind == kindDecimal || op > Replace:
		return false
	case op == Add:
		return c.kind <= kindUint || c.kind.float()
	}
	return true
}

// touches reports whether a column of the index would change.
func (f *folder) touches(x *Index) bool {
	return slices.ContainsFunc(f.cols, func(c *column) bool {
		return slices.ContainsFunc(x.spec.Key, func(k KeyPart) bool { return k.Col == int(c.index) })
	})
}

// apply changes the row that is stored in slot, or leaves it if a value does not
// fit. row is the given one.
func (f *folder) apply(slot, row []byte) error {
	for i, c := range f.cols {
		if f.set[i] = !c.isNull(row); f.set[i] {
			f.vals[i] = c.fixed(row)
		}
	}
	return f.merge(slot)
}

// merge is apply with the given values in f.vals.
func (f *folder) merge(slot []byte) error {
	if f.sum != nil && f.set[0] && f.sum.count(slot, f.vals[0]) {
		return nil
	}
	for i, c := range f.cols {
		if !f.set[i] || c.isNull(slot) {
			continue
		}
		v, ok := c.fold(f.ops[i], c.fixed(slot), f.vals[i])
		if !ok {
			return &valueError{cause: ErrRange, row: -1, col: int(c.index), name: f.s.public[c.index].Name}
		}
		f.vals[i] = v
	}
	for i, c := range f.cols {
		if f.set[i] {
			putFixed(slot[c.off:], c.width, f.vals[i])
			slot[c.nullOff] &^= c.nullMask
		}
	}
	return nil
}

// count adds to a BIGINT that is not NULL, if the sum fits.
func (c *column) count(slot []byte, d int64) bool {
	at := slot[c.off : c.off+8]
	old := int64(binary.LittleEndian.Uint64(at))
	sum := old + d
	if (sum >= old) != (d >= 0) {
		return false
	}
	binary.LittleEndian.PutUint64(at, uint64(sum))
	return true
}

// fold combines two stored values.
func (c *column) fold(op FoldOp, old, given int64) (int64, bool) {
	switch {
	case op == Replace:
		return given, true
	case op == Add && c.kind == kindInt:
		sum := old + given
		return sum, sum >= c.min && sum <= c.max && (sum >= old) == (given >= 0)
	case op == Add && c.kind == kindUint:
		sum, carry := bits.Add64(uint64(old), uint64(given), 0)
		return int64(sum), carry == 0 && sum <= uint64(c.max)
	case c.kind.float():
		return c.foldFloat(op, c.loadedFloat(old), c.loadedFloat(given))
	case (op == Least) == c.less(given, old):
		return given, true
	}
	return old, true
}

func (c *column) foldFloat(op FoldOp, old, given float64) (int64, bool) {
	switch op {
	case Least:
		old = math.Min(old, given)
	case Greatest:
		old = math.Max(old, given)
	default:
		old += given
	}
	return c.storedFloat(old)
}

// less orders two stored values of a kind that is not a float.
func (c *column) less(a, b int64) bool {
	if c.kind == kindInt || c.kind == kindTime {
		return a < b
	}
	return uint64(a) < uint64(b)
}
