package input

import "hash/crc32"

// appendField appends the text of row k of column c; it must not be NULL.
func (t *Table) appendField(dst []byte, c, k int) []byte {
	col, v := &t.Schema[c], &t.Cols[c]
	switch {
	case col.isString():
		return append(dst, v.Text(k)...)
	case col.isFloat():
		return col.appendFloat(dst, v.F64[k])
	}
	return col.append(dst, v.I64[k])
}

// AppendRow appends the text of row k as CONCAT_WS('|', …) gives it: NULLs are
// left out.
func (t *Table) AppendRow(dst []byte, k int) []byte {
	first := true
	for c := range t.Cols {
		if t.Cols[c].IsNull(k) {
			continue
		}
		if !first {
			dst = append(dst, '|')
		}
		first = false
		dst = t.appendField(dst, c, k)
	}
	return dst
}

// Checksum returns SUM(CRC32(CONCAT_WS('|', …))) over the rows (CRC-32, IEEE),
// which does not depend on their order.
func (t *Table) Checksum() (sum uint64) {
	var row []byte
	for k := range t.N {
		row = t.AppendRow(row[:0], k)
		sum += uint64(crc32.ChecksumIEEE(row))
	}
	return sum
}
