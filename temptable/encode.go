package temptable

import (
	"encoding/binary"
	"math"
	"slices"
)

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

	// The chunk under way: rows [from, from+n) of b, n shrinking to the rows
	// before the first error; at are their offsets in buf.
	b    *Batch
	from int
	n    int
	buf  []byte
	at   []int32
	wide bool // whether a row of the chunk has 4-byte ends
	err  error

	sizes  [chunkRows]int   // of the rows with 2-byte ends, before alignment
	filled [chunkRows]int   // the variable bytes written so far
	vals   [chunkRows]int64 // of a fixed column, when they cannot be used in place
}

// encode encodes rows from, from+1, … of b into scratch, as many of those below
// to as fit, and returns how many. When not even the first one fits it returns
// 0 and no error, and need says what it takes. On an error, which names the
// row, exactly the rows before it are encoded. scratch is used up to 2 GiB.
func (e *batchEncoder) encode(b *Batch, from, to int, scratch []byte) (int, error) {
	e.offs = append(e.offs[:0], 0)
	if err := checkShape(e.s, b, from, to); err != nil {
		return 0, err
	}
	e.b, e.buf = b, scratch[:min(len(scratch), math.MaxInt32)]
	done := from
	for done < to {
		n := min(to-done, chunkRows)
		k, err := e.chunk(done, n)
		done += k
		if err != nil || k < n {
			return done - from, err
		}
	}
	return done - from, nil
}

func (e *batchEncoder) chunk(from, n int) (int, error) {
	e.from, e.n, e.err = from, n, nil
	e.measure()
	e.allot()
	for i := range e.s.cols {
		e.column(&e.s.cols[i], &e.b.Cols[i])
	}
	e.offs = e.offs[:len(e.offs)-len(e.at)+e.n+1]
	return e.n, e.err
}

// fail ends the chunk before its row i. It is kept out of line, off the hot
// paths.
//
//go:noinline
func (e *batchEncoder) fail(cause error, i int, c *column) {
	e.n = i
	e.err = &valueError{cause: cause, row: e.from + i, col: int(c.index), name: e.s.public[c.index].Name}
}

// place is where row i of the chunk is in the vectors.
func (e *batchEncoder) place(i int) int {
	if e.b.Sel == nil {
		return e.from + i
	}
	return int(e.b.Sel[e.from+i])
}

// measure adds up the lengths of the rows.
func (e *batchEncoder) measure() {
	sizes, base := e.sizes[:e.n], len(e.s.template)
	for i := range sizes {
		sizes[i] = base
	}
	for i := range e.s.cols {
		c, v := &e.s.cols[i], &e.b.Cols[i]
		switch {
		case c.width != 0:
		case e.inPlace(v) && c.kind == kindBytes:
			e.measureInPlace(c, v)
		default:
			e.measureColumn(c, v)
		}
	}
}

// inPlace reports whether the chunk's values follow each other in v.
func (e *batchEncoder) inPlace(v *Vector) bool { return e.b.Sel == nil && v.Valid == nil }

func (e *batchEncoder) measureInPlace(c *column, v *Vector) {
	ends := v.Off[e.from+1 : e.from+e.n+1]
	sizes := e.sizes[:len(ends)]
	last, limit, length := v.Off[e.from], len(v.Bytes), uint32(c.length)
	for i, end := range ends {
		n := uint32(end - last)
		if last < 0 || int(end) > limit || n > length {
			keep, ok := e.measureValue(c, v, i)
			if !ok {
				return
			}
			n = uint32(keep)
		}
		sizes[i] += int(n)
		last = end
	}
}

func (e *batchEncoder) measureColumn(c *column, v *Vector) {
	for i := range e.n {
		if v.isNull(e.place(i)) {
			continue
		}
		n, ok := e.measureValue(c, v, i)
		if !ok {
			return
		}
		e.sizes[i] += n
	}
}

