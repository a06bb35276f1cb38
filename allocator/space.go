package allocator

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spillway-db/spillway/internal/invariants"
	"github.com/spillway-db/spillway/spill"
	"github.com/spillway-db/spillway/spill/disktable"
)

// Block is a power of two bytes on one tier.
type Block struct {
	mem  []byte // nil on the disk tier
	size int    // usable bytes
	held int    // bytes charged: size, but at least DiskPage below RAM
	tier Tier
	ram  piece
	ext  spill.Extent
	disk disktable.Block
}

// Lock is a table's exclusion. TryLock takes it for a moving of blocks by
// somebody else; it fails if a call on the table is under way.
type Lock interface {
	TryLock() bool
	Unlock()
}

// Space is the memory of one table: its limits, what it holds and its rows'
// arena. It is guarded by its table's lock.
type Space struct {
	Arena Arena

	alloc   *Allocator
	owner   *Owner
	acct    account
	lock    Lock
	bytes   [numTiers][numPurposes]atomic.Int64
	created atomic.Int64 // blocks taken
	mapped  atomic.Bool  // a block lies in a mapped file
	why     [numTiers]*account
	failed  disktable.Owner

	next, prev *Space
}

// Init makes s the memory of a new table of o. It takes no memory. The lock is
// tried by others who need RAM; nil: no block is ever moved by others.
func (s *Space) Init(o *Owner, name string, l Limits, lock Lock) error {
	s.alloc, s.owner, s.lock = o.alloc, o, lock
	s.acct.init(&o.acct, ErrTableLimit, name, l)
	s.Arena.init(s)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sealed {
		return fmt.Errorf("allocator: owner %q: %w", o.acct.name, ErrClosed)
	}
	s.next = o.spaces
	if s.next != nil {
		s.next.prev = s
	}
	o.spaces = s
	return nil
}

// Free gives back the arena and leaves the owner. Whatever else was taken from
// s must have been given back before.
func (s *Space) Free() {
	s.Arena.free()
	s.leave(s.owner)
}

func (s *Space) leave(o *Owner) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.next != nil {
		s.next.prev = s.prev
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		o.spaces = s.next
	}
	s.next, s.prev = nil, nil
}

// SetLimits changes the table's limits.
func (s *Space) SetLimits(l Limits) { s.acct.setLimits(l) }

// Mapped reports whether any block lies, or ever lay, in a mapped file, so
// that touching the table's memory needs a fault guard.
func (s *Space) Mapped() bool { return s.mapped.Load() }

// Has reports whether the table has any bytes on tier t.
func (s *Space) Has(t Tier) bool {
	for p := range numPurposes {
		if s.bytes[t][p].Load() != 0 {
			return true
		}
	}
	return false
}

// MayMap reports whether a block may come to lie in a mapped file.
func (s *Space) MayMap() bool { return s.alloc.pool != nil }

// Faulted implements sys.Faulter: does addr lie in a mapped file of the engine?
func (s *Space) Faulted(addr uintptr) bool { return s.alloc.pool != nil && s.alloc.pool.Faulted(addr) }

// take returns a block of size bytes, or of less but at least least bytes
// where a limit leaves no more, from the highest tier that has it.
func (s *Space) take(size, least int, p Purpose) (Block, error) {
	for n := size; n >= least; n /= 2 {
		if b, ok := s.takeRAM(n, p); ok {
			return b, nil
		}
	}
	err := s.ramRefusal(least)
	if b, e := s.takeMapped(size, least, p); e == nil {
		return b, nil
	} else if e != errNoTier {
		err = e
	}
	if b, e := s.takeDisk(size, least, p); e == nil {
		return b, nil
	} else if e != errNoTier {
		err = e
	}
	return Block{}, err
}

var errNoTier = errors.New("no such tier")

// takeRAM takes RAM without moving rows.
func (s *Space) takeRAM(n int, p Purpose) (Block, bool) {
	if s.why[RAM] = s.acct.take(RAM, int64(n)); s.why[RAM] != nil {
		return Block{}, false
	}
	piece, err := s.ramPiece(n)
	if err != nil {
		s.acct.give(RAM, int64(n))
		return Block{}, false
	}
	b := Block{mem: piece.bytes(), size: n, held: n, tier: RAM, ram: piece}
	s.count(&b, p)
	return b, true
}

func (s *Space) ramPiece(n int) (piece, error) {
	if p, ok := s.owner.takeIdle(n); ok {
		return p, nil
	}
	return s.alloc.takeRAM(n)
}

// takeRAM takes RAM, reclaiming what is idle anywhere before it refuses.
func (a *Allocator) takeRAM(n int) (piece, error) {
	p, err := a.ram.take(n)
	if err == errRAMFull {
		a.flushIdle()
		if a.disk != nil {
			a.disk.Shrink((n + DiskPage - 1) / DiskPage)
		}
		p, err = a.ram.take(n)
	}
	if a.pool != nil && a.ram.budget.used.Load() > a.ram.budget.limit.Load()/2 {
		a.pool.Start()
	}
	return p, err
}

// takeMapped takes an extent.
func (s *Space) takeMapped(size, least int, p Purpose) (Block, error) {
	if s.alloc.pool == nil {
		return Block{}, errNoTier
	}
	size, least = max(size, DiskPage), max(least, DiskPage)
	var err error
	for n := size; n >= least; n /= 2 {
		var b Block
		if b, err = s.extent(n); err == nil {
			s.count(&b, p)
			return b, nil
		}
	}
	return Block{}, err
}

