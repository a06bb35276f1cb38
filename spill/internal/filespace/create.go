package filespace

import (
	"errors"
	"slices"

	"github.com/spillway-db/spillway/internal/sys"
)

// create makes a file that has no bytes yet; it is not among the files of the
// space before adopt.
func (s *Space) create(d *dir) (*file, error) {
	if err := s.meet(d); err != nil {
		return nil, err
	}
	handle, err := s.o.FS.OpenTemp(d.path)
	if err != nil {
		return nil, err
	}
	f := newFile(d, s.span())
	f.File = handle
	s.countFile(1)
	if err := s.setUp(f); err != nil {
		return nil, errors.Join(err, s.release(f))
	}
	return f, nil
}

// countFile counts a file that was opened (1) or closed (-1).
func (s *Space) countFile(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n.live += n
	if n > 0 {
		s.n.created++
	} else {
		s.n.removed++
	}
}

// release unmaps and closes a file.
func (s *Space) release(f *file) error {
	defer s.countFile(-1)
	var err error
	if f.mem != nil {
		err = s.o.FS.Unmap(f.mem)
	}
	return errors.Join(err, f.Close())
}

// span is how many bytes a new file spans.
func (s *Space) span() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit < 0 {
		return s.o.FileSize
	}
	return min(s.o.FileSize, int(max(s.limit&^(MinPiece-1), MinPiece)))
}

// setUp maps a new file, if that is wanted.
func (s *Space) setUp(f *file) (err error) {
	if err := s.overwrite(f.dir, f.File); err != nil || !s.o.Map {
		return err
	}
	span := f.raw.Size()
	if f.mem, err = f.Map(0, span); err != nil {
		return err
	}
	s.countMap()
	f.touched = newTouched(span)
	return s.advise(f.mem)
}

func (s *Space) countMap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n.maps++
}

// advise sets the options of a mapping.
func (s *Space) advise(mem []byte) error {
	var dump, fork error
	if s.o.NoDump {
		dump = s.o.FS.Advise(mem, sys.NoDump)
	}
	if s.o.NoFork {
		fork = s.o.FS.Advise(mem, sys.NoFork)
	}
	return errors.Join(dump, fork)
}

// adopt gives f the lowest free number.
func (s *Space) adopt(f *file) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.number = slices.Index(s.files, nil)
	if f.number < 0 {
		f.number = len(s.files)
		s.files = append(s.files, nil)
	}
	s.files[f.number] = f
	f.emptied = s.gen
}
