package allocator

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/spill"
	"github.com/spillway-db/spillway/spill/disktable"
)

// Options say what an Allocator may use.
type Options struct {
	MaxRAM  int64    // bytes, at least MinRAM
	MaxMmap int64    // allocated bytes of mapped files; below 0: no such tier
	MaxDisk int64    // allocated bytes of the disk table; below 0: no such tier
	Dirs    []string // for the files, in order of preference
	Reserve int64    // bytes of free disk space that are never taken
	FS      sys.FS   // nil: sys.Default()
	NoDump  bool     // keep blocks out of core dumps
	Scrub   bool     // overwrite freed blocks
	OnWarn  func(string)
	// Notify, if not nil, is told what happens to tables: about once a block at
	// most. It is called with locks held: it must not block, nor call anything
	// of the allocator but Space.Path.
	Notify func(Event)
	// Label, if not nil, is called when a span of work begins, and what it
	// returns when that ends. The same holds for it.
	Label func(s *Space, what string) (unmark func())
}

// MinRAM is the least temptable_max_ram: two frames of the disk table's cache
// and room for one small table.
const MinRAM = 64 << 10

// Allocator is the memory of one engine. It is safe for concurrent use.
type Allocator struct {
	ram       ram
	pool      *spill.Pool      // nil: no mmap tier
	disk      *disktable.Store // nil: no disk tier
	scrub     bool
	minFrames int

	below   [numTiers]gauge // bytes that tables have below RAM
	cache   atomic.Int64    // bytes of the disk table's frames
	heap    atomic.Int64    // bytes of Go heap charged to the RAM
	rounds  atomic.Uint64   // of moveOthers
	keepers keepers

	notify   func(Event)
	label    func(*Space, string) func()
	recorder atomic.Pointer[recorder] // nil: off

	mu   sync.Mutex // guards the tree of owners
	root Owner
}

// Open makes an Allocator. Nothing exists on disk before the first spill.
func Open(o Options) (*Allocator, error) {
	if err := checkRAM(o.MaxRAM); err != nil {
		return nil, err
	}
	if o.FS == nil {
		o.FS = sys.Default()
	}
	a := &Allocator{scrub: o.Scrub, notify: o.Notify, label: o.Label, minFrames: minFrames(o.MaxRAM)}
	a.root.alloc = a
	a.root.acct.name, a.root.acct.owner = "engine", &a.root
	a.ram.fs = o.FS
	a.ram.budget.limit.Store(o.MaxRAM)
	if err := a.openTiers(o); err != nil {
		return nil, errors.Join(fmt.Errorf("allocator: open: %w", err), a.Close())
	}
	return a, nil
}

func checkRAM(limit int64) error {
	if limit < MinRAM {
		return fmt.Errorf("allocator: RAM limit %d B is below the least, %d B: %w", limit, MinRAM, ErrRAMLimit)
	}
	return nil
}

func (a *Allocator) openTiers(o Options) (err error) {
	if o.MaxMmap >= 0 {
		a.pool, err = spill.Open(spill.Options{Dirs: o.Dirs, Limit: atLeastOne(o.MaxMmap), Reserve: o.Reserve,
			FS: watchFS{o.FS, a, Mmap}, NoDump: o.NoDump, Scrub: o.Scrub, OnWarn: o.OnWarn})
		if err != nil {
			return err
		}
	}
	if o.MaxDisk >= 0 {
		a.disk, err = disktable.Open(disktable.Options{Dirs: o.Dirs, MaxBytes: atLeastOne(o.MaxDisk), Reserve: o.Reserve,
			FS: watchFS{o.FS, a, Disk}, OnWarn: o.OnWarn, Memory: frames{a}, MinFrames: a.minFrames,
			MaxFrames: int(min(o.MaxRAM/DiskPage, 1<<20))})
	}
	return err
}

// atLeastOne makes a limit of nothing one byte, since the tiers take 0 for
// their default.
func atLeastOne(limit int64) int64 { return max(limit, 1) }

// minFrames is the cache that the disk table always has: 1/64 of the RAM, from
// two frames to 1 MiB.
func minFrames(maxRAM int64) int { return int(min(max(maxRAM/64/DiskPage, 2), 64)) }

