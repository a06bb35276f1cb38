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

// PageSize is the unit of disk space, in bytes: 1,024 slots.
const PageSize = 16 << 10

// Disk is where an index spills to when Memory refuses.
type Disk interface {
	// AllocPages returns space for n pages, whose contents are unspecified. It
	// exists on the device, so that writing to it does not meet a full disk.
	AllocPages(n int) (Pages, error)
}

// Pages is the space of one run. An index does not use it again after Free.
type Pages interface {
	// ReadAt fills p with the bytes from off on, which lie in one page and have
	// been written. It is called by any number of readers at a time. Reads are
	// 256 bytes to 16 KiB, mostly 4 KiB, and come once: they should not push
	// anything out of a cache.
	ReadAt(p []byte, off int64) error
	// WriteAt writes p: whole pages from the first to the last, the last one
	// perhaps in part; later single slots of 16 bytes.
	WriteAt(p []byte, off int64) error
	// Free gives the space back.
	Free()
}

// Rows is the table's side of a lookup: it knows the key that is being looked
// for, and the stored rows.
type Rows interface {
	// Equal says whether the row at id has the key that is being looked for.
	// It is asked only about ids that are in the index.
	Equal(id uint64) (bool, error)
	// Rehash returns a hash of the key that is being looked for, keyed by seed,
	// of a kind that whoever chose the keys could not foresee. Equal keys give
	// equal hashes.
	Rehash(seed uint64) uint64
}
