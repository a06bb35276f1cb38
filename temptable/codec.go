package temptable

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// rowWriter encodes one row at a time into a scratch that it keeps. Setters may
// come in any order; a column that is set twice has the last value. An error
// sticks until begin.
type rowWriter struct {
	s       *Schema
	buf     []byte // the row with 2-byte end offsets; they are written by finish
	ends    []int  // of the variable values, from the first variable byte
	top     int    // how many of ends are known; later values are not set
	missing []uint64
	err     error
}

func newRowWriter(s *Schema) *rowWriter {
	w := &rowWriter{s: s, ends: make([]int, s.numVar), missing: make([]uint64, len(s.missing))}
	w.begin()
	return w
}

// begin starts a row: all NULL, no error.
func (w *rowWriter) begin() {
	w.buf = append(w.buf[:0], w.s.template...)
	w.top = 0
	w.err = nil
	copy(w.missing, w.s.missing)
}

// scratchLen is the capacity held for rows, in bytes.
func (w *rowWriter) scratchLen() int { return cap(w.buf) }

// dropScratch gives up the scratch, after a row that made it large.
func (w *rowWriter) dropScratch() {
	w.buf = nil
	w.begin()
}

func (w *rowWriter) fail(cause error, col int) {
	if w.err != nil {
		return
	}
	e := &valueError{cause: cause, row: -1, col: col}
	if col >= 0 && col < len(w.s.public) {
		e.name = w.s.public[col].Name
	}
	w.err = e
}

// column is the column to set, or nil after an error.
func (w *rowWriter) column(col int) *column {
	if uint(col) >= uint(len(w.s.cols)) {
		w.fail(ErrColumn, col)
		return nil
	}
	return &w.s.cols[col]
}

// present notes that the column has a value.
func (w *rowWriter) present(c *column) {
	if c.nullMask != 0 {
		w.buf[c.nullOff] &^= c.nullMask
		return
	}
	w.missing[c.missing>>6] &^= 1 << (c.missing & 63)
}

// setInt sets a value in the integer form that Type describes.
func (w *rowWriter) setInt(col int, v int64) {
	c := w.column(col)
	if c == nil {
		return
	}
	if c.kind != kindInt || v < c.min || v > c.max {
		w.setOther(c, v)
		return
	}
	putFixed(w.buf[c.off:], c.width, v)
	w.present(c)
}

// setOther is setInt for all kinds, and refuses what does not fit.
func (w *rowWriter) setOther(c *column, v int64) {
	if c.kind >= kindFloat {
		w.fail(ErrType, c.index)
		return
	}
	q, ok := c.stored(v)
	if !ok {
		w.fail(ErrRange, c.index)
		return
	}
	putFixed(w.buf[c.off:], c.width, q)
	w.present(c)
}

// setUint sets an unsigned integer, a BIT or a SET; a signed column takes it if
// it fits.
func (w *rowWriter) setUint(col int, v uint64) {
	if c := w.column(col); c != nil && c.kind != kindUint && v > math.MaxInt64 {
		w.fail(ErrRange, col)
		return
	}
	w.setInt(col, int64(v))
}

// setTime sets a TIME.
func (w *rowWriter) setTime(col int, d time.Duration) {
	c := w.column(col)
	switch {
	case c == nil:
	case c.kind != kindTime:
		w.fail(ErrType, col)
	case d%time.Microsecond != 0:
		w.fail(ErrRange, col)
	default:
		w.setOther(c, int64(d/time.Microsecond))
	}
}

// setFloat sets a FLOAT or DOUBLE.
func (w *rowWriter) setFloat(col int, v float64) {
	c := w.column(col)
	if c == nil {
		return
	}
	if !c.kind.float() {
		w.fail(ErrType, col)
		return
	}
	q, ok := c.storedFloat(v)
	if !ok {
		w.fail(ErrRange, col)
		return
	}
	putFixed(w.buf[c.off:], c.width, q)
	w.present(c)
}

// setBytes sets a variable value, which is copied.
func (w *rowWriter) setBytes(col int, v []byte) {
	c := w.variable(col)
	if c == nil {
		return
	}
	copy(w.room(c.varIndex, len(v)), v)
	w.settle(c, len(v))
}

// setString is setBytes.
func (w *rowWriter) setString(col int, v string) {
	c := w.variable(col)
	if c == nil {
		return
	}
	copy(w.room(c.varIndex, len(v)), v)
	w.settle(c, len(v))
}

// settle checks the n bytes that were just written for c, cuts or fills them.
func (w *rowWriter) settle(c *column, n int) {
	if c.kind != kindBytes || n > c.length {
		v := w.value(c.varIndex)
		keep, ok := c.fit(v)
		if !ok {
			w.fail(ErrTooLong, c.index)
			return
		}
		w.resize(c.varIndex, keep)
		clear(w.value(c.varIndex)[min(n, keep):])
	}
	w.present(c)
}

// variable is column for a setter of bytes.
func (w *rowWriter) variable(col int) *column {
	c := w.column(col)
	if c != nil && c.width != 0 {
		w.fail(ErrType, col)
		return nil
	}
	return c
}