// measureValue is the stored length of row i's value, or a failure.
func (e *batchEncoder) measureValue(c *column, v *Vector, i int) (int, bool) {
	p := e.place(i)
	from, to := v.Off[p], v.Off[p+1]
	if !v.span(from, to) {
		e.fail(ErrBatch, i, c)
		return 0, false
	}
	n, ok := c.fit(v.Bytes[from:to])
	if !ok {
		e.fail(ErrTooLong, i, c)
	}
	return n, ok
}

// allot gives each row its place, as far as the scratch goes, writes the header
// and clears what no value will fill: the null bitmap and the padding.
func (e *batchEncoder) allot() {
	first := len(e.offs) - 1
	e.offs = slices.Grow(e.offs, e.n)[:first+1+e.n]
	e.at = e.offs[first:]
	e.wide = false
	buf, off := e.buf, int(e.at[0])
	for i, size := range e.sizes[:e.n] {
		n := align8(max(size, minRowLen))
		h := uint64(n / 8)
		if n > maxPiece {
			n, h, e.wide = align8(size+2*e.s.numVar), flagChained, true
		}
		end := off + n
		if end > len(buf) {
			e.need, e.n, e.err = n, i, nil
			break
		}
		binary.LittleEndian.PutUint64(buf[end-8:end], 0)
		binary.LittleEndian.PutUint64(buf[off:off+8], h)
		e.at[i+1] = int32(end)
		off = end
	}
	if e.s.bitmapLen > 8-headerLen {
		e.clearBitmaps()
	}
}

func (e *batchEncoder) clearBitmaps() {
	for _, k := range e.at[:e.n] {
		clear(e.buf[k+headerLen : k+headerLen+int32(e.s.bitmapLen)])
	}
}

func (e *batchEncoder) column(c *column, v *Vector) {
	if v.Valid != nil {
		e.nulls(c, v)
	}
	switch {
	case c.width == 0 && c.kind == kindBytes && e.inPlace(v) && !e.wide:
		e.variableInPlace(c, v)
	case c.width == 0:
		e.variable(c, v)
	case c.kind == kindDecimal:
		e.decimals(c, v)
	case c.kind.float():
		e.floats(c, v)
	case c.kind == kindTime && c.fsp == 0:
		e.seconds(c, e.gather(v))
	case c.kind == kindInt && c.width == 4:
		e.int32s(c, e.gather(v))
	default:
		e.ints(c, e.gather(v))
	}
}

// nulls sets the null bits, or fails for a NOT NULL column.
func (e *batchEncoder) nulls(c *column, v *Vector) {
	for i := range e.n {
		if !v.isNull(e.place(i)) {
			continue
		}
		if c.nullMask == 0 {
			e.fail(ErrNull, i, c)
			return
		}
		e.buf[e.at[i]+c.nullOff] |= c.nullMask
	}
}

// gather returns the chunk's integers: in place where nothing is selected and
// nothing NULL.
func (e *batchEncoder) gather(v *Vector) []int64 {
	if e.inPlace(v) {
		return v.I64[e.from : e.from+e.n]
	}
	for i := range e.n {
		p := e.place(i)
		e.vals[i] = 0
		if !v.isNull(p) {
			e.vals[i] = v.I64[p]
		}
	}
	return e.vals[:e.n]
}

// ints writes the chunk's values of an integer or temporal column.
func (e *batchEncoder) ints(c *column, src []int64) {
	buf, at := e.buf, e.at[:len(src)]
	for i, v := range src {
		q, ok := c.stored(v)
		if !ok {
			e.fail(ErrRange, i, c)
			return
		}
		putFixed(buf[at[i]+c.off:], c.width, q)
	}
}

// int32s is ints for INT.
func (e *batchEncoder) int32s(c *column, src []int64) {
	buf, at, off := e.buf, e.at[:len(src)], c.off
	for i, v := range src {
		if int64(int32(v)) != v {
			e.fail(ErrRange, i, c)
			return
		}
		k := at[i] + off
		binary.LittleEndian.PutUint32(buf[k:k+4], uint32(v))
	}
}

