package filespace

import "errors"

// back has the device give [off, off+n): by fallocate, or by writing it where
// that is unknown.
func (s *Space) back(f *file, off, n int64) error {
	if f.dir.how == howWritten {
		return s.fill(f, off, n)
	}
	err := f.Allocate(off, n)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	s.setHow(f.dir, howWritten)
	s.o.OnWarn(f.dir.path + ": files cannot be preallocated there, they are written once instead")
	return s.fill(f, off, n)
}

var zeros [256 << 10]byte // never written

// fill writes zeros over [off, off+n).
func (s *Space) fill(f *file, off, n int64) error {
	for end := off + n; off < end; {
		m, err := f.WriteAt(zeros[:min(end-off, int64(len(zeros)))], off)
		off += int64(m)
		s.countFilled(int64(m))
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Space) countFilled(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n.filled += n
}

// undo gives back what a failed step got (ext4 keeps it until then).
func (f *file) undo(off, n int64) error {
	if off >= f.size {
		return f.Truncate(f.size)
	}
	return ignoreUnsupported(f.Punch(off, n))
}

func ignoreUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
