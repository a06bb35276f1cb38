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
	cols    []column
	buf     []byte // the row with 2-byte end offsets, which finish writes
	n       int    // the bytes of buf in use; slack more are always there
	ends    []int  // of the variable values, from the first variable byte
	top     int    // how many of ends are known; later values are not set
	err     error
	missing []uint64 // a bit for each NOT NULL column without a value

	// What small rows need, so that a writer is one allocation.
	inline struct {
		ends    [4]int
		missing [1]uint64
		buf     [128]byte
	}
}

// slack is what finish may add: zeros up to a multiple of 8, or to the least.
const slack = minRowLen

func newRowWriter(s *Schema) *rowWriter {
	w := &rowWriter{}
	w.init(s)
	return w
}

// init readies a writer that stays where it is.
func (w *rowWriter) init(s *Schema) {
	w.s, w.cols = s, s.cols
	w.ends, w.missing = w.inline.ends[:], w.inline.missing[:]
	if s.numVar > len(w.ends) {
		w.ends = make([]int, s.numVar)
	}
	if len(s.missing) > len(w.missing) {
		w.missing = make([]uint64, len(s.missing))
	}
	w.ends, w.missing = w.ends[:s.numVar], w.missing[:len(s.missing)]
	w.dropScratch()
}

// begin starts a row: all NULL, no error.
func (w *rowWriter) begin() {
	w.n = copy(w.buf, w.s.template)
	w.top = 0
	w.err = nil
	copy(w.missing, w.s.missing)
}

// dropScratch starts a row in a scratch of the least size, after one that made
// it large.
func (w *rowWriter) dropScratch() {
	w.buf = w.inline.buf[:]
	if n := len(w.s.template) + slack; n > len(w.buf) {
		w.buf = make([]byte, n)
	}
	w.begin()
}

// fail is kept out of line, off the hot paths.
//
//go:noinline
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
	if uint(col) >= uint(len(w.cols)) {
		w.fail(ErrColumn, col)
		return nil
	}
	return &w.cols[col]
}

// present notes that the column has a value.
func (w *rowWriter) present(c *column) {
	if c.nullMask != 0 {
		w.buf[c.nullOff] &^= c.nullMask
		return
	}
	w.missing[c.index>>6] &^= 1 << (c.index & 63)
}

// setInt sets a value in the integer form that Type describes.
func (w *rowWriter) setInt(col int, v int64) {
	if uint(col) < uint(len(w.cols)) {
		c := &w.cols[col]
		if c.kind == kindInt && c.width == 4 && int64(int32(v)) == v {
			binary.LittleEndian.PutUint32(w.buf[c.off:c.off+4], uint32(v))
			w.present(c)
			return
		}
		if c.kind == kindTime && c.fsp == 0 {
			w.setSeconds(c, v)
			return
		}
	}
	w.setOther(col, v)
}

// setSeconds is setInt for TIME without a fraction.
func (w *rowWriter) setSeconds(c *column, v int64) {
	q := v / 1e6
	if uint64(v+maxTime) > 2*maxTime || q*1e6 != v {
		w.fail(ErrRange, int(c.index))
		return
	}
	put24(w.buf[c.off:c.off+3], q)
	w.present(c)
}

