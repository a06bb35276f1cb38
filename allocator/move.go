package allocator

import (
	"runtime/debug"

	"github.com/spillway-db/spillway/internal/sys"
)

// takePriority takes RAM for what goes before rows: when RAM is short it moves
// cold rows of this table down, then those of idle tables.
func (s *Space) takePriority(b *Block, n int) refusal {
	for {
		why := s.takeFrom(b, RAM, n, n, Index)
		if !why.refused() || s.alloc.hopeless(n) || !s.makeRoom(why, n) {
			return why
		}
	}
}

// makeRoom moves rows down, n bytes if it can, because of what was refused: of
// this table, or, if it is the engine that is short, of any table that is idle. It reports
// whether it freed any RAM.
func (s *Space) makeRoom(why refusal, n int) bool {
	s.cause = why
	freed, _ := s.Arena.moveDown()
	if freed == 0 && why.by == nil {
		return s.alloc.moveOthers(s, int64(n)) != 0
	}
	return freed != 0
}

// moveOthers moves n bytes of idle tables other than not down, or as many as
// it can, and returns how many. Tables that refuse are passed over.
func (a *Allocator) moveOthers(not *Space, n int64) (freed int64) {
	round := a.rounds.Add(1)
	for freed < n {
		s := a.lockMovable(not, round)
		if s == nil {
			break
		}
		freed += s.moveSome(n-freed, round)
		s.lock.Unlock()
	}
	return freed
}

// moveSome moves n bytes of s down, or as many as it can.
func (s *Space) moveSome(n int64, round uint64) (freed int64) {
	s.cause = refusal{tier: RAM, want: int(n), err: errRAMFull}
	for freed < n {
		moved, _ := s.Arena.moveDown()
		if moved == 0 {
			s.tried = round
			break
		}
		freed += int64(moved)
	}
	return freed
}

// lockMovable finds a table other than not that is idle, has RAM to give and
// was not tried in this round, and returns it locked, so that it cannot be
// dropped meanwhile. Cost: a look at every table.
func (a *Allocator) lockMovable(not *Space, round uint64) (found *Space) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.root.walk(func(o *Owner) bool {
		found = o.lockMovable(not, round)
		return found == nil
	})
	return found
}

func (o *Owner) lockMovable(not *Space, round uint64) *Space {
	o.mu.Lock()
	defer o.mu.Unlock()
	for s := o.spaces; s != nil; s = s.next {
		if s == not || s.lock == nil || s.acct.tiers[RAM].used == 0 || !s.lock.TryLock() {
			continue
		}
		if s.tried != round && s.Arena.movable() {
			return s
		}
		s.lock.Unlock()
	}
	return nil
}

// lower moves a RAM block of rows to a lower tier. It needs no RAM.
func (s *Space) lower(b *Block) error {
	defer s.begin("spillway.move").end()
	var to Block
	if why := s.takeBelow(&to, int(b.size), int(b.size), true); why.refused() {
		return s.alloc.plainError(why)
	}
	if err := s.fill(&to, b.mem()); err != nil {
		s.give(to, Rows)
		return err
	}
	to.size = b.size
	s.give(*b, Rows)
	*b = to
	return nil
}

// fill writes src to the start of a block below RAM.
func (s *Space) fill(to *Block, src []byte) error {
	if to.tier == Disk {
		return s.alloc.disk.WriteBlock(to.disk, src)
	}
	return s.alloc.guarded(Mmap, func() { copy(to.mem(), src) })
}

// guarded calls f, which touches a block on tier t, and turns a fault on a
// mapped file into an error.
func (a *Allocator) guarded(t Tier, f func()) (err error) {
	if t == Mmap {
		defer sys.Recover(&err, a.pool, debug.SetPanicOnFault(true))
	}
	f()
	return nil
}
