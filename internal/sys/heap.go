package sys

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"syscall"
)

// Heap keeps files and mappings in Go memory. Directories are names only, and
// there is no end to the device. A mapping of a file aliases its bytes, as
// long as it is made once and covers what will be written: a file that is
// mapped cannot grow beyond its mapping (EFBIG). Nothing ever faults: what was
// truncated or punched reads as zeros, or as before.
func Heap() FS { return &heapFS{} }

type heapFS struct{ counter }

// OpenTemp implements [FS].
func (fs *heapFS) OpenTemp(dir string) (File, error) {
	fs.add(OpOpen)
	return &heapFile{fs: fs, dir: dir}, nil
}

// Stat implements [FS].
func (fs *heapFS) Stat(string) (DirInfo, error) {
	fs.add(OpStat)
	return DirInfo{Type: "heap", Free: math.MaxInt64 / 2, Total: math.MaxInt64 / 2}, nil
}

// Anon implements [FS]; the memory is aligned only as Go aligns it.
func (fs *heapFS) Anon(n int) ([]byte, error) {
	fs.add(OpAnon)
	if n <= 0 || n%(2<<20) != 0 && (n > 2<<20 || n&(n-1) != 0) {
		return nil, fmt.Errorf("map %d bytes of memory: %w", n, syscall.EINVAL)
	}
	return make([]byte, n), nil
}

// Unmap implements [FS]; the collector does the rest.
func (fs *heapFS) Unmap([]byte) error {
	fs.add(OpUnmap)
	return nil
}

// Advise implements [FS].
func (fs *heapFS) Advise(mem []byte, a Advice) error {
	fs.addAdvice(a)
	if a == Release {
		clear(mem)
	}
	return nil
}

// heapFile is a file whose bytes are data[:size].
type heapFile struct {
	fs  *heapFS
	dir string

	mu     sync.RWMutex
	data   []byte // grows by reallocation, unless mapped
	mapped bool
}

func (f *heapFile) fail(op string, err error) error {
	return &os.PathError{Op: op, Path: f.dir, Err: err}
}

// ReadAt implements [File].
func (f *heapFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.add(OpRead)
	f.mu.RLock()
	defer f.mu.RUnlock()
	if off < 0 {
		return 0, f.fail("read", syscall.EINVAL)
	}
	if off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements [File].
func (f *heapFile) WriteAt(p []byte, off int64) (int, error) {
	f.fs.add(OpWrite)
	if err := f.cover(off, int64(len(p))); err != nil {
		return 0, f.fail("write", err)
	}
	f.mu.RLock() // the callers write apart from each other, as in a real file
	defer f.mu.RUnlock()
	return copy(f.data[off:], p), nil
}

// WritevAt implements [File].
func (f *heapFile) WritevAt(bufs [][]byte, off int64) (n int, err error) {
	for _, b := range bufs {
		m, err := f.WriteAt(b, off+int64(n))
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Allocate implements [File].
func (f *heapFile) Allocate(off, n int64) error {
	f.fs.add(OpAllocate)
	if err := f.cover(off, n); err != nil {
		return f.fail("allocate", err)
	}
	return nil
}

// cover makes the file at least off+n bytes long.
func (f *heapFile) cover(off, n int64) error {
	if off < 0 || n < 0 {
		return syscall.EINVAL
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if off+n <= int64(len(f.data)) {
		return nil
	}
	return f.resize(off + n)
}

func (f *heapFile) resize(size int64) error {
	if size <= int64(cap(f.data)) {
		f.data = f.data[:size]
		return nil
	}
	if f.mapped {
		return syscall.EFBIG
	}
	f.data = append(f.data, make([]byte, size-int64(len(f.data)))...)
	return nil
}

// Punch implements [File].
func (f *heapFile) Punch(off, n int64) error {
	f.fs.add(OpPunch)
	f.mu.Lock()
	defer f.mu.Unlock()
	if off < 0 || n <= 0 {
		return f.fail("punch", syscall.EINVAL)
	}
	if size := int64(len(f.data)); off < size {
		clear(f.data[off:min(off+n, size)])
	}
	return nil
}

// Truncate implements [File].
func (f *heapFile) Truncate(size int64) error {
	f.fs.add(OpTruncate)
	f.mu.Lock()
	defer f.mu.Unlock()
	if size < 0 {
		return f.fail("truncate", syscall.EINVAL)
	}
	if old := int64(len(f.data)); size < old {
		clear(f.data[size:old])
		f.data = f.data[:size]
		return nil
	}
	if err := f.resize(size); err != nil {
		return f.fail("truncate", err)
	}
	return nil
}

// Size implements [File].
func (f *heapFile) Size() (int64, error) {
	f.fs.add(OpSize)
	f.mu.RLock()
	defer f.mu.RUnlock()
	return int64(len(f.data)), nil
}

// DisableCoW implements [File].
func (f *heapFile) DisableCoW() error {
	f.fs.add(OpDisableCoW)
	return f.fail("disable copy-on-write", errors.ErrUnsupported)
}

// Map implements [File]. Only the first call may reach beyond what the file
// has room for.
func (f *heapFile) Map(off int64, n int) ([]byte, error) {
	f.fs.add(OpMap)
	f.mu.Lock()
	defer f.mu.Unlock()
	end := off + int64(n)
	if off < 0 || n <= 0 {
		return nil, f.fail("map", syscall.EINVAL)
	}
	if end > int64(cap(f.data)) {
		if f.mapped {
			return nil, f.fail("map", syscall.ENOMEM)
		}
		grown := make([]byte, len(f.data), end)
		copy(grown, f.data)
		f.data = grown
	}
	f.mapped = true
	return f.data[off:end:end], nil
}

// Close implements [File].
func (f *heapFile) Close() error {
	f.fs.add(OpClose)
	return nil
}