// setOther is setInt for all kinds, and refuses what does not fit.
func (w *rowWriter) setOther(col int, v int64) {
	c := w.column(col)
	if c == nil {
		return
	}
	if c.kind >= kindFloat {
		w.fail(ErrType, col)
		return
	}
	q, ok := c.stored(v)
	if !ok {
		w.fail(ErrRange, col)
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
		w.setOther(col, int64(d/time.Microsecond))
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

// setBytes sets a string, or a DECIMAL from its text. The bytes are copied.
func (w *rowWriter) setBytes(col int, v []byte) {
	c := w.variable(col)
	if c == nil {
		w.setDecimal(col, v)
		return
	}
	copy(w.room(int(c.varIndex), len(v)), v)
	if c.kind != kindBytes || len(v) > int(c.length) {
		w.settle(c, len(v))
		return
	}
	w.present(c)
}

// setString is setBytes.
func (w *rowWriter) setString(col int, v string) {
	c := w.variable(col)
	if c == nil {
		w.setDecimal(col, []byte(v))
		return
	}
	copy(w.room(int(c.varIndex), len(v)), v)
	if c.kind != kindBytes || len(v) > int(c.length) {
		w.settle(c, len(v))
		return
	}
	w.present(c)
}

// setDecimal sets a DECIMAL, or fails for what takes no bytes.
func (w *rowWriter) setDecimal(col int, text []byte) {
	c := w.column(col)
	switch {
	case c == nil:
	case c.kind != kindDecimal:
		w.fail(ErrType, col)
	case !c.putDecimal(w.buf[c.off:], text):
		w.fail(ErrRange, col)
	default:
		w.present(c)
	}
}

// settle checks the n bytes that were just written for c, cuts or fills them.
func (w *rowWriter) settle(c *column, n int) {
	j := int(c.varIndex)
	keep, ok := c.fit(w.value(j))
	if !ok {
		w.fail(ErrTooLong, int(c.index))
		return
	}
	w.resize(j, keep)
	clear(w.value(j)[min(n, keep):])
	w.present(c)
}

// variable is the column to set if it is a variable one.
func (w *rowWriter) variable(col int) *column {
	if uint(col) < uint(len(w.cols)) {
		if c := &w.cols[col]; c.width == 0 {
			return c
		}
	}
	return nil
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
		w.room(int(c.varIndex), 0)
	default:
		clear(w.buf[c.off : c.off+int32(c.width)])
	}
	w.buf[c.nullOff] |= c.nullMask
}

// room makes the j-th variable value n bytes long and returns its bytes, to be
// filled at once. In the order of the columns that is an append.
func (w *rowWriter) room(j, n int) []byte {
	if j == w.top && w.n+n+slack <= len(w.buf) {
		v := w.buf[w.n : w.n+n]
		w.n += n
		w.ends[j] = w.n - len(w.s.template)
		w.top++
		return v
	}
	return w.roomSlow(j, n)
}

func (w *rowWriter) roomSlow(j, n int) []byte {
	w.fillEnds(j + 1)
	return w.resize(j, n)
}

// fillEnds makes the ends of the first k values known.
func (w *rowWriter) fillEnds(k int) {
	for ; w.top < k; w.top++ {
		w.ends[w.top] = w.n - len(w.s.template)
	}
}

// value is the j-th variable value; its end is known.
func (w *rowWriter) value(j int) []byte {
	base := len(w.s.template)
	from, to := base, base+w.ends[j]
	if j > 0 {
		from += w.ends[j-1]
	}
	return w.buf[from:to]
}

// resize changes the length of a value that others may follow, keeping its
// bytes as far as they fit. What it adds is not cleared.
func (w *rowWriter) resize(j, n int) []byte {
	to := len(w.s.template) + w.ends[j]
	more := n - len(w.value(j))
	w.grow(more)
	copy(w.buf[to+more:w.n+max(more, 0)], w.buf[to:w.n])
	w.n += more
	for i := j; i < w.top; i++ {
		w.ends[i] += more
	}
	return w.value(j)
}

// grow makes room for n more bytes.
func (w *rowWriter) grow(n int) {
	need := w.n + n + slack
	if need <= len(w.buf) {
		return
	}
	grown := make([]byte, max(need, min(2*len(w.buf), need+1<<20)))
	copy(grown, w.buf[:w.n])
	w.buf = grown
}

// finish returns the encoding, which lives until the next begin. A wide row has
// flagChained and no length in its header.
func (w *rowWriter) finish() ([]byte, error) {
	missing := uint64(0)
	for _, m := range w.missing {
		missing |= m
	}
	if missing != 0 || w.err != nil {
		return nil, w.failure()
	}
	w.fillEnds(len(w.ends))
	n := align8(max(w.n, minRowLen))
	if n > maxPiece {
		return w.finishWide()
	}
	clear8x2(w.buf[w.n : w.n+slack])
	off := w.s.endsOff
	for _, end := range w.ends {
		binary.LittleEndian.PutUint16(w.buf[off:off+2], uint16(end))
		off += 2
	}
	setHeader(w.buf, makeHeader(n, 0))
	return w.buf[:n], nil
}

// clear8x2 clears 16 bytes.
func clear8x2(b []byte) {
	binary.LittleEndian.PutUint64(b, 0)
	binary.LittleEndian.PutUint64(b[8:], 0)
}

// finishWide moves the variable bytes to make room for 4-byte end offsets.
func (w *rowWriter) finishWide() ([]byte, error) {
	narrow, wide := len(w.s.template), w.s.wideBase()
	if w.n-narrow > math.MaxUint32 {
		w.fail(ErrTooLong, -1)
		return nil, w.err
	}
	w.grow(wide - narrow)
	end := w.n + wide - narrow
	copy(w.buf[wide:end], w.buf[narrow:w.n])
	row := w.buf[:align8(end)]
	clear(row[end:])
	for j, end := range w.ends {
		binary.LittleEndian.PutUint32(row[w.s.endsOff+4*j:], uint32(end))
	}
	setHeader(row, flagChained)
	return row, nil
}

// failure is the error of the row: the first that was met, or the first NOT NULL
// column without a value.
func (w *rowWriter) failure() error {
	for i, m := range w.missing {
		if m != 0 {
			w.fail(ErrNull, i*64+bits.TrailingZeros64(m))
		}
	}
	return w.err
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
			return int(c.length), n <= int(c.length)
		}
	}
	return n, n <= int(c.length) || c.charsFit(v[:n])
}

// charsFit reports whether a string with more bytes than Length has no more
// characters, where the collation counts those.
func (c *column) charsFit(v []byte) bool {
	return c.coll != nil && c.coll.chars != nil && len(v) <= MaxValueLen && c.coll.chars.Chars(v) <= int(c.length)
}

// putFixed stores the low width bytes of v.
func putFixed(dst []byte, width uint8, v int64) {
	switch width {
	case 4:
		binary.LittleEndian.PutUint32(dst, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(dst, uint64(v))
	case 3:
		put24(dst, v)
	case 1:
		dst[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(v))
	default:
		putOdd(dst, width, v)
	}
}

// put24 stores the low 3 bytes of v.
func put24(dst []byte, v int64) {
	_ = dst[2]
	binary.LittleEndian.PutUint16(dst, uint16(v))
	dst[2] = byte(v >> 16)
}

// putOdd stores 5 to 7 bytes.
func putOdd(dst []byte, width uint8, v int64) {
	binary.LittleEndian.PutUint32(dst, uint32(v))
	for i := uint8(4); i < width; i++ {
		dst[i] = byte(v >> (8 * i))
	}
}
