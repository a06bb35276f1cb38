package temptable

// EncodedSchema is for executors with a row format of their own: opaque bytes
// under an opaque key, by which rows are distinct. Writer.InsertEncoded inserts,
// Row.Bytes(0) is the key and Row.Bytes(1) the payload. Rows are ordered, where
// an index orders them, by the bytes of their keys.
func EncodedSchema() *Schema {
	s, _ := NewSchema([]Column{ // which cannot fail
		{Name: "key", Type: TypeVarbinary, NotNull: true},
		{Name: "payload", Type: TypeBlob, NotNull: true},
	}, Distinct(0))
	return s
}

// InsertEncoded is Insert of a key and a payload, both copied, into a table of
// EncodedSchema, or of any schema whose first two columns are strings. A payload
// may come from a reader: SetReader(1, r), and payload nil.
func (w *Writer) InsertEncoded(key, payload []byte) (id RowID, added bool, err error) {
	w.SetBytes(0, key)
	w.SetBytes(1, payload)
	return w.Insert()
}