// SetMaxRAM changes temptable_max_ram. Where more is in use, idle memory goes
// back to the kernel, the disk table's cache shrinks, and rows of idle tables
// move down; what cannot move stays, and the next block obeys. The cache never
// grows beyond the limit that the engine was opened with. ErrRAMLimit for less
// than MinRAM.
func (a *Allocator) SetMaxRAM(n int64) error {
	if err := checkRAM(n); err != nil {
		return err
	}
	a.ram.budget.limit.Store(n)
	a.flushIdle()
	a.shrinkCache(-a.ram.room())
	for a.ram.trim(); a.ram.budget.room() < 0; a.ram.trim() {
		if a.moveOthers(nil, -a.ram.budget.room()) == 0 {
			break
		}
		a.flushIdle()
	}
	return nil
}

// SetMaxMmap changes temptable_max_mmap. What is in use above it stays.
// ErrNoTier if the engine was opened without mapped files.
func (a *Allocator) SetMaxMmap(n int64) error {
	if a.pool == nil {
		return fmt.Errorf("allocator: set the limit of %v: %w", Mmap, ErrNoTier)
	}
	return a.pool.SetLimit(atLeastOne(n))
}

// SetMaxDisk changes the limit of the disk table. What is in use above it
// stays. ErrNoTier if the engine was opened without one.
func (a *Allocator) SetMaxDisk(n int64) error {
	if a.disk == nil {
		return fmt.Errorf("allocator: set the limit of %v: %w", Disk, ErrNoTier)
	}
	return a.disk.SetLimit(atLeastOne(n))
}

// Close gives everything back. No call is under way, and tables that still
// exist must not be used after.
func (a *Allocator) Close() error {
	var errs []error
	if a.disk != nil {
		errs = append(errs, a.disk.Close())
	}
	if a.pool != nil {
		errs = append(errs, a.pool.Close())
	}
	a.flushIdle()
	return errors.Join(append(errs, a.ram.close())...)
}

// takeRAM takes a piece of RAM that leaves keep bytes to others, reclaiming
// what is idle anywhere before it refuses. It returns what ram.take does.
func (a *Allocator) takeRAM(n int, keep int64) (p piece, fresh bool, err error) {
	if !a.spares(int64(n) + keep) {
		return piece{}, false, errRAMFull
	}
	p, fresh, err = a.ram.take(n)
	if err == errRAMFull && a.reclaim(int64(n)) {
		p, fresh, err = a.ram.take(n)
	}
	if a.pool != nil && a.ram.budget.room() < a.ram.budget.max()/2 {
		a.pool.Start()
	}
	return p, fresh, err
}

// reclaim makes frames of the disk table's cache, or else what owners keep,
// idle memory of the engine, until n bytes may be had; it reports whether they
// may. Owners are asked last: what they keep makes small tables fast.
func (a *Allocator) reclaim(n int64) bool {
	if n-a.ram.room() > a.spareCache() {
		a.flushIdle()
	}
	if lack := n - a.ram.room(); lack <= a.spareCache() {
		a.shrinkCache(lack)
	}
	return a.ram.room() >= n
}

// reserve is the RAM that blocks leave to buffers, which cannot go further
// down: 1/8 of it, from a page of the disk table to 4 MiB. Small tables leave
// half of that, so that a large one does not drive them out, and so does who
// was refused by every tier below. Without a lower tier blocks are kept from
// nothing, since their refusal would be an error.
func (a *Allocator) reserve(half bool) int64 {
	n := min(max(a.ram.budget.max()/8, DiskPage), 4<<20)
	switch {
	case a.disk == nil && a.pool == nil:
		return 0
	case half:
		return n / 2
	}
	return n
}

// spares reports whether n bytes of RAM can be had without moving rows.
func (a *Allocator) spares(n int64) bool {
	return a.free() >= n || a.flushIdle() != 0 && a.free() >= n
}

// free is the RAM that could be had without moving rows, but for what owners
// keep.
func (a *Allocator) free() int64 { return a.ram.room() + a.spareCache() }

// spareCache is what the disk table's cache has above its minimum.
func (a *Allocator) spareCache() int64 {
	return max(a.cache.Load()-int64(a.minFrames*DiskPage), 0)
}

// shrinkCache takes n bytes from the disk table's cache, or what it can spare.
func (a *Allocator) shrinkCache(n int64) {
	if n = min(n, a.spareCache()); n > 0 {
		a.disk.Shrink(int((n + DiskPage - 1) / DiskPage))
	}
}
