package filespace

import (
	"errors"
	"math/bits"

	"github.com/spillway-db/spillway/internal/buddy"
)

// A step of growth has an order between these, and that of the piece at least.
const (
	minStep = 20
	maxStep = maxOrder
)

// Alloc takes a piece of n bytes (see Take), and grows the space if it has to.
// It returns an [*Error] if that fails.
func (s *Space) Alloc(n int) (p Piece, cold bool, err error) {
	if p, cold, ok := s.Take(n); ok {
		return p, cold, nil
	}
	if _, err := s.orderOf(n); err != nil {
		return Piece{}, false, err
	}
	s.grow.Lock()
	defer s.grow.Unlock()
	return s.alloc(n)
}

// alloc is Alloc under grow: what another grower has left is taken first.
func (s *Space) alloc(n int) (Piece, bool, error) {
	if p, cold, ok := s.Take(n); ok {
		return p, cold, nil
	}
	p, err := s.extend(buddy.Order(n))
	return p, s.o.Map, err
}

// extend grows some file by a step and takes a piece of it. Every directory is
// asked in turn.
func (s *Space) extend(order int) (Piece, error) {
	step, err := s.step(order)
	if err != nil {
		return Piece{}, err
	}
	var errs []error
	for _, d := range s.dirs {
		p, err := s.extendIn(d, step, order)
		if err == nil {
			return p, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 1 {
		return Piece{}, errs[0]
	}
	return Piece{}, errors.Join(errs...)
}

// step is the order of the largest step that the growth so far and the limit
// allow.
func (s *Space) step(order int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, s.fail(ErrClosed, order)
	}
	step := max(order, min(max(log2(s.n.used), minStep), maxStep, log2(int64(s.o.FileSize))))
	if s.limit >= 0 {
		step = min(step, log2(s.limit-s.n.used))
	}
	if step < order {
		return 0, s.fail(ErrLimit, order)
	}
	return step, nil
}

// log2 is rounded down; -1 for n < 1.
func log2(n int64) int { return bits.Len64(uint64(max(n, 0))) - 1 }

// fail makes an error; mu is held.
func (s *Space) fail(kind error, order int) error {
	return &Error{Kind: kind, Want: 1 << order, Used: s.n.used, Limit: s.limit}
}

// failed is the error for what happened in d.
func (s *Space) failed(d *dir, order int, err error) error {
	e := &Error{Kind: kindOf(err), Err: err}
	if mine := (*Error)(nil); errors.As(err, &mine) {
		*e = *mine
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Dir, e.Want, e.Used, e.Limit = d.path, 1<<order, s.n.used, s.limit
	return e
}

// extendIn tries smaller and smaller steps in one directory.
func (s *Space) extendIn(d *dir, step, order int) (p Piece, err error) {
	for ; step >= order; step-- {
		f, off, err := s.place(d, step)
		if err == nil {
			return s.hand(f, off, step, order), nil
		}
		if err = s.failed(d, order, err); !wantsLess(err) || step == order {
			return Piece{}, err
		}
	}
	return Piece{}, err
}

// place allocates a step in an existing file of d, else in a new one.
func (s *Space) place(d *dir, step int) (f *file, off int, err error) {
	for f := s.roomy(d, step); f != nil; f = s.roomy(d, step) {
		off, err := s.allocate(f, step)
		if err == nil || kindOf(err) != ErrFileSize {
			return f, off, err
		}
		s.capFile(f)
	}
	if f, err = s.create(d); err != nil {
		return nil, 0, err
	}
	if off, err = s.allocate(f, step); err != nil {
		return nil, 0, errors.Join(err, s.release(f))
	}
	s.adopt(f)
	return f, off, nil
}

// roomy is the lowest file of d that can grow by that step, or nil.
func (s *Space) roomy(d *dir, step int) *file {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f != nil && f.dir == d && !f.bad && f.raw.Largest() >= step {
			return f
		}
	}
	return nil
}

// capFile makes f one that cannot grow: it has met RLIMIT_FSIZE.
func (s *Space) capFile(f *file) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.raw = buddy.New(0, minOrder, maxOrder)
}

// allocate takes a step of raw bytes and has the device give them. On failure
// the device, the counters and the file are as before.
func (s *Space) allocate(f *file, step int) (off int, err error) {
	if err := s.spare(f.dir, 1<<step); err != nil {
		return 0, err
	}
	off, ok := s.charge(f, step)
	if !ok {
		return 0, &Error{Kind: ErrLimit}
	}
	if err = s.back(f, int64(off), 1<<step); err != nil {
		s.uncharge(f, off, step)
		return 0, errors.Join(err, f.undo(int64(off), 1<<step))
	}
	f.size = max(f.size, int64(off)+1<<step)
	return off, nil
}

// charge counts a step before it is taken, so that the limit is never
// exceeded, not even for a moment.
func (s *Space) charge(f *file, step int) (off int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit >= 0 && s.n.used+1<<step > s.limit {
		return 0, false
	}
	if off, ok = f.raw.Alloc(step); !ok {
		return 0, false
	}
	s.n.used += 1 << step
	s.n.peak = max(s.n.peak, s.n.used)
	return off, true
}

func (s *Space) uncharge(f *file, off, step int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.raw.Add(off, 1<<step)
	s.n.used -= 1 << step
}

// hand adds a step to what is free and takes the first piece of it.
func (s *Space) hand(f *file, off, step, order int) Piece {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.avail.Add(off, 1<<step)
	f.avail.Take(off, order)
	f.got += 1 << step
	s.n.extended++
	if !f.bad {
		s.n.idle += 1<<step - 1<<order
		s.n.cold += int64(f.coldIn(1 << step))
		s.hint(f)
	}
	return Piece{f, uint32(off), uint8(order)}
}
