package filespace

import "github.com/spillway-db/spillway/internal/sys"

// Owns says whether addr lies in a mapping of the space.
func (s *Space) Owns(addr uintptr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at(addr) != nil
}

// Faulted implements [sys.Faulter]: it sets the file aside in whose mapping
// addr lies, so that nobody else is given a piece of it. It is closed when the
// last piece of it is freed.
func (s *Space) Faulted(addr uintptr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.at(addr)
	if f == nil {
		return false
	}
	s.n.faults++
	s.condemn(f)
	return true
}

// at is the file whose mapping holds addr, or nil. It is slow, and called
// after faults only.
func (s *Space) at(addr uintptr) *file {
	for _, f := range s.files {
		if f != nil && sys.Contains(f.mem, addr) {
			return f
		}
	}
	return nil
}

// condemn sets f aside; mu is held.
func (s *Space) condemn(f *file) {
	if f.bad {
		return
	}
	s.disown(f)
	f.bad = true
	s.n.bad++
}
