package temptable

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime/debug"

	"github.com/dgryski/go-farm"
	"github.com/spillway-db/spillway/internal/sys"
)

// source is a column whose value comes from a reader.
type source struct {
	col int
	r   io.Reader
}

// SetReader sets a string or binary column to what r gives until io.EOF; bound
// it with io.LimitReader. Insert reads it, once, and stores what is above 4 KiB
// piece by piece: no more than some KiB of the value are in memory at a time, on
// whatever tier it ends up. What r gives counts, whatever else the column is set
// to for this row.
//
// A duplicate is found only when the value has been read: the blocks that it
// filled stay with the table, for the next rows.
//
// A value is read into memory, as SetBytes would, where its key or its length in
// characters must be known: in a JSON column or one with a collation, if the
// table is distinct by it or the column has a Length.
//
// Errors, from Insert: r's; ErrTooLong above Column.Length; ErrType. r must not
// use the table.
func (w *Writer) SetReader(col int, r io.Reader) {
	w.sources = append(w.sources, source{col, r})
}

// insertStreamed is Insert for a row with readers.
func (w *Writer) insertStreamed() (res Result, err error) {
	defer func() { w.sources = w.sources[:0] }()
	if w.err != nil {
		return res, w.err
	}
	if err := w.t.begin(); err != nil {
		return res, err
	}
	defer w.t.end()
	s := streamIn{w: w, t: w.t, undo: w.t.undo()}
	defer func() {
		if !res.Added {
			s.takeBack()
		}
	}()
	for _, src := range w.sources {
		if err := s.column(src); err != nil {
			return res, w.t.lost(err)
		}
	}
	row, err := s.finish()
	if err != nil {
		return res, err
	}
	w.t.tail = s.first
	res.ID, res.Added, err = w.t.insertGuarded(row)
	w.t.tail = 0
	res.Index, w.t.clash = w.t.clash, 0
	return res, w.t.lost(err)
}

// streamIn stores the large values of a row before the row.
type streamIn struct {
	w     *Writer
	t     *Table
	undo  undo
	first RowID // the first of all pieces
	last  RowID // the last one, whose link is still 0
	large []*column
	buf   [maxPiece]byte
}

// column reads one value: into the row, or into pieces.
func (s *streamIn) column(src source) error {
	c := s.w.column(src.col)
	switch {
	case c == nil:
		return s.w.err
	case c.width != 0:
		s.w.fail(ErrType, src.col)
		return s.w.err
	case !s.splits(c):
		return s.whole(c, src)
	}
	head := make([]byte, maxInline+1)
	n, err := io.ReadFull(src.r, head)
	if err == nil {
		return s.pieces(c, &prefixed{head, src.r})
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	s.w.setBytes(src.col, head[:n])
	return s.w.err
}

// splits reports whether a value may be stored without being seen whole.
func (s *streamIn) splits(c *column) bool {
	return c.kind == kindBytes && (c.coll == nil || c.length == MaxValueLen && !s.t.schema.inKey(c))
}

// inKey reports whether tables of the schema are distinct by the column.
func (s *Schema) inKey(c *column) bool {
	if !s.key.distinct {
		return false
	}
	for i := range s.key.parts {
		if s.key.parts[i].col == c {
			return true
		}
	}
	return false
}

// whole reads the value into the row.
func (s *streamIn) whole(c *column, src source) error {
	v, err := io.ReadAll(io.LimitReader(src.r, MaxValueLen+1))
	if err == nil {
		s.w.setBytes(src.col, v)
		err = s.w.err
	}
	return err
}

// prefixed reads head, then r.
type prefixed struct {
	head []byte
	r    io.Reader
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) == 0 {
		return p.r.Read(b)
	}
	n := copy(b, p.head)
	p.head = p.head[n:]
	return n, nil
}

// piecesEvery is how many pieces may pass between two looks at the context: a
// MiB.
const piecesEvery = 256

// pieces stores a value, and its reference in the row.
func (s *streamIn) pieces(c *column, r io.Reader) error {
	var ref reference
	for i := 0; ; i++ {
		if i%piecesEvery == 0 {
			if err := canceled(s.w.ctx, "insert into", s.t.name); err != nil {
				return err
			}
		}
		n, err := io.ReadFull(r, s.buf[pieceHead:])
		if n == 0 && errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if ref.n += int64(n); ref.n > int64(c.length) {
			s.w.fail(ErrTooLong, int(c.index))
			return s.w.err
		}
		ref.hash = mixInto(ref.hash, farm.Hash64(s.buf[pieceHead:pieceHead+n]))
		id, err := s.store(pieceHead + n)
		if err != nil {
			return err
		}
		if ref.first == 0 {
			ref.first = id
		}
	}
	ref.put(s.w.room(int(c.varIndex), refLen))
	s.w.present(c)
	s.large = append(s.large, c)
	return nil
}

// store stores the piece in the first n bytes of buf, and links it to the one
// before.
func (s *streamIn) store(n int) (id RowID, err error) {
	if s.t.space.MayMap() {
		defer sys.Recover(&err, &s.t.space, debug.SetPanicOnFault(true))
	}
	end := align8(n)
	clear(s.buf[n:end])
	binary.LittleEndian.PutUint64(s.buf[:], uint64(makeHeader(end, flagPiece)))
	if id, err = s.t.put(s.buf[:end]); err != nil {
		return 0, err
	}
	if s.first == 0 {
		s.first = id
	} else if err = s.t.link(s.last, id); err != nil {
		return 0, err
	}
	s.last = id
	return id, nil
}

// link makes next the piece after id.
func (t *Table) link(id, next RowID) error {
	mem, err := t.space.Arena.Write(id, pieceHead, &t.pin)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(mem, uint64(next)<<16|uint64(header(mem)))
	t.pin.Unpin()
	return nil
}

// finish returns the encoded row.
func (s *streamIn) finish() ([]byte, error) {
	if len(s.large) == 0 {
		return s.w.finish()
	}
	return s.w.finishLarge(s.large)
}

// finishLarge is finish for a row with references.
func (w *rowWriter) finishLarge(large []*column) ([]byte, error) {
	for _, m := range w.missing {
		if m != 0 {
			return nil, w.failure()
		}
	}
	w.fillEnds(len(w.ends))
	if w.n-len(w.s.template) >= endLarge {
		w.fail(ErrTooLong, -1)
		return nil, w.err
	}
	row, err := w.finishWide()
	if err != nil {
		return nil, err
	}
	for _, c := range large {
		row[w.s.endsOff+4*int(c.varIndex)+3] |= endLarge >> 24
	}
	setHeader(row, flagChained|flagLarge)
	return row, nil
}

// takeBack frees what was stored for a row that was not added.
func (s *streamIn) takeBack() {
	s.t.tail = 0
	if s.first == 0 {
		return
	}
	err := s.unstore()
	_ = s.t.lost(err)
}

func (s *streamIn) unstore() (err error) {
	if s.t.space.MayMap() {
		defer sys.Recover(&err, &s.t.space, debug.SetPanicOnFault(true))
	}
	s.t.unstore(s.undo, s.first)
	return nil
}
