package temptable

import (
	"encoding/binary"
	"hash/maphash"
)

// writeKey writes the key of a row of the table to h: equal keys write the same
// bytes, others do not. A row whose key a collation refused never gets here.
func (t *Table) writeKey(h *maphash.Hash, s *Schema, row []byte) error {
	for i := range s.key.parts {
		if err := t.writeColumn(h, s.key.parts[i].col, s, row); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) writeColumn(h *maphash.Hash, c *column, s *Schema, row []byte) error {
	switch {
	case c.isNull(row):
		return h.WriteByte(0)
	case c.kind == kindDecimal:
		h.WriteByte(1)
		h.Write(row[c.off : c.off+int32(c.width)])
		return nil
	case c.width != 0:
		writeWord(h, c.orderBits(row))
		return nil
	case c.coll != nil:
		return writeCollated(h, c, s, row)
	}
	return t.writeContent(h, c, s, row)
}

// writeWord writes v behind a mark that there is a value.
func writeWord(h *maphash.Hash, v uint64) {
	h.WriteByte(1)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	h.Write(b[:])
}

func writeCollated(h *maphash.Hash, c *column, s *Schema, row []byte) (err error) {
	scratch := s.scratch()
	defer s.keep(scratch)
	scratch.a, err = c.coll.AppendKey(scratch.a[:0], c.bytes(s, row))
	writeWord(h, uint64(len(scratch.a)))
	h.Write(scratch.a)
	return err
}

func (t *Table) writeContent(h *maphash.Hash, c *column, s *Schema, row []byte) error {
	var k chunks
	writeWord(h, uint64(k.open(t, c, s, row)))
	for {
		p, err := k.read()
		if len(p) == 0 || err != nil {
			return err
		}
		h.Write(p)
	}
}
