package disktable

// claim returns a frame with memory and without a page, busy: an empty one,
// or a new one while memory is granted, or one whose page can be evicted. It
// waits while every frame is pinned or busy.
func (s *Store) claim() (*Frame, error) {
	for round := 0; ; round++ {
		if f := s.tryClaim(); f != nil {
			return f, nil
		}
		if err := s.frames.await(round); err != nil {
			return nil, err
		}
	}
}

// tryClaim is claim without waiting.
func (s *Store) tryClaim() *Frame {
	if f := s.frames.take(); f != nil {
		return f
	}
	if f := s.frames.grow(); f != nil {
		return f
	}
	return s.sweep()
}

// sweep moves the hand until a frame is claimed, at most twice around and one
// further: once to take the marks, once to find a frame without.
func (s *Store) sweep() *Frame {
	for range 2*s.frames.made.Load() + 1 {
		f := s.frames.advance()
		w := f.state.Load()
		switch {
		case !idle(w):
		case w&used != 0:
			f.state.CompareAndSwap(w, w&^used)
		case f.seize(w) && s.evict(f):
			return f
		}
	}
	return nil
}

// evict takes f, which is busy, out of the page table, after its page was
// written if need be. If that fails, f stays what it was.
func (s *Store) evict(f *Frame) bool {
	if !s.clean(f) {
		return false
	}
	s.table.of(f.key()).remove(f)
	return true
}

// clean makes sure that nothing is lost when f, which is busy, is dropped. If
// its page cannot be written, the owner fails and f is settled, dirty as
// before. It stays until the hand comes by again: nobody can read the pages of
// a failed owner, so that they need not be written, and cost the others no
// frame for good.
func (s *Store) clean(f *Frame) bool {
	if f.state.Load()&dirty == 0 || !f.block.owner.ok() {
		return true
	}
	r := s.runs.get()
	defer s.runs.put(r)
	s.gather(r, f)
	err := s.writeRun(r)
	if err != nil {
		f.block.owner.fail(err)
	}
	s.settle(r, f, err != nil)
	return err == nil
}

// gather collects f and the pages beside it in its block that are dirty, idle
// and not used of late, and makes them busy.
func (s *Store) gather(r *run, f *Frame) {
	k := f.key()
	sh := s.table.of(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	first, last := k, k
	for sh.join(first-1, f) {
		first--
	}
	for sh.join(last+1, f) {
		last++
	}
	for ; first <= last; first++ {
		r.add(sh.find(first))
	}
}

// join makes page k busy if it should be written along with f. The lock is
// held.
func (sh *shard) join(k key, f *Frame) bool {
	if k.group() != f.key().group() {
		return false
	}
	g := sh.find(k)
	if g == nil || g.block != f.block {
		return false
	}
	w := g.state.Load()
	return idle(w) && w&(dirty|used) == dirty && g.seize(w)
}

// settle ends the business with the pages of a run. The victim stays busy,
// unless the run failed.
func (s *Store) settle(r *run, victim *Frame, failed bool) {
	sh := s.table.of(victim.key())
	sh.mu.Lock()
	for _, f := range r.frames[:r.n] {
		f.state.Store(after(f.state.Load(), f == victim, failed))
	}
	sh.announce()
	sh.mu.Unlock()
	if r.n > 1 || failed {
		s.frames.wake()
	}
}

// after returns the state that w becomes when its page was written or not.
func after(w uint64, victim, failed bool) uint64 {
	if !failed {
		w &^= dirty
	}
	if !victim || failed {
		w &^= busy
	}
	return w
}