// setNull sets NULL.
func (w *rowWriter) setNull(col int) {
	c := w.column(col)
	switch {
	case c == nil:
		return
	case c.nullMask == 0:
		w.fail(ErrNull, col)
		return
	case c.width == 0:
		w.room(c.varIndex, 0)
	default:
		clear(w.buf[c.off : c.off+int(c.width)])
	}
	w.buf[c.nullOff] |= c.nullMask
}

// room makes the j-th variable value n bytes long and returns its bytes, to be
// filled at once. In the order of the columns that is an append.
func (w *rowWriter) room(j, n int) []byte {
	if j < w.top {
		return w.resize(j, n)
	}
	base := len(w.s.template)
	start := len(w.buf)
	for ; w.top < j; w.top++ {
		w.ends[w.top] = start - base
	}
	w.extend(n)
	w.ends[j] = len(w.buf) - base
	w.top++
	return w.buf[start:]
}

// slack is what finish may add: zeros up to a multiple of 8, or to the least.
const slack = minRowLen

// extend makes the row n bytes longer, with room for finish. The new bytes are
// not cleared.
func (w *rowWriter) extend(n int) {
	need := len(w.buf) + n
	if need+slack > cap(w.buf) {
		grown := make([]byte, len(w.buf), max(need+slack, min(2*cap(w.buf), need+1<<20)))
		copy(grown, w.buf)
		w.buf = grown
	}
	w.buf = w.buf[:need]
}

// value is the j-th variable value, which is set.
func (w *rowWriter) value(j int) []byte {
	base := len(w.s.template)
	from, to := base, base+w.ends[j]
	if j > 0 {
		from += w.ends[j-1]
	}
	return w.buf[from:to]
}

// resize changes the length of a value that others may follow, keeping its
// bytes as far as they fit.
func (w *rowWriter) resize(j, n int) []byte {
	to := len(w.s.template) + w.ends[j]
	grow := n - len(w.value(j))
	old := len(w.buf)
	if grow > 0 {
		w.extend(grow)
	}
	copy(w.buf[to+grow:old+max(grow, 0)], w.buf[to:old])
	w.buf = w.buf[:old+grow]
	for i := j; i < w.top; i++ {
		w.ends[i] += grow
	}
	return w.value(j)
}

// finish returns the encoding, which lives until the next begin. A wide row has
// flagChained and no length in its header.
func (w *rowWriter) finish() ([]byte, error) {
	w.checkMissing()
	if w.err != nil {
		return nil, w.err
	}
	base := len(w.s.template)
	for ; w.top < len(w.ends); w.top++ {
		w.ends[w.top] = len(w.buf) - base
	}
	w.extend(0)
	n := align8(max(len(w.buf), minRowLen))
	if n > maxPiece {
		return w.finishWide()
	}
	row := w.buf[:n]
	clear(row[len(w.buf):])
	for j, end := range w.ends {
		binary.LittleEndian.PutUint16(row[w.s.endsOff+2*j:], uint16(end))
	}
	setHeader(row, makeHeader(n, 0))
	return row, nil
}

// finishWide moves the variable bytes to make room for 4-byte end offsets.
func (w *rowWriter) finishWide() ([]byte, error) {
	base, total := len(w.s.template), len(w.buf)-len(w.s.template)
	if total > math.MaxUint32 {
		w.fail(ErrTooLong, -1)
		return nil, w.err
	}
	wide := w.s.wideBase()
	w.extend(wide - base)
	copy(w.buf[wide:], w.buf[base:base+total])
	row := w.buf[:align8(len(w.buf))]
	clear(row[len(w.buf):])
	for j, end := range w.ends {
		binary.LittleEndian.PutUint32(row[w.s.endsOff+4*j:], uint32(end))
	}
	setHeader(row, flagChained)
	return row, nil
}

// checkMissing fails for the first NOT NULL column without a value.
func (w *rowWriter) checkMissing() {
	for i, m := range w.missing {
		if m != 0 {
			w.failMissing(i*64 + bits.TrailingZeros64(m))
			return
		}
	}
}

func (w *rowWriter) failMissing(bit int) {
	for i := range w.s.cols {
		if c := &w.s.cols[i]; c.nullMask == 0 && c.missing == bit {
			w.fail(ErrNull, i)
			return
		}
	}
}

// fit returns how long v is as the column stores it: cut, or filled with zero
// bytes. It reports false for what is too long.
func (c *column) fit(v []byte) (keep int, ok bool) {
	n := len(v)
	switch c.kind {
	case kindChar:
		for n > 0 && v[n-1] == ' ' {
			n--
		}
	case kindBinary:
		if c.length != MaxValueLen {
			return c.length, n <= c.length
		}
	}
	return n, n <= c.length || c.chars != nil && n <= MaxValueLen && c.chars.Chars(v[:n]) <= c.length
}

// putFixed stores the low width bytes of v.
func putFixed(dst []byte, width uint8, v int64) {
	switch width {
	case 4:
		binary.LittleEndian.PutUint32(dst, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(dst, uint64(v))
	case 3:
		binary.LittleEndian.PutUint16(dst, uint16(v))
		dst[2] = byte(v >> 16)
	case 1:
		dst[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(v))
	default:
		putOdd(dst, width, v)
	}
}

// putOdd stores 5 to 7 bytes.
func putOdd(dst []byte, width uint8, v int64) {
	binary.LittleEndian.PutUint32(dst, uint32(v))
	for i := uint8(4); i < width; i++ {
		dst[i] = byte(v >> (8 * i))
	}
}
