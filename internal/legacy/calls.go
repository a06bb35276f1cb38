package legacy

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"
)

// calls are the system calls that the old engine made; a test can make each
// one fail.
type calls struct {
	open   func(dir string) (fd int, err error)
	write  func(fd int, p []byte) (int, error)
	mmap   func(fd, size, prot, flags int) ([]byte, error)
	munmap func(mem []byte) error
	close  func(fd int) error
}

func systemCalls() calls {
	return calls{
		open:  openTemp,
		write: unix.Write,
		mmap: func(fd, size, prot, flags int) ([]byte, error) {
			return unix.Mmap(fd, 0, size, prot, flags)
		},
		munmap: unix.Munmap,
		close:  unix.Close,
	}
}

// fillStep is what the old engine wrote at once to make a file's blocks exist.
const fillStep = 4096

// mappedFile makes a file without a name in dir, fills it with size zeros,
// maps it and closes it.
func mappedFile(ctx context.Context, c calls, dir string, size int) (mem []byte, err error) {
	fd, err := c.open(dir)
	if err != nil {
		return nil, fmt.Errorf("legacy: make a file in %s: %w", dir, err)
	}
	if err = fill(ctx, c, fd, size); err == nil {
		mem, err = c.mmap(fd, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if e := c.close(fd); err == nil {
		err = e
	}
	if err != nil {
		_ = unmapIf(c, mem)
		return nil, fmt.Errorf("legacy: fill and map a file of %d bytes in %s: %w", size, dir, err)
	}
	return mem, nil
}

// fill writes size zeros, 4 KiB at a time, and looks at ctx once a MiB.
func fill(ctx context.Context, c calls, fd, size int) error {
	var zeros [fillStep]byte
	for off := 0; off < size; {
		if off&(1<<20-1) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := c.write(fd, zeros[:min(fillStep, size-off)])
		if err != nil && err != unix.EINTR {
			return err
		}
		off += max(n, 0)
	}
	return nil
}

// anon maps size bytes of private memory: the old engine's malloc of a block.
func (s *store) anon(size int) ([]byte, error) {
	mem, err := s.calls.mmap(-1, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("legacy: map %d bytes of memory: %w", size, err)
	}
	s.live += int64(size)
	return mem, nil
}

func (s *store) unmap(mem []byte) error {
	if err := unmapIf(s.calls, mem); err != nil {
		return fmt.Errorf("legacy: unmap %d bytes: %w", len(mem), err)
	}
	s.live -= int64(len(mem))
	return nil
}

func unmapIf(c calls, mem []byte) error {
	if mem == nil {
		return nil
	}
	return c.munmap(mem)
}
