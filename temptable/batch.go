package temptable

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Batch is a run of rows by columns: what InsertBatch takes and ReadBatch
// gives.
type Batch struct {
	// N is the number of rows.
	N int
	// Sel, if not nil, selects them: row k is at place Sel[k] of the vectors.
	// Otherwise it is at place k.
	Sel []int32
	// Cols has a vector for each column of the table.
	Cols []Vector
}

// Vector is one column of a batch. Which of its fields count follows from the
// column's type: see [Type].
type Vector struct {
	// Valid has a bit for each place, set where there is a value; nil says that
	// there are no NULLs.
	Valid []uint64
	// I64 has integers and temporal values.
	I64 []int64
	// F64 has FLOAT and DOUBLE.
	F64 []float64
	// Off has one entry more than there are places: the value at place i is
	// Bytes[Off[i]:Off[i+1]].
	Off   []int32
	Bytes []byte
}

// Reset empties b and keeps its memory.
func (b *Batch) Reset() {
	b.N, b.Sel = 0, nil
	for i := range b.Cols {
		v := &b.Cols[i]
		v.Valid, v.I64, v.F64, v.Off, v.Bytes = v.Valid[:0], v.I64[:0], v.F64[:0], v.Off[:0], v.Bytes[:0]
	}
}

// isNull reports whether place i has no value.
func (v *Vector) isNull(i int) bool {
	return v.Valid != nil && v.Valid[i>>6]&(1<<(i&63)) == 0
}

// chunkRows is how many rows are encoded at a time, column by column, so that
// they stay in the first cache.
const chunkRows = 256

// batchEncoder encodes the rows of batches back to back. The zero value with a
// schema is ready; it is some 5 KiB large.
type batchEncoder struct {
	s *Schema
	// offs are the offsets of the rows of the last call in its scratch, and the
	// end of the last one.
	offs []int32
	// need is the length of the first row that the scratch had no room for.
	need int

	sizes  [chunkRows]int   // of the rows with 2-byte ends, before alignment
	filled [chunkRows]int   // the variable bytes written so far
	vals   [chunkRows]int64 // a fixed column, when it cannot be used in place
}

// encode encodes rows from, from+1, … of b into scratch, as many of those below
// to as fit, and returns how many. When not even the first one fits it returns
// 0 and no error, and need says what it takes. On an error, which names the
// row, exactly the rows before it are encoded. scratch is at most 2 GiB.
func (e *batchEncoder) encode(b *Batch, from, to int, scratch []byte) (int, error) {
	e.offs = append(e.offs[:0], 0)
	if err := e.checkShape(b, from, to); err != nil {
		return 0, err
	}
	done := from
	for done < to {
		n := min(to-done, chunkRows)
		k, err := e.chunk(b, done, n, scratch)
		done += k
		if err != nil || k < n {
			return done - from, err
		}
	}
	return done - from, nil
}

// chunkState is one chunk under way: its rows [from, from+n) of the batch, n
// shrinking to the rows before the first error.
type chunkState struct {
	b    *Batch
	from int
	n    int
	buf  []byte
	offs []int32
	err  error
}

// place is where row i of the chunk is in the vectors.
func (c *chunkState) place(i int) int {
	if c.b.Sel == nil {
		return c.from + i
	}
	return int(c.b.Sel[c.from+i])
}

func (c *chunkState) fail(cause error, i int, col *column, name string) {
	c.n = i
	c.err = &valueError{cause: cause, row: c.from + i, col: int(col.index), name: name}
}

func (e *batchEncoder) chunk(b *Batch, from, n int, scratch []byte) (int, error) {
	c := chunkState{b: b, from: from, n: n, buf: scratch}
	e.measure(&c)
	c.offs = e.allot(&c)
	for i := range e.s.cols {
		e.column(&c, &e.s.cols[i])
	}
	e.offs = e.offs[:len(e.offs)-len(c.offs)+c.n+1]
	return c.n, c.err
}

// measure adds up the lengths of the variable values.
func (e *batchEncoder) measure(c *chunkState) {
	for i := range c.n {
		e.sizes[i] = len(e.s.template)
	}
	for i := range e.s.cols {
		if col := &e.s.cols[i]; col.width == 0 {
			e.measureColumn(c, col)
		}
	}
}

