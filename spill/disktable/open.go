package disktable

import (
	"errors"
	"fmt"
	"math"

	"github.com/spillway-db/spillway/spill/internal/filespace"
)

// maxFrames is a bound on MaxFrames: 64 TiB.
const maxFrames = math.MaxInt32

// check returns everything that is wrong with the options.
func (o Options) check() error {
	var errs []error
	if o.Memory == nil {
		errs = append(errs, errors.New("disktable: Memory is nil"))
	}
	if o.MinFrames < 2 {
		errs = append(errs, fmt.Errorf("disktable: MinFrames is %d, at least 2 are needed", o.MinFrames))
	}
	if o.MaxFrames < o.MinFrames || o.MaxFrames > maxFrames {
		errs = append(errs, fmt.Errorf("disktable: MaxFrames is %d, outside of MinFrames (%d) to %d",
			o.MaxFrames, o.MinFrames, maxFrames))
	}
	return errors.Join(errs...)
}

// Open returns a store with its smallest cache. It touches nothing on disk.
//
// It returns everything that is wrong with the options, or ErrNoMemory.
func Open(o Options) (*Store, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Store{table: newTable(o.MaxFrames), space: filespace.New(filespace.Options{
		FS: o.FS, Dirs: o.Dirs, Limit: o.limit(), Reserve: o.Reserve, OnWarn: o.OnWarn,
	})}
	s.frames.init(s, o.Memory, o.MinFrames, o.MaxFrames)
	if err := s.frames.fill(); err != nil {
		s.frames.close()
		return nil, err
	}
	return s, nil
}

// limit is MaxBytes as the file space takes it.
func (o Options) limit() int64 {
	if o.MaxBytes == 0 {
		return -1
	}
	return o.MaxBytes
}

// Alloc allocates size bytes on the device, a power of two from PageSize to
// MaxBlock, for o. What they hold is unspecified.
//
// It returns what Owner.Err says, ErrClosed, or why the space cannot be had,
// with the errors of package spill: the limit, the reserve, a full device, a
// quota, a directory that is missing…
//
// Cost: pointer operations, while there is space that was used before.
func (s *Store) Alloc(size int, o *Owner) (Block, error) {
	if err := s.usable(Block{owner: o}); err != nil {
		return Block{}, err
	}
	piece, _, err := s.space.Alloc(size)
	if err != nil {
		return Block{}, err
	}
	return Block{owner: o, piece: piece}, nil
}

// Close gives all memory back and closes the files; one that still has blocks
// is closed when they are freed. No call is under way and no page is pinned.
// Calls that come later return ErrClosed, and so does a second Close.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return ErrClosed
	}
	s.frames.close()
	return s.space.Close()
}
