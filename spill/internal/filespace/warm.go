package filespace

import (
	"errors"
	"fmt"
	"runtime/debug"
	"syscall"

	"github.com/spillway-db/spillway/internal/sys"
)

// pageSize is the smallest page of any machine.
const pageSize = 4096

// AllocWarm is Alloc, and touches the pages of a mapped piece that was cold,
// so that its holder meets no page fault that has to ask the file system;
// ready says that there was no need to. Files that turn out to be out of reach
// (truncated by somebody, say) are set aside and passed over; if nothing else
// is left the error matches [ErrIO] and sys.ErrFault.
func (s *Space) AllocWarm(n int) (p Piece, ready bool, err error) {
	p, cold, ok := s.Take(n)
	if ok && (!cold || s.warm(p) == nil) {
		return p, !cold, nil
	}
	if _, err := s.orderOf(n); err != nil {
		return Piece{}, false, err
	}
	s.grow.Lock()
	defer s.grow.Unlock()
	if ok { // its file is out of reach
		defer s.trimDead()
		s.free(p)
	}
	p, err = s.allocWarm(n)
	return p, false, err
}

// allocWarm is AllocWarm under grow. It tries one piece more than there are
// files: a failure costs a file.
func (s *Space) allocWarm(n int) (Piece, error) {
	for tries := s.count(); ; tries-- {
		p, cold, err := s.alloc(n)
		if err != nil || !cold {
			return p, err
		}
		if err = s.warm(p); err == nil {
			return p, nil
		}
		s.free(p)
		s.trimDead()
		if tries <= 0 {
			return Piece{}, err
		}
	}
}

// warm touches a piece. It fails only if the file is out of reach; then it is
// set aside.
func (s *Space) warm(p Piece) error {
	err := s.write(p)
	if err == nil {
		err = s.populate(p.Bytes())
	}
	switch {
	case err == nil:
		s.warmed(p)
		return nil
	case !outOfReach(err):
		return nil // short of memory, say: it stays cold
	}
	s.mu.Lock()
	s.condemn(p.f)
	s.mu.Unlock()
	return s.failed(p.f.dir, int(p.order), errors.Join(sys.ErrFault, err))
}

// write puts the pages of p into the page cache by writing zeros: that, and
// mapping them then, takes a quarter to a sixth of the time of having the
// faults make them (ext4, Linux 6.18, 8 MiB: 1.7 to 2.0 ms against 7 to 12),
// since a write makes large folios and one journal entry for many pages. If
// the write fails, mapping shows why. A file that somebody truncated must not
// grow again by it: its holders would read zeros where they should fault.
func (s *Space) write(p Piece) error {
	if s.isWritten(p.f.dir) {
		return nil
	}
	size, err := p.f.Size()
	if err == nil && size < int64(p.off)+int64(p.Size()) {
		return fmt.Errorf("file was truncated to %d bytes: %w", size, sys.ErrFault)
	}
	if err == nil {
		_ = s.fill(p.f, int64(p.off), int64(p.Size()))
	}
	return nil
}

func (s *Space) populate(mem []byte) error {
	err := s.o.FS.Advise(mem, sys.Populate)
	if errors.Is(err, errors.ErrUnsupported) {
		err = s.touch(mem)
	}
	return err
}

func (s *Space) isWritten(d *dir) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return d.how == howWritten
}

// warmed notes that p has been touched.
func (s *Space) warmed(p Piece) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := p.f.touched.add(int(p.off), p.Size())
	if !p.f.bad {
		s.n.cold -= int64(fresh)
	}
}

// outOfReach says that an access would be a fault (madvise(2) on
// MADV_POPULATE_WRITE).
func outOfReach(err error) bool {
	return errors.Is(err, syscall.EFAULT) || errors.Is(err, syscall.EIO) || errors.Is(err, sys.ErrFault)
}

// touch does by hand what kernels before 5.14 cannot.
func (s *Space) touch(mem []byte) (err error) {
	defer sys.Recover(&err, s, debug.SetPanicOnFault(true))
	for i := 0; i < len(mem); i += pageSize {
		mem[i] = 0
	}
	return nil
}
