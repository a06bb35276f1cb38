package spill

import (
	"errors"
	"fmt"
	"time"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/spill/internal/filespace"
)

// Sizes of extents, in bytes.
const (
	MinExtent = filespace.MinPiece // 16 KiB
	MaxExtent = filespace.MaxPiece // 8 MiB
)

// maxFile is the largest span of a file: pieces keep their offset in 32 bits.
const maxFile = 4 << 30

// Off as a limit means none.
const Off = -1

// Defaults of [Options].
const (
	DefaultLimit = 1 << 30 // as MySQL's temptable_max_mmap
	DefaultRest  = 30 * time.Second
)

// Options configure a [Pool]. The zero value is valid.
type Options struct {
	// FS is the operating system. Default: sys.Default().
	FS sys.FS
	// Dirs are where files are made: in the first, and in the next when that
	// one refuses. Default: os.TempDir().
	Dirs []string
	// Limit bounds the bytes allocated on the devices, idle ones included.
	// Default: DefaultLimit; Off: none.
	Limit int64
	// Reserve is how many free bytes are left on each device. Default: 0.
	Reserve int64
	// FileSize is the span of a file in bytes, 16 KiB to 4 GiB; no extent is
	// larger. A file spans no more than the limit. Default: 64 MiB.
	FileSize int
	// Rest is how long a file has to be empty before it is given back; it
	// takes up to twice that. Default: DefaultRest; Off: only Trim does it.
	Rest time.Duration
	// Scrub overwrites what is released with zeros, in the worker.
	Scrub bool
	// NoDump keeps mapped pages out of core dumps, NoFork out of children that
	// fork without exec.
	NoDump, NoFork bool
	// OnWarn, if not nil, is told what an operator should know, such as a
	// directory that lies in RAM; once for each directory. It is called from
	// any goroutine and must not call the pool.
	OnWarn func(msg string)
	// After calls f after d, unless stop is called before. Default:
	// time.AfterFunc. It is here for tests.
	After func(d time.Duration, f func()) (stop func() bool)
}

// check reports every problem at once.
func (o *Options) check() error {
	var errs []error
	if o.Limit < Off {
		errs = append(errs, fmt.Errorf("limit of %d bytes", o.Limit))
	}
	if o.Reserve < 0 {
		errs = append(errs, fmt.Errorf("reserve of %d bytes", o.Reserve))
	}
	if o.FileSize != 0 && (o.FileSize < MinExtent || int64(o.FileSize) > maxFile) {
		errs = append(errs, fmt.Errorf("file size of %d bytes is not within 16 KiB and 4 GiB", o.FileSize))
	}
	for _, d := range o.Dirs {
		if d == "" {
			errs = append(errs, errors.New("directory without a name"))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("spill options: %w", errors.Join(errs...))
	}
	return nil
}

func (o *Options) setDefaults() {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	if o.Rest == 0 {
		o.Rest = DefaultRest
	}
	if o.After == nil {
		o.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
}

func (o *Options) space() *filespace.Space {
	return filespace.New(filespace.Options{
		FS: o.FS, Dirs: o.Dirs, Limit: o.Limit, Reserve: o.Reserve, FileSize: o.FileSize,
		Map: true, NoDump: o.NoDump, NoFork: o.NoFork, OnWarn: o.OnWarn,
	})
}