func (e *batchEncoder) measureColumn(c *chunkState, col *column) {
	v := &c.b.Cols[col.index]
	plain := col.kind == kindBytes
	for i := range c.n {
		p := c.place(i)
		from, to := v.Off[p], v.Off[p+1]
		if v.isNull(p) {
			continue
		}
		if from < 0 || from > to || int(to) > len(v.Bytes) {
			c.fail(ErrBatch, i, col, e.s.public[col.index].Name)
			return
		}
		n := int(to - from)
		if !plain || n > int(col.length) {
			keep, ok := col.fit(v.Bytes[from:to])
			if !ok {
				c.fail(ErrTooLong, i, col, e.s.public[col.index].Name)
				return
			}
			n = keep
		}
		e.sizes[i] += n
	}
}

// allot gives each row its place, as far as the scratch goes, clears it and
// writes the headers. It returns the rows' offsets.
func (e *batchEncoder) allot(c *chunkState) []int32 {
	first := len(e.offs) - 1
	start := int(e.offs[first])
	off, limit := start, min(len(c.buf), math.MaxInt32)
	for i := range c.n {
		n := align8(max(e.sizes[i], minRowLen))
		if n > maxPiece {
			n = align8(e.sizes[i] + 2*e.s.numVar)
		}
		if n > limit-off {
			e.need = n
			c.n = i
			c.err = nil
			break
		}
		off += n
		e.offs = append(e.offs, int32(off))
	}
	clear(c.buf[start:off])
	offs := e.offs[first:]
	for i := range c.n {
		h := uint16(flagChained)
		if n := int(offs[i+1] - offs[i]); e.sizes[i] <= maxPiece {
			h = makeHeader(n, 0)
		}
		setHeader(c.buf[offs[i]:], h)
	}
	return offs
}

func (e *batchEncoder) column(c *chunkState, col *column) {
	v := &c.b.Cols[col.index]
	if v.Valid != nil {
		e.nulls(c, col, v)
	}
	switch {
	case col.width == 0:
		e.variable(c, col, v)
	case col.kind.float():
		e.store(c, col, e.floats(c, col, v))
	default:
		e.store(c, col, e.ints(c, col, v))
	}
}

// nulls sets the null bits, or fails for a NOT NULL column.
func (e *batchEncoder) nulls(c *chunkState, col *column, v *Vector) {
	for i := range c.n {
		if !v.isNull(c.place(i)) {
			continue
		}
		if col.nullMask == 0 {
			c.fail(ErrNull, i, col, e.s.public[col.index].Name)
			return
		}
		c.buf[c.offs[i]+col.nullOff] |= col.nullMask
	}
}

// ints returns the stored integers of the chunk, 0 for NULL.
func (e *batchEncoder) ints(c *chunkState, col *column, v *Vector) []int64 {
	src := e.gather(c, v)
	if col.kind == kindInt {
		e.checkInts(c, col, src)
		return src
	}
	for i := range src[:c.n] {
		q, ok := col.stored(src[i])
		if !ok {
			c.fail(ErrRange, i, col, e.s.public[col.index].Name)
			break
		}
		e.vals[i] = q
	}
	return e.vals[:]
}

func (e *batchEncoder) checkInts(c *chunkState, col *column, src []int64) {
	span := uint64(col.max) - uint64(col.min)
	for i, v := range src[:c.n] {
		if uint64(v)-uint64(col.min) > span {
			c.fail(ErrRange, i, col, e.s.public[col.index].Name)
			return
		}
	}
}

// gather returns the chunk's integers: in place where nothing is selected and
// nothing NULL.
func (e *batchEncoder) gather(c *chunkState, v *Vector) []int64 {
	if c.b.Sel == nil && v.Valid == nil {
		return v.I64[c.from : c.from+c.n]
	}
	for i := range c.n {
		p := c.place(i)
		e.vals[i] = 0
		if !v.isNull(p) {
			e.vals[i] = v.I64[p]
		}
	}
	return e.vals[:c.n]
}

