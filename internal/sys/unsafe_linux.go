package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// All of the package's unsafe code. The raw calls are used because unix.Mmap
// records each mapping in a map under a mutex, and can unmap only what it
// recorded, whole; mapAligned has to trim.

// mapAnon reserves n bytes. MAP_NORESERVE: it is address space, its owner
// counts what is touched.
func mapAnon(n uintptr) (unsafe.Pointer, error) {
	return unix.MmapPtr(-1, 0, nil, n, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
}

// mapAligned maps n bytes at a multiple of align, a power of two and at least
// a page.
func mapAligned(n, align int) ([]byte, error) {
	base, err := mapAnon(uintptr(n + align))
	if err != nil {
		return nil, err
	}
	// The address is only used as a number here; the pointers are made with
	// unsafe.Add from base and stay inside the mapping, which the collector
	// does not know and never moves.
	head := int(-uintptr(base) & uintptr(align-1))
	mem := unsafe.Add(base, head)
	err = trim(base, head)
	if err == nil {
		err = trim(unsafe.Add(mem, n), align-head)
	}
	if err != nil { // too many mappings: splitting one makes another
		_ = unix.MunmapPtr(base, uintptr(n+align))
		return nil, err
	}
	// A slice over memory that mmap returned: n bytes from mem are mapped,
	// readable and writable until munmap.
	return unsafe.Slice((*byte)(mem), n), nil
}

func trim(p unsafe.Pointer, n int) error {
	if n = n &^ (unix.Getpagesize() - 1); n == 0 {
		return nil
	}
	return unix.MunmapPtr(p, uintptr(n))
}

func mapFile(fd int, off int64, n int) ([]byte, error) {
	p, err := unix.MmapPtr(fd, off, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), n), nil // as in mapAligned
}

// munmap takes a whole mapping, so the first byte's address is its base.
func munmap(mem []byte) error {
	return unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)))
}
