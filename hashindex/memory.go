package hashindex

// Memory is where an index takes its memory from.
type Memory interface {
	// AllocIndex returns n zeroed bytes, n being 4, 8 or 16 KiB, aligned to at
	// least 4 KiB. An error means that neither RAM nor mapped files can be had
	// within the limits.
	AllocIndex(n int) ([]byte, error)
	// FreeIndex takes back what AllocIndex returned, whole. Its contents are
	// void.
	FreeIndex(mem []byte)
}

// Rows is the table's side of a lookup: it knows the key that is being looked
// for, and the stored rows.
type Rows interface {
	// Equal says whether the row at id has the key that is being looked for.
	Equal(id uint64) (bool, error)
	// Rehash returns a hash of the key that is being looked for, keyed by seed,
	// of a kind that whoever chose the keys could not foresee. Equal keys give
	// equal hashes.
	Rehash(seed uint64) uint64
}
