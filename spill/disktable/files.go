package disktable

// SetLimit changes Options.MaxBytes; 0: none. Empty files above it are closed;
// blocks that are held stay, and no file grows before the use has fallen below.
func (s *Store) SetLimit(n int64) error {
	return s.space.SetLimit(Options{MaxBytes: n}.limit())
}

// Trim gives empty files back to the file system, the highest first, as long
// as keep bytes stay.
func (s *Store) Trim(keep int64) error { return s.space.Trim(keep) }

// Rest is Trim for the files that have been empty since the last call of Rest.
// It reports whether another call may give back more.
func (s *Store) Rest(keep int64) (again bool, err error) { return s.space.Rest(keep) }
