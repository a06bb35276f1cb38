package filespace

import (
	"errors"
	"fmt"
	"syscall"
)

// Kinds of failure, matched with errors.Is; the errno behind one is matched
// too. Alloc and Prepare return them as [*Error].
var (
	// ErrLimit is returned when the limit on file bytes does not allow the
	// piece.
	ErrLimit = errors.New("limit on spilled bytes reached")
	// ErrReserve is returned when the device would be left with less free
	// space than the reserve.
	ErrReserve = errors.New("reserve of free disk space reached")
	// ErrNoSpace is returned when the device is full (ENOSPC).
	ErrNoSpace = errors.New("device is full")
	// ErrQuota is returned when a disk quota is used up (EDQUOT).
	ErrQuota = errors.New("disk quota exceeded")
	// ErrFileSize is returned when not even the smallest file is allowed by
	// RLIMIT_FSIZE or the file system (EFBIG).
	ErrFileSize = errors.New("file size limit reached")
	// ErrTooManyFiles is returned when no descriptor can be had (EMFILE,
	// ENFILE).
	ErrTooManyFiles = errors.New("too many open files")
	// ErrTooManyMaps is returned when a file cannot be mapped (ENOMEM): there
	// are vm.max_map_count mappings, or RLIMIT_AS is reached.
	ErrTooManyMaps = errors.New("too many mappings or too much address space")
	// ErrCoW is returned when the file system copies on write and cannot be
	// told not to, so that an allocated mapping could still meet a full disk.
	ErrCoW = errors.New("file system copies on write: mapping is unsafe")
	// ErrDir is returned when the directory cannot be used: missing, not
	// writable, read-only.
	ErrDir = errors.New("directory cannot be used")
	// ErrIO is returned for any other error of the operating system.
	ErrIO = errors.New("I/O error")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("closed")
	// ErrSize is returned for a size that is not a power of two from 16 KiB to
	// 8 MiB, or larger than a file.
	ErrSize = errors.New("not a size of a piece")
)

// Error is a failure to get a piece.
type Error struct {
	Kind  error  // one of the Err… above
	Dir   string // where; "" if no directory was asked
	Want  int64  // bytes asked for
	Used  int64  // bytes that the space had at that time
	Limit int64  // of those; below 0: none
	Err   error  // what the operating system said, or nil
}

// Error implements error.
func (e *Error) Error() string {
	s := fmt.Sprintf("spill %d bytes: %v", e.Want, e.Kind)
	if e.Dir != "" {
		s += " in " + e.Dir
	}
	s += fmt.Sprintf(" (%d bytes used, ", e.Used)
	if e.Limit < 0 {
		s += "no limit)"
	} else {
		s += fmt.Sprintf("limit %d)", e.Limit)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap makes the kind and the errno match.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

var kinds = []struct {
	errno syscall.Errno
	kind  error
}{
	{syscall.ENOSPC, ErrNoSpace}, {syscall.EDQUOT, ErrQuota}, {syscall.EFBIG, ErrFileSize},
	{syscall.EMFILE, ErrTooManyFiles}, {syscall.ENFILE, ErrTooManyFiles}, {syscall.ENOMEM, ErrTooManyMaps},
	{syscall.ENOENT, ErrDir}, {syscall.ENOTDIR, ErrDir}, {syscall.EACCES, ErrDir}, {syscall.EPERM, ErrDir},
	{syscall.EROFS, ErrDir},
}

// kindOf is the kind of what the operating system said.
func kindOf(err error) error {
	if mine := (*Error)(nil); errors.As(err, &mine) {
		return mine.Kind
	}
	for _, k := range kinds {
		if errors.Is(err, k.errno) {
			return k.kind
		}
	}
	return ErrIO
}

// wantsLess says that a smaller step may succeed where this one failed.
func wantsLess(err error) bool {
	return errors.Is(err, ErrNoSpace) || errors.Is(err, ErrQuota) || errors.Is(err, ErrReserve) ||
		errors.Is(err, ErrFileSize) || errors.Is(err, ErrLimit)
}
