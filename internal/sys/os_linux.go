package sys

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// hugeSize is the size of a huge page, and the largest alignment of Anon.
const hugeSize = 2 << 20

// OS is the kernel, with counters of its own.
func OS() FS { return &linuxFS{} }

// Named is OS as it is where O_TMPFILE is refused: files have a name for a
// moment. It is for tests of that way.
func Named() FS { return &linuxFS{refuse: true} }

type linuxFS struct {
	counter
	refuse bool     // take O_TMPFILE for refused
	named  sync.Map // dir → struct{}: refuses O_TMPFILE, and has been swept
}

// OpenTemp implements [FS].
func (fs *linuxFS) OpenTemp(dir string) (File, error) {
	fs.add(OpOpen)
	fd, err := fs.openTemp(dir)
	if err != nil {
		return nil, &os.PathError{Op: "create temporary file in", Path: dir, Err: err}
	}
	return &linuxFile{fd: fd, dir: dir, fs: fs}, nil
}

func (fs *linuxFS) openTemp(dir string) (int, error) {
	if _, ok := fs.named.Load(dir); ok {
		return createNamed(dir)
	}
	if !fs.refuse {
		fd, err := openRetry(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC)
		if !tmpfileRefused(err) {
			return fd, err
		}
	}
	sweep(dir)
	fs.named.Store(dir, struct{}{})
	return createNamed(dir)
}

// tmpfileRefused tells a file system (EOPNOTSUPP) or a kernel (EISDIR, EINVAL)
// without O_TMPFILE from other failures.
func tmpfileRefused(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EINVAL)
}

func openRetry(path string, flags int) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Open(path, flags, 0o600)
		return err
	})
	return fd, err
}

// retry calls f until it returns something other than EINTR.
func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// Stat implements [FS].
func (fs *linuxFS) Stat(dir string) (DirInfo, error) {
	fs.add(OpStat)
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return DirInfo{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return describe(&st), nil
}

// Anon implements [FS]. It reserves more than n and trims both ends, so that
// what is left is aligned.
func (fs *linuxFS) Anon(n int) ([]byte, error) {
	fs.add(OpAnon)
	if n <= 0 || n%hugeSize != 0 && (n > hugeSize || n&(n-1) != 0) {
		return nil, fmt.Errorf("map %d bytes of memory: %w", n, unix.EINVAL)
	}
	mem, err := mapAligned(n, min(max(n, os.Getpagesize()), hugeSize))
	if err != nil {
		return nil, fmt.Errorf("map %d bytes of memory: %w", n, err)
	}
	return mem, nil
}

// Unmap implements [FS].
func (fs *linuxFS) Unmap(mem []byte) error {
	fs.add(OpUnmap)
	if err := munmap(mem); err != nil {
		return fmt.Errorf("unmap %d bytes: %w", len(mem), err)
	}
	return nil
}

// Advise implements [FS].
func (fs *linuxFS) Advise(mem []byte, a Advice) error {
	fs.addAdvice(a)
	if len(mem) == 0 {
		return nil
	}
	err := retry(func() error { return unix.Madvise(mem, adviceBits[a]) })
	switch {
	case err == nil:
		return nil
	case err == unix.EINVAL && a == Populate: // a kernel before 5.14
		err = errors.ErrUnsupported
	}
	return fmt.Errorf("advise %d bytes: %w", len(mem), err)
}

var adviceBits = [...]int{
	Release:  unix.MADV_DONTNEED,
	Huge:     unix.MADV_HUGEPAGE,
	NoHuge:   unix.MADV_NOHUGEPAGE,
	Populate: unix.MADV_POPULATE_WRITE,
	NoDump:   unix.MADV_DONTDUMP,
	NoFork:   unix.MADV_DONTFORK,
}
