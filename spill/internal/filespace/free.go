package filespace

import "errors"

// Free gives a piece back; its contents are lost. It reports whether its file
// is empty now, so that a [Space.Rest] after a while is worth it. Only after
// Close, or in a file that has faulted, does it make system calls.
func (s *Space) Free(p Piece) (emptied bool) {
	emptied, dead := s.free(p)
	if dead {
		s.closeDead()
	}
	return emptied
}

// free says, too, whether the file should be closed now.
func (s *Space) free(p Piece) (emptied, dead bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := p.f
	f.avail.Free(int(p.off), int(p.order))
	if f.bad {
		return false, f.isEmpty()
	}
	s.n.idle += int64(p.Size())
	s.hint(f)
	if !f.isEmpty() {
		return false, false
	}
	f.emptied = s.gen
	return true, s.closed
}

// SetLimit changes the limit; below 0: none. Empty files above it are closed;
// what is held stays, and nothing is handed out by growth before the use has
// fallen below.
func (s *Space) SetLimit(n int64) error {
	s.mu.Lock()
	s.limit = n
	s.mu.Unlock()
	s.grow.Lock()
	defer s.grow.Unlock()
	return s.trim(func(*file) bool { return n >= 0 && s.n.used > n })
}

// Trim closes the empty files, the highest first, as long as keep bytes stay.
func (s *Space) Trim(keep int64) error {
	s.grow.Lock()
	defer s.grow.Unlock()
	return s.trim(func(f *file) bool { return s.n.used-int64(f.got) >= keep })
}

// Rest is Trim for the files that have been empty since the last call of Rest.
// It reports whether another call may close more.
func (s *Space) Rest(keep int64) (again bool, err error) {
	s.grow.Lock()
	defer s.grow.Unlock()
	err = s.trim(func(f *file) bool {
		spare := s.n.used-int64(f.got) >= keep
		again = again || spare && f.emptied == s.gen
		return spare && f.emptied != s.gen
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gen++
	return again, err
}

// Close refuses all further requests and closes the files. A file of which
// pieces are held is closed when the last one is freed.
func (s *Space) Close() error {
	s.grow.Lock()
	defer s.grow.Unlock()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.trim(func(*file) bool { return true })
}

// closeDead closes the files that nobody holds and nobody will get. Nobody is
// left who could be told of an error.
func (s *Space) closeDead() {
	s.grow.Lock()
	defer s.grow.Unlock()
	s.trimDead()
}

// trimDead is closeDead under grow.
func (s *Space) trimDead() {
	_ = s.trim(func(f *file) bool { return f.bad || s.closed })
}

// trim closes the empty files that which chooses, the highest first. which
// runs under mu; grow is held by the caller.
func (s *Space) trim(which func(*file) bool) error {
	var errs []error
	for i := s.count() - 1; i >= 0; i-- {
		if f := s.detach(i, which); f != nil {
			errs = append(errs, s.release(f))
			s.forget(f)
		}
	}
	return errors.Join(errs...)
}

func (s *Space) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files)
}

// detach takes file i out of the set, if it is empty and chosen.
func (s *Space) detach(i int, which func(*file) bool) *file {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i >= len(s.files) { // those above were closed, and the list is shorter
		return nil
	}
	f := s.files[i]
	if f == nil || !f.isEmpty() || !which(f) {
		return nil
	}
	s.files[i] = nil
	for len(s.files) > 0 && s.files[len(s.files)-1] == nil {
		s.files = s.files[:len(s.files)-1]
	}
	s.disown(f)
	return f
}

// disown takes the bytes of f out of those that can be handed out.
func (s *Space) disown(f *file) {
	if !f.bad {
		s.n.idle -= int64(f.avail.FreeBytes())
		s.n.cold -= int64(f.cold())
	}
}

// forget takes a closed file out of the use.
func (s *Space) forget(f *file) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n.used -= int64(f.got)
	if f.bad {
		s.n.bad--
	}
}
