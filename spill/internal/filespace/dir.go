package filespace

import (
	"fmt"

	"github.com/spillway-db/spillway/internal/sys"
)

// dir is a directory, and what is known of its file system. Written under both
// locks, read under either.
type dir struct {
	path string
	info sys.DirInfo
	how  string // how files are backed there; "" before the first
}

// Ways of backing a file, as Stats tells them.
const (
	howAllocated = "allocated"                                   // fallocate
	howNoCoW     = "allocated, copy-on-write off"                // FS_NOCOW_FL
	howCoW       = "allocated, copied on write: writes may fail" // unmapped files only
	howWritten   = "written once"                                // no fallocate there
)

// setHow notes how files are backed in d.
func (s *Space) setHow(d *dir, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.how = how
}

// ask asks for the free bytes, and whatever else statfs knows.
func (s *Space) ask(d *dir) error {
	info, err := s.o.FS.Stat(d.path)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		d.info = info
	}
	return err
}

// meet looks at the file system before the first file is made there.
func (s *Space) meet(d *dir) error {
	if d.how != "" {
		return nil
	}
	if err := s.ask(d); err != nil {
		return err
	}
	s.setHow(d, howAllocated)
	if d.info.InRAM {
		s.o.OnWarn(fmt.Sprintf("%s is a %s: spilling there saves no memory", d.path, d.info.Type))
	}
	return nil
}

// overwrite makes sure that a new file is overwritten in place where the file
// system would copy on write: there an allocated block is no promise. (On a
// full btrfs the second pass over an allocated mapping is a SIGBUS.)
func (s *Space) overwrite(d *dir, f sys.File) error {
	if !d.info.CoW {
		return nil
	}
	err := f.DisableCoW()
	switch {
	case err == nil:
		s.setHow(d, howNoCoW)
	case s.o.Map:
		return &Error{Kind: ErrCoW, Err: err}
	default:
		s.setHow(d, howCoW)
	}
	return nil
}

// spare refuses a step of n bytes that would break into the reserve.
func (s *Space) spare(d *dir, n int64) error {
	if s.o.Reserve <= 0 {
		return nil
	}
	if err := s.ask(d); err != nil {
		return err
	}
	if d.info.Free-n < s.o.Reserve {
		return &Error{Kind: ErrReserve}
	}
	return nil
}
