package temptable

import "hash/maphash"

// writeKey writes the canonical key of row to h: equal keys write the same
// bytes, others do not. A row whose key a collation refused never gets here.
func (s *Schema) writeKey(h *maphash.Hash, row []byte) {
	scratch := s.scratch()
	defer s.keep(scratch)
	scratch.a, _ = s.whole.appendKey(scratch.a[:0], row)
	h.Write(scratch.a)
}
