package disktable

// ReadAt copies the bytes of b from off on into dst, for scans: cached pages
// are copied without being marked as used, runs of others are read from the
// file straight into dst, past the cache.
//
// It returns ErrRange if b has no such bytes, what Owner.Err says, an *IOError,
// or ErrClosed.
func (s *Store) ReadAt(b Block, off int, dst []byte) error {
	if !b.covers(off, len(dst)) {
		return ErrRange
	}
	if err := s.usable(b); err != nil {
		return err
	}
	for len(dst) > 0 {
		n, err := s.readSome(b, off, dst)
		if err != nil {
			return err
		}
		off, dst = off+n, dst[n:]
	}
	return b.owner.Err()
}

// readSome copies the rest of one cached page, or of a run of others. It
// returns the number of bytes.
func (s *Store) readSome(b Block, off int, dst []byte) (int, error) {
	page, in := off/PageSize, off%PageSize
	k := b.key(page)
	if f := s.table.of(k).peek(k); f != nil {
		n := copy(dst, f.data[in:])
		f.Unpin()
		return n, nil
	}
	n := min(len(dst), PageSize-in)
	for n < len(dst) && !s.cached(b.key((off+n)/PageSize)) {
		n += min(len(dst)-n, PageSize)
	}
	if err := s.readRange(b, off, dst[:n]); err != nil {
		return 0, err
	}
	return n, nil
}

// peek pins the frame of page k without marking it as used, or returns nil.
func (sh *shard) peek(k key) *Frame {
	sh.mu.Lock()
	f := sh.pin(k, 0)
	sh.mu.Unlock()
	return f
}

// cached reports whether page k has a frame.
func (s *Store) cached(k key) bool {
	sh := s.table.of(k)
	sh.mu.Lock()
	f := sh.find(k)
	sh.mu.Unlock()
	return f != nil
}
