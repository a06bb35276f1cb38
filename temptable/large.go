package temptable

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dgryski/go-farm"
	"github.com/spillway-db/spillway/allocator"
)

// A value longer than maxInline that a reader gave is large: it is stored in
// pieces of its own, and the row has a reference in its place,
//
//	u64 length | u64 id of the first piece | u64 contentHash
//
// whose end offset has endLarge set. Such a row has flagLarge and flagChained,
// however short it is. The pieces of all its large values are the end of the
// row's own chain, so whatever frees the row's pieces frees them too.
//
// Whether a value is large does not matter to what it is equal to: hash and
// equality are of the content.
const (
	maxInline = maxPiece
	refLen    = 24
	endLarge  = 1 << 31
	maxRowLen = math.MaxUint32 // what 4-byte end offsets can say
)

// reference is what a row has of a large value.
type reference struct {
	n     int64
	first RowID
	hash  uint64
}

func (r *reference) put(dst []byte) {
	binary.LittleEndian.PutUint64(dst, uint64(r.n))
	binary.LittleEndian.PutUint64(dst[8:], uint64(r.first))
	binary.LittleEndian.PutUint64(dst[16:], r.hash)
}

// large returns what the row has of a variable value if that is a large one.
func (c *column) large(s *Schema, row []byte) (r reference, ok bool) {
	if c.width != 0 || header(row)&flagLarge == 0 {
		return r, false
	}
	v, ok := c.wideSpan(s, row)
	if !ok {
		return r, false
	}
	r.n = int64(binary.LittleEndian.Uint64(v))
	r.first = RowID(binary.LittleEndian.Uint64(v[8:]))
	r.hash = binary.LittleEndian.Uint64(v[16:])
	return r, true
}

// noKey is the error for a large value whose key is asked for.
func (c *column) noKey(s *Schema) error {
	return &valueError{cause: ErrTooLong, row: -1, col: int(c.index), name: s.public[c.index].Name,
		note: fmt.Sprintf("a value above %d bytes that was streamed has no key", maxInline)}
}

// contentHash hashes a value that compares as bytes. One above maxInline is
// hashed in the pieces that a large one is stored in.
func contentHash(v []byte) uint64 {
	if len(v) <= maxInline {
		return farm.Hash64(v)
	}
	h := uint64(0)
	for len(v) > 0 {
		k := min(len(v), pieceData)
		h = mixInto(h, farm.Hash64(v[:k]))
		v = v[k:]
	}
	return h
}

// chunks reads a value in the pieces that contentHash means, whether the row
// has it or it is large. It is used under the table's guard, and holds no page
// between two calls.
type chunks struct {
	t    *Table
	text []byte // what is left of a value in the row
	next RowID  // the next piece of a large one
	left int64  // how many bytes are left of that
	buf  [maxPiece]byte
}

func (k *chunks) open(t *Table, c *column, s *Schema, row []byte) (n int64) {
	k.t = t
	if r, ok := c.large(s, row); ok {
		k.next, k.left = r.first, r.n
		return r.n
	}
	k.text = c.bytes(s, row)
	return int64(len(k.text))
}

// read returns the next piece, which lives until the next call; none at the end.
func (k *chunks) read() ([]byte, error) {
	if k.left == 0 {
		v := k.text[:min(len(k.text), pieceData)]
		k.text = k.text[len(v):]
		return v, nil
	}
	n, err := k.copyPiece()
	if err != nil {
		return nil, err
	}
	n = int(min(int64(n), k.left))
	k.left -= int64(n)
	return k.buf[pieceHead : pieceHead+n], nil
}

func (k *chunks) copyPiece() (int, error) {
	var pin allocator.Pin
	defer pin.Unpin()
	mem, err := k.t.space.Arena.Read(k.next, &pin)
	if err != nil {
		return 0, err
	}
	n := copy(k.buf[:], mem[:rowLen(header(mem))])
	if n <= pieceHead {
		return 0, corrupt("a piece of %d bytes", n)
	}
	k.next = pieceNext(k.buf[:])
	return n - pieceHead, nil
}

// keyEqual is Schema.keyEqual for rows of the table that may have large values.
func (t *Table) keyEqual(s *Schema, a, b []byte) (bool, error) {
	if (header(a)|header(b))&flagLarge == 0 {
		return s.keyEqual(a, b)
	}
	for i := range s.key.parts {
		ok, err := t.columnEqual(s.key.parts[i].col, s, a, b)
		if !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (t *Table) columnEqual(c *column, s *Schema, a, b []byte) (bool, error) {
	ra, la := c.large(s, a)
	rb, lb := c.large(s, b)
	switch {
	case !la && !lb:
		return c.equal(s, a, b)
	case c.isNull(a) || c.isNull(b) || la && lb && ra.hash != rb.hash:
		return false, nil
	case c.coll != nil:
		return false, c.noKey(s)
	}
	return t.contentEqual(c, s, a, b)
}

func (t *Table) contentEqual(c *column, s *Schema, a, b []byte) (bool, error) {
	var x, y chunks
	if x.open(t, c, s, a) != y.open(t, c, s, b) {
		return false, nil
	}
	for {
		p, err := x.read()
		if err != nil {
			return false, err
		}
		q, err := y.read()
		if err != nil || string(p) != string(q) || len(p) == 0 {
			return err == nil && len(p)+len(q) == 0, err
		}
	}
}

// largeLen is how long the row is with its large values in their places.
func (s *Schema) largeLen(row []byte) int64 {
	n := int64(s.dataEnd(row))
	for i := range s.cols {
		if r, ok := s.cols[i].large(s, row); ok {
			n += r.n - refLen
		}
	}
	return n + 7
}

// inflate returns the row with its large values in their places, in *wide. It is
// used under the table's guard; row may lie in *wide.
func (t *Table) inflate(row []byte, wide *[]byte) ([]byte, error) {
	s := t.schema
	n := s.largeLen(row)
	if n > maxRowLen {
		return nil, fmt.Errorf("%w: a row of %d bytes", ErrTooLong, n)
	}
	row = append([]byte(nil), row...)
	if int64(cap(*wide)) < n {
		*wide = make([]byte, 0, n)
	}
	out := append((*wide)[:0], row[:s.wideBase()]...)
	for i := range s.cols {
		c := &s.cols[i]
		if c.width != 0 {
			continue
		}
		var err error
		if out, err = t.appendContent(out, c, row); err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint32(out[s.endsOff+4*int(c.varIndex):], uint32(len(out)-s.wideBase()))
	}
	end := len(out)
	out = out[:align8(end)]
	clear(out[end:])
	setHeader(out, flagChained)
	*wide = out
	return out, nil
}

func (t *Table) appendContent(dst []byte, c *column, row []byte) ([]byte, error) {
	var k chunks
	k.open(t, c, t.schema, row)
	for {
		p, err := k.read()
		if len(p) == 0 || err != nil {
			return dst, err
		}
		dst = append(dst, p...)
	}
}
