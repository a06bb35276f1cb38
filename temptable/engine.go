package temptable

import (
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/internal/sys"
)

// Values of a limit. 0 is the documented default.
const (
	// Unlimited lifts the limit: as much as the machine has.
	Unlimited int64 = -1
	// Disabled does without: the tier is not used.
	Disabled int64 = -2
)

// Options of an engine. The zero value is ready for use.
type Options struct {
	// MaxRAM is temptable_max_ram, in bytes: RAM for blocks, indexes, buffers
	// and the disk table's cache, idle memory included. Default: 1/32 of the
	// machine's memory or of the cgroup's limit if that is less, 64 MiB to
	// 4 GiB. The least is 64 KiB.
	MaxRAM int64
	// MaxMmap is temptable_max_mmap: bytes of mapped files, idle ones
	// included. Default: a quarter of the free space of Dir, 1 GiB at most.
	MaxMmap int64
	// MaxDisk bounds the bytes of the disk table. Default: Unlimited.
	MaxDisk int64
	// Dir is where files are made. Default: os.TempDir. They have no names:
	// nothing is left after Close or a crash. A directory in RAM (tmpfs) draws
	// a warning, since spilling there saves nothing.
	Dir string
	// Dirs are used, in this order, when Dir is full.
	Dirs []string
	// DiskReserve is the free space of a directory that is never taken, in
	// bytes. Default: 1/20 of it, 1 GiB at most; Disabled: none.
	DiskReserve int64
	// NoDump keeps rows out of core dumps.
	NoDump bool
	// Scrub overwrites freed blocks.
	Scrub bool
	// OnWarn is told what an operator may want to know. It must not block.
	OnWarn func(msg string)
	// Events are told what happens to tables.
	Events Events
	// Logger is told the same in words, and what OnWarn is told: faults and
	// failed tables are errors, block churn is a warning, tier changes, limits
	// and files are informational, blocks are for debugging. Default: silent.
	Logger *slog.Logger
	// ProfileRate starts a recording of who takes blocks: see
	// Engine.SetProfileRate. Default: none.
	ProfileRate int64
	// ProfileLabels sets the pprof labels spillway (what is being done) and
	// table during operations on batches, so that CPU profiles can be split by
	// them. They replace the goroutine's labels but for those in the context of
	// the operation.
	ProfileLabels bool

	fs sys.FS // tests
}

// Limits bound an owner or a table, in bytes, tier by tier. 0: no limit of its
// own; Disabled: nothing on this tier.
type Limits = allocator.Limits

// Engine owns the memory and the files of any number of tables. It is safe for
// concurrent use.
type Engine struct {
	alloc   *allocator.Allocator
	scratch scratchPool
	seed    maphash.Seed // of the keyed hashes
	closed  atomic.Bool
	tables  atomic.Int64 // tables ever created
	events  *dispatcher
	labels  bool
}

// Open makes an engine. It makes no file: nothing exists on disk before the
// first spill. Errors: ErrRAMLimit for a MaxRAM below 64 KiB; what the
// directory's file system returns.
func Open(o Options) (*Engine, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("temptable: open: %w", err)
	}
	d := newDispatcher(o.Events, o.Logger)
	a, err := allocator.Open(allocator.Options{MaxRAM: o.MaxRAM, MaxMmap: o.MaxMmap, MaxDisk: o.MaxDisk,
		Dirs: append([]string{o.Dir}, o.Dirs...), Reserve: o.DiskReserve, FS: o.fs,
		NoDump: o.NoDump, Scrub: o.Scrub, OnWarn: d.warn(o.OnWarn), Notify: d.notify(), Label: o.labeler()})
	if err != nil {
		return nil, fmt.Errorf("temptable: open: %w", err)
	}
	a.RecordStacks(o.ProfileRate)
	e := &Engine{alloc: a, seed: maphash.MakeSeed(), events: d, labels: o.ProfileLabels}
	e.scratch.init(o.MaxRAM)
	return e, nil
}

// Close drops every table and gives all memory and files back. It waits for
// calls under way. Further calls on anything of the engine return ErrClosed;
// closing again does nothing.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return nil
	}
	err := closeOwner(e.alloc.Root())
	err = errors.Join(err, e.alloc.Close())
	e.events.close()
	return err
}

func (o Options) withDefaults() (Options, error) {
	if o.fs == nil {
		o.fs = sys.Default()
	}
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	dir, err := o.fs.Stat(o.Dir)
	if err != nil && (o.MaxMmap != Disabled || o.MaxDisk != Disabled) {
		return o, err
	}
	o.MaxRAM = limit(o.MaxRAM, defaultRAM)
	o.MaxMmap = limit(o.MaxMmap, func() int64 { return min(dir.Free/4, 1<<30) })
	o.MaxDisk = limit(o.MaxDisk, func() int64 { return maxInt64 })
	o.DiskReserve = max(limit(o.DiskReserve, func() int64 { return min(dir.Free/20, 1<<30) }), 0)
	return o, nil
}

// SetMaxRAM changes temptable_max_ram while the engine runs. Below what is in
// use, idle memory is given back and rows of idle tables move down; what cannot
// move stays, and the next block obeys. ErrRAMLimit for less than 64 KiB.
func (e *Engine) SetMaxRAM(n int64) error { return e.alloc.SetMaxRAM(limit(n, defaultRAM)) }

// SetMaxMmap changes temptable_max_mmap. What is in use above it stays.
// ErrNoTier if the engine was opened with MaxMmap Disabled.
func (e *Engine) SetMaxMmap(n int64) error { return e.alloc.SetMaxMmap(tierLimit(n)) }

// SetMaxDisk changes the limit of the disk table. What is in use above it
// stays. ErrNoTier if the engine was opened with MaxDisk Disabled.
func (e *Engine) SetMaxDisk(n int64) error { return e.alloc.SetMaxDisk(tierLimit(n)) }

// tierLimit resolves a limit that is set at run time: Disabled permits nothing
// more.
func tierLimit(n int64) int64 { return max(limit(n, func() int64 { return maxInt64 }), 0) }
