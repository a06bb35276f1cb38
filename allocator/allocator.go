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

// Options say what an Allocator may use. The tiers below RAM are off where
// their limit is negative.
type Options struct {
	MaxRAM  int64    // bytes, at least MinRAM
	MaxMmap int64    // allocated bytes of mapped files; negative: no such tier
	MaxDisk int64    // allocated bytes of the disk table; negative: no such tier
	Dirs    []string // for the files, in order of preference
	Reserve int64    // bytes of free disk space that are never taken
	FS      sys.FS   // nil: sys.Default()
	NoDump  bool     // keep blocks out of core dumps
	Scrub   bool     // overwrite freed blocks
	OnWarn  func(string)
}

// MinRAM is the least temptable_max_ram: two frames of the disk table's cache
// and room for one small table.
const MinRAM = 64 << 10

// Allocator is the memory of one engine. It is safe for concurrent use.
type Allocator struct {
	ram   ram
	pool  *spill.Pool      // nil: no mmap tier
	disk  *disktable.Store // nil: no disk tier
	scrub bool
	cache atomic.Int64 // bytes of the disk table's frames
	heap  atomic.Int64 // bytes of Go heap charged to the RAM

	mu   sync.Mutex // guards the tree of owners
	root Owner
}

// Open makes an Allocator. Nothing exists on disk before the first spill.
func Open(o Options) (*Allocator, error) {
	if o.MaxRAM < MinRAM {
		return nil, fmt.Errorf("allocator: RAM limit %d B is below the least, %d B: %w", o.MaxRAM, MinRAM, ErrRAMLimit)
	}
	if o.FS == nil {
		o.FS = sys.Default()
	}
	a := &Allocator{scrub: o.Scrub}
	a.root.alloc = a
	a.root.acct.init(nil, nil, "engine", Limits{})
	a.ram.fs = o.FS
	a.ram.budget.setLimit(o.MaxRAM)
	if err := a.openTiers(o); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Allocator) openTiers(o Options) (err error) {
	if o.MaxMmap >= 0 {
		a.pool, err = spill.Open(spill.Options{Dirs: o.Dirs, Limit: o.MaxMmap, Reserve: o.Reserve,
			FS: o.FS, NoDump: o.NoDump, Scrub: o.Scrub, OnWarn: o.OnWarn})
		if err != nil {
			return err
		}
	}
	if o.MaxDisk >= 0 {
		a.disk, err = disktable.Open(disktable.Options{Dirs: o.Dirs, MaxBytes: o.MaxDisk, Reserve: o.Reserve,
			FS: o.FS, Memory: frames{a}, MinFrames: minFrames(o.MaxRAM),
			MaxFrames: int(min(o.MaxRAM/DiskPage, 1<<20))})
	}
	return err
}

// minFrames is the cache that the disk table always has: 1/64 of the RAM, from
// two frames to 1 MiB.
func minFrames(maxRAM int64) int { return int(min(max(maxRAM/64/DiskPage, 2), 64)) }

// Close gives everything back. Tables that still exist must not be used after.
func (a *Allocator) Close() error {
	var errs []error
	if a.disk != nil {
		errs = append(errs, a.disk.Close())
	}
	if a.pool != nil {
		errs = append(errs, a.pool.Close())
	}
	return errors.Join(append(errs, a.ram.close())...)
}
