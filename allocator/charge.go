package allocator

// charge counts n bytes for the table and for everything above it, or for none
// and says who refused. For RAM it looks, while it has the lock, for an idle
// block of that size, and makes it *b: ok.
func (s *Space) charge(b *Block, t Tier, n int, p Purpose) (ok bool, by *account) {
	o := s.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	if !s.acct.tiers[t].take(int64(n)) {
		return false, &s.acct
	}
	if by = o.charge(t, int64(n)); by != nil {
		s.acct.tiers[t].used -= int64(n)
		return false, by
	}
	if t != RAM {
		return false, nil
	}
	idle, ok := o.takeIdle(n)
	if ok {
		*b = ramBlock(idle)
		s.m.take(b, p)
	}
	return ok, nil
}

// uncharge undoes charge for a block that could not be had.
func (s *Space) uncharge(t Tier, n int) {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.acct.tiers[t].used -= int64(n)
	s.owner.uncharge(t, int64(n))
}

// refund takes back the charge of a block. RAM goes back with it.
func (s *Space) refund(b *Block, p Purpose) {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.m.give(b, p)
	s.acct.tiers[b.tier].give(int64(b.held))
	s.owner.refund(b.tier, int64(b.held))
	if b.tier == RAM {
		s.owner.keep(b.ram)
	}
}

// charge counts n bytes for o and for the owners above it. The lock of o is
// held; those above are below it in the order of locks.
func (o *Owner) charge(t Tier, n int64) (by *account) {
	if !o.acct.tiers[t].take(n) {
		return &o.acct
	}
	if o.above == nil {
		return nil
	}
	o.above.mu.Lock()
	defer o.above.mu.Unlock()
	if by = o.above.charge(t, n); by != nil {
		o.acct.tiers[t].used -= n
	}
	return by
}

func (o *Owner) uncharge(t Tier, n int64) {
	o.acct.tiers[t].used -= n
	if o.above != nil {
		o.above.mu.Lock()
		defer o.above.mu.Unlock()
		o.above.uncharge(t, n)
	}
}

func (o *Owner) refund(t Tier, n int64) {
	o.acct.tiers[t].give(n)
	if o.above != nil {
		o.above.mu.Lock()
		defer o.above.mu.Unlock()
		o.above.refund(t, n)
	}
}