// seconds is ints for TIME without a fraction.
func (e *batchEncoder) seconds(c *column, src []int64) {
	buf, at, off := e.buf, e.at[:len(src)], c.off
	for i, v := range src {
		q := v / 1e6
		if uint64(v+maxTime) > 2*maxTime || q*1e6 != v {
			e.fail(ErrRange, i, c)
			return
		}
		k := at[i] + off
		put24(buf[k:k+3], q)
	}
}

// floats writes the chunk's values of a FLOAT or DOUBLE, zeros for NULL.
func (e *batchEncoder) floats(c *column, v *Vector) {
	for i := range e.n {
		p, q, ok := e.place(i), int64(0), true
		if !v.isNull(p) {
			q, ok = c.storedFloat(v.F64[p])
		}
		if !ok {
			e.fail(ErrRange, i, c)
			return
		}
		putFixed(e.buf[e.at[i]+c.off:], c.width, q)
	}
}

// decimals writes the chunk's values of a DECIMAL, zeros for NULL.
func (e *batchEncoder) decimals(c *column, v *Vector) {
	for i := range e.n {
		p, k := e.place(i), e.at[i]+c.off
		dst := e.buf[k : k+int32(c.width)]
		if v.isNull(p) {
			clear(dst)
			continue
		}
		from, to := v.Off[p], v.Off[p+1]
		if !v.span(from, to) {
			e.fail(ErrBatch, i, c)
			return
		}
		if !c.putDecimal(dst, v.Bytes[from:to]) {
			e.fail(ErrRange, i, c)
			return
		}
	}
}

// span reports whether Bytes has what the offsets say.
func (v *Vector) span(from, to int32) bool {
	return from >= 0 && from <= to && int(to) <= len(v.Bytes)
}

// variableInPlace is variable for the plain case.
func (e *batchEncoder) variableInPlace(c *column, v *Vector) {
	if c.varIndex == 0 {
		clear(e.filled[:e.n])
	}
	ends := v.Off[e.from+1 : e.from+e.n+1]
	at, filled := e.at[:len(ends)], e.filled[:len(ends)]
	buf, text, last := e.buf, v.Bytes, int(v.Off[e.from])
	off, base := c.off, int(c.base)
	for i, end := range ends {
		src := text[last:end]
		row := int(at[i])
		to := filled[i] + len(src)
		copy(buf[row+base+filled[i]:], src)
		k := at[i] + off
		binary.LittleEndian.PutUint16(buf[k:k+2], uint16(to))
		filled[i] = to
		last = int(end)
	}
}

// variable writes the chunk's values of a variable column and their ends.
func (e *batchEncoder) variable(c *column, v *Vector) {
	if c.varIndex == 0 {
		clear(e.filled[:e.n])
	}
	for i := range e.n {
		row := e.buf[e.at[i]:e.at[i+1]]
		src, n := c.valueAt(v, e.place(i))
		from := e.filled[i]
		e.filled[i] += n
		base := int(c.base)
		if header(row)&flagChained != 0 {
			base = e.s.wideBase()
			binary.LittleEndian.PutUint32(row[e.s.endsOff+4*int(c.varIndex):], uint32(from+n))
		} else {
			binary.LittleEndian.PutUint16(row[c.off:], uint16(from+n))
		}
		dst := row[base+from : base+from+n]
		clear(dst[copy(dst, src):])
	}
}

// valueAt is the bytes at place p and the length they have in the row: none for
// NULL, more than there are bytes where zeros follow.
func (c *column) valueAt(v *Vector, p int) (src []byte, n int) {
	if v.isNull(p) {
		return nil, 0
	}
	src = v.Bytes[v.Off[p]:v.Off[p+1]]
	n, _ = c.fit(src)
	return src[:min(n, len(src))], n
}
