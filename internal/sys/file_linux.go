package sys

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// linuxFile is a descriptor. It is not an os.File: that one would add a poller
// registration and a finalizer that closes what is still mapped.
type linuxFile struct {
	fd  int
	dir string
	fs  *linuxFS
}

func (f *linuxFile) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: f.dir, Err: err}
}

// ReadAt implements [File].
func (f *linuxFile) ReadAt(p []byte, off int64) (n int, err error) {
	f.fs.add(OpRead)
	for n < len(p) {
		m, err := unix.Pread(f.fd, p[n:], off+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, f.fail("read temporary file in", err)
		}
		if m == 0 {
			return n, io.EOF
		}
		n += m
	}
	return n, nil
}

// WriteAt implements [File].
func (f *linuxFile) WriteAt(p []byte, off int64) (n int, err error) {
	f.fs.add(OpWrite)
	for n < len(p) {
		m, err := unix.Pwrite(f.fd, p[n:], off+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err == nil && m == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, f.fail("write temporary file in", err)
		}
		n += m
	}
	return n, nil
}

// WritevAt implements [File]. What a short write left over goes out buffer by
// buffer.
func (f *linuxFile) WritevAt(bufs [][]byte, off int64) (n int, err error) {
	f.fs.add(OpWrite)
	n, err = unix.Pwritev(f.fd, bufs, off)
	if err != nil && err != unix.EINTR {
		return 0, f.fail("write temporary file in", err)
	}
	n = max(n, 0)
	return writeRest(f, bufs, off, n)
}

// writeRest writes bufs but for the first n bytes, which are written.
func writeRest(f File, bufs [][]byte, off int64, n int) (int, error) {
	done := 0
	for _, b := range bufs {
		if done+len(b) > n {
			m, err := f.WriteAt(b[max(n-done, 0):], off+int64(max(n, done)))
			n = max(n, done) + m
			if err != nil {
				return n, err
			}
		}
		done += len(b)
	}
	return n, nil
}

// Allocate implements [File].
func (f *linuxFile) Allocate(off, n int64) error {
	f.fs.add(OpAllocate)
	return f.fail("allocate temporary file in", f.fallocate(0, off, n))
}

// Punch implements [File].
func (f *linuxFile) Punch(off, n int64) error {
	f.fs.add(OpPunch)
	err := f.fallocate(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	return f.fail("punch temporary file in", err)
}

func (f *linuxFile) fallocate(mode uint32, off, n int64) error {
	err := retry(func() error { return unix.Fallocate(f.fd, mode, off, n) })
	if err == unix.ENOSYS || err == unix.EOPNOTSUPP {
		return errors.ErrUnsupported
	}
	return err
}

// Truncate implements [File].
func (f *linuxFile) Truncate(size int64) error {
	f.fs.add(OpTruncate)
	return f.fail("truncate temporary file in", retry(func() error { return unix.Ftruncate(f.fd, size) }))
}

// Size implements [File].
func (f *linuxFile) Size() (int64, error) {
	f.fs.add(OpSize)
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(f.fd, &st) })
	return st.Size, f.fail("fstat temporary file in", err)
}

// noCoWFlag is FS_NOCOW_FL (linux/fs.h, ioctl_iflags(2)).
const noCoWFlag = 0x00800000

// DisableCoW implements [File].
func (f *linuxFile) DisableCoW() error {
	f.fs.add(OpDisableCoW)
	flags, err := unix.IoctlGetUint32(f.fd, unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(f.fd, unix.FS_IOC_SETFLAGS, int(flags|noCoWFlag))
	}
	if err == unix.ENOTTY || err == unix.EOPNOTSUPP || err == unix.EINVAL {
		err = errors.ErrUnsupported
	}
	return f.fail("disable copy-on-write of temporary file in", err)
}

// Map implements [File].
func (f *linuxFile) Map(off int64, n int) ([]byte, error) {
	f.fs.add(OpMap)
	mem, err := mapFile(f.fd, off, n)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes of temporary file in %s: %w", n, f.dir, err)
	}
	return mem, nil
}

// Close implements [File]. EINTR is no failure: Linux has closed the
// descriptor by then (close(2)).
func (f *linuxFile) Close() error {
	f.fs.add(OpClose)
	fd := f.fd
	f.fd = -1
	if err := unix.Close(fd); err != nil && err != unix.EINTR {
		return f.fail("close temporary file in", err)
	}
	return nil
}