func (s *Space) extent(n int) (Block, error) {
	if s.why[Mmap] = s.acct.take(Mmap, int64(n)); s.why[Mmap] != nil {
		return Block{}, s.why[Mmap].refusal(Mmap, int64(n))
	}
	e, err := s.alloc.pool.Acquire(n)
	if err != nil {
		s.acct.give(Mmap, int64(n))
		return Block{}, err
	}
	s.mapped.Store(true)
	return Block{mem: e.Bytes(), size: n, held: n, tier: Mmap, ext: e}, nil
}

// takeDisk takes pages of the disk table.
func (s *Space) takeDisk(size, least int, p Purpose) (Block, error) {
	if s.alloc.disk == nil {
		return Block{}, errNoTier
	}
	size, least = max(size, DiskPage), max(least, DiskPage)
	var err error
	for n := size; n >= least; n /= 2 {
		var b Block
		if b, err = s.pages(n); err == nil {
			s.count(&b, p)
			return b, nil
		}
	}
	return Block{}, err
}

func (s *Space) pages(n int) (Block, error) {
	if s.why[Disk] = s.acct.take(Disk, int64(n)); s.why[Disk] != nil {
		return Block{}, s.why[Disk].refusal(Disk, int64(n))
	}
	d, err := s.alloc.disk.Alloc(n, &s.failed)
	if err != nil {
		s.acct.give(Disk, int64(n))
		return Block{}, err
	}
	return Block{size: n, held: n, tier: Disk, disk: d}, nil
}

// lower moves a RAM block to a lower tier. It needs no new RAM.
func (s *Space) lower(b *Block) error {
	to, err := s.takeMapped(b.size, max(b.size, DiskPage), Rows)
	if err != nil {
		if to, err = s.takeDisk(b.size, max(b.size, DiskPage), Rows); err != nil {
			return err
		}
	}
	if to.tier == Disk {
		if err := s.alloc.disk.WriteBlock(to.disk, b.mem); err != nil {
			s.give(to, Rows)
			return err
		}
	} else {
		copy(to.mem, b.mem)
		to.mem = to.mem[:b.size:b.size]
	}
	to.size = b.size
	s.give(*b, Rows)
	*b = to
	return nil
}

// takePriority is take for what must be in RAM, or at least addressable: when
// RAM is short it moves cold rows of this table, then of idle tables, down.
func (s *Space) takePriority(n int, p Purpose) (Block, error) {
	for {
		if s.alloc.spares(n) {
			if b, ok := s.takeRAM(n, p); ok {
				return b, nil
			}
		}
		freed, err := s.makeRoom()
		if err != nil || freed == 0 {
			return Block{}, s.ramRefusal(n)
		}
	}
}

// spares reports whether taking n bytes for an index leaves RAM for what
// cannot go further down: scratch and cursors' buffers. Without a lower tier
// the index is not kept from anything, since its refusal would be an error.
func (a *Allocator) spares(n int) bool {
	if a.disk == nil && a.pool == nil {
		return true
	}
	limit := a.ram.budget.limit.Load()
	free := limit - a.ram.budget.used.Load() + a.idle()
	return free-int64(n) >= max(limit/8, DiskPage)
}

// makeRoom moves one block down: of this table, or, if it is the engine that
// is short, of any table that is idle.
func (s *Space) makeRoom() (int, error) {
	n, err := s.Arena.moveDown()
	if n != 0 || err != nil || s.why[RAM] != nil {
		return n, err
	}
	return s.alloc.moveOthers(s)
}

// moveOthers moves a block of some idle table other than not.
func (a *Allocator) moveOthers(not *Space) (int, error) {
	s := a.lockMovable(not)
	if s == nil {
		return 0, nil
	}
	defer s.lock.Unlock()
	return s.Arena.moveDown()
}

// lockMovable finds a table other than not that is idle and has RAM to give,
// and returns it locked, so that it cannot be dropped meanwhile.
func (a *Allocator) lockMovable(not *Space) *Space {
	a.mu.Lock()
	defer a.mu.Unlock()
	var found *Space
	a.root.walk(func(o *Owner) bool {
		found = o.lockMovable(not)
		return found == nil
	})
	return found
}

func (o *Owner) lockMovable(not *Space) *Space {
	o.mu.Lock()
	defer o.mu.Unlock()
	for s := o.spaces; s != nil; s = s.next {
		if s == not || s.lock == nil || !s.lock.TryLock() {
			continue
		}
		if s.Arena.movable() {
			return s
		}
		s.lock.Unlock()
	}
	return nil
}

// give returns a block to where it came from.
func (s *Space) give(b Block, p Purpose) {
	s.bytes[b.tier][p].Add(-int64(b.held))
	s.acct.give(b.tier, int64(b.held))
	if b.mem != nil && (invariants.Enabled || s.alloc.scrub) {
		scrub(b.mem)
	}
	switch b.tier {
	case RAM:
		if !s.owner.keepIdle(b.ram) {
			s.alloc.ram.give(b.ram)
		}
	case Mmap:
		s.alloc.pool.Release(b.ext)
	case Disk:
		s.alloc.disk.Free(b.disk)
	}
}

// scrub overwrites freed memory, with a value that no live structure has.
func scrub(mem []byte) {
	for i := range mem {
		mem[i] = 0xCC
	}
}

func (s *Space) count(b *Block, p Purpose) {
	s.bytes[b.tier][p].Add(int64(b.held))
	s.created.Add(1)
}

// ramRefusal is the error for a caller that only RAM could have served.
func (s *Space) ramRefusal(n int) error {
	if a := s.why[RAM]; a != nil {
		return a.refusal(RAM, int64(n))
	}
	return s.alloc.ram.refusal(int64(n))
}