// floats returns the bits of the chunk's floats, 0 for NULL.
func (e *batchEncoder) floats(c *chunkState, col *column, v *Vector) []int64 {
	for i := range c.n {
		p := c.place(i)
		e.vals[i] = 0
		if v.isNull(p) {
			continue
		}
		q, ok := col.storedFloat(v.F64[p])
		if !ok {
			c.fail(ErrRange, i, col, e.s.public[col.index].Name)
			break
		}
		e.vals[i] = q
	}
	return e.vals[:]
}

// store writes the chunk's values of a fixed column.
func (e *batchEncoder) store(c *chunkState, col *column, vals []int64) {
	vals, offs, off := vals[:c.n], c.offs[:c.n], int(col.off)
	switch col.width {
	case 4:
		for i, v := range vals {
			binary.LittleEndian.PutUint32(c.buf[int(offs[i])+off:], uint32(v))
		}
	case 8:
		for i, v := range vals {
			binary.LittleEndian.PutUint64(c.buf[int(offs[i])+off:], uint64(v))
		}
	case 3:
		for i, v := range vals {
			dst := c.buf[int(offs[i])+off:]
			binary.LittleEndian.PutUint16(dst, uint16(v))
			dst[2] = byte(v >> 16)
		}
	default:
		for i, v := range vals {
			putFixed(c.buf[int(offs[i])+off:], col.width, v)
		}
	}
}

// variable writes the chunk's values of a variable column and their ends.
func (e *batchEncoder) variable(c *chunkState, col *column, v *Vector) {
	if col.varIndex == 0 {
		clear(e.filled[:c.n])
	}
	base := len(e.s.template)
	for i := range c.n {
		row := c.buf[c.offs[i]:c.offs[i+1]]
		src, n := col.valueAt(v, c.place(i))
		at := e.filled[i]
		e.filled[i] += n
		if header(row)&flagChained != 0 {
			copy(row[e.s.wideBase()+at:], src)
			binary.LittleEndian.PutUint32(row[e.s.endsOff+4*int(col.varIndex):], uint32(at+n))
			continue
		}
		copy(row[base+at:], src)
		binary.LittleEndian.PutUint16(row[col.off:], uint16(at+n))
	}
}

// valueAt is the bytes at place p and the length they have in the row: none for
// NULL, more than there are bytes where zeros follow.
func (c *column) valueAt(v *Vector, p int) (src []byte, n int) {
	if v.isNull(p) {
		return nil, 0
	}
	src = v.Bytes[v.Off[p]:v.Off[p+1]]
	if c.kind == kindBytes {
		return src, len(src)
	}
	n, _ = c.fit(src)
	return src[:min(n, len(src))], n
}

// checkShape makes sure that the vectors have all places that the rows are at.
func (e *batchEncoder) checkShape(b *Batch, from, to int) error {
	if from < 0 || to > b.N || b.Sel != nil && len(b.Sel) < to {
		return fmt.Errorf("%w: rows %d to %d of %d, %d selected", ErrBatch, from, to, b.N, len(b.Sel))
	}
	if len(b.Cols) != len(e.s.cols) {
		return fmt.Errorf("%w: %d vectors for %d columns", ErrBatch, len(b.Cols), len(e.s.cols))
	}
	places := to
	if b.Sel != nil {
		var err error
		if places, err = selected(b.Sel[from:to]); err != nil {
			return err
		}
	}
	for i := range e.s.cols {
		if have := b.Cols[i].places(&e.s.cols[i]); have < places {
			return fmt.Errorf("%w: column %d (%s) has %d places of %d", ErrBatch, i, e.s.public[i].Name, have, places)
		}
	}
	return nil
}

// selected is one more than the highest place in sel.
func selected(sel []int32) (int, error) {
	top := int32(-1)
	for _, p := range sel {
		if p < 0 {
			return 0, fmt.Errorf("%w: place %d is selected", ErrBatch, p)
		}
		top = max(top, p)
	}
	return int(top) + 1, nil
}

// places is the number of places that v has for a column.
func (v *Vector) places(c *column) int {
	n := len(v.I64)
	switch {
	case c.width == 0:
		n = max(0, len(v.Off)-1)
	case c.kind.float():
		n = len(v.F64)
	}
	if v.Valid != nil {
		n = min(n, 64*len(v.Valid))
	}
	return n
}
