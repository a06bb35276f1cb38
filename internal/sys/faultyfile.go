package sys

import (
	"fmt"
	"math"
)

type faultyFile struct {
	File
	f   *Faulty
	has map[int64]struct{} // blocks on the simulated device
}

// take says how many of n bytes at off the simulated device has room for.
func (x *faultyFile) take(off, n int64) (int64, error) {
	x.f.mu.Lock()
	defer x.f.mu.Unlock()
	if x.f.device == nil {
		return n, nil
	}
	if x.has == nil {
		x.has = map[int64]struct{}{}
	}
	got := x.f.device.take(x.has, off, n)
	if got < n {
		return got, fmt.Errorf("simulated device: %w", errFull)
	}
	return n, nil
}

func (x *faultyFile) drop(off, end int64) {
	x.f.mu.Lock()
	defer x.f.mu.Unlock()
	if x.f.device != nil {
		x.f.device.drop(x.has, off, end)
	}
}

// ReadAt implements [File].
func (x *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := x.f.call(OpRead); err != nil {
		return 0, err
	}
	return x.File.ReadAt(p, off)
}

// WriteAt implements [File].
func (x *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if err := x.f.call(OpWrite); err != nil {
		return 0, err
	}
	room, full := x.take(off, int64(len(p)))
	n, err := x.File.WriteAt(p[:room], off)
	return n, first(err, full)
}

// WritevAt implements [File], as one call; on a device that fills up it is one
// call a buffer.
func (x *faultyFile) WritevAt(bufs [][]byte, off int64) (n int, err error) {
	if x.f.device == nil {
		if err := x.f.call(OpWrite); err != nil {
			return 0, err
		}
		return x.File.WritevAt(bufs, off)
	}
	for _, b := range bufs {
		m, err := x.WriteAt(b, off+int64(n))
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Allocate implements [File].
func (x *faultyFile) Allocate(off, n int64) error {
	if err := x.f.call(OpAllocate); err != nil {
		return err
	}
	room, full := x.take(off, n)
	if room == 0 {
		return full
	}
	return first(x.File.Allocate(off, room), full)
}

// Punch implements [File].
func (x *faultyFile) Punch(off, n int64) error {
	if err := x.f.call(OpPunch); err != nil {
		return err
	}
	x.drop(off, off+n)
	return x.File.Punch(off, n)
}

// Truncate implements [File].
func (x *faultyFile) Truncate(size int64) error {
	if err := x.f.call(OpTruncate); err != nil {
		return err
	}
	x.drop(size, math.MaxInt64)
	return x.File.Truncate(size)
}

// Size implements [File].
func (x *faultyFile) Size() (int64, error) {
	if err := x.f.call(OpSize); err != nil {
		return 0, err
	}
	return x.File.Size()
}

// DisableCoW implements [File].
func (x *faultyFile) DisableCoW() error {
	if err := x.f.call(OpDisableCoW); err != nil {
		return err
	}
	return x.File.DisableCoW()
}

// Map implements [File].
func (x *faultyFile) Map(off int64, n int) ([]byte, error) {
	if err := x.f.call(OpMap); err != nil {
		return nil, err
	}
	return x.f.mapped(x.File.Map(off, n))
}

// Close implements [File].
func (x *faultyFile) Close() error {
	injected := x.f.call(OpClose)
	x.drop(0, math.MaxInt64)
	x.f.count(-1, 0)
	return first(injected, x.File.Close())
}
