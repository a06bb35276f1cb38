package spill

import "github.com/spillway-db/spillway/spill/internal/filespace"

// Error is a failure to get an extent: its kind, the directory, the limit and
// the use. It matches, with errors.Is, one of the kinds below and the errno.
type Error = filespace.Error

// Kinds of failure of Acquire and Prewarm.
var (
	// ErrLimit: the pool's limit does not allow the extent.
	ErrLimit = filespace.ErrLimit
	// ErrReserve: less than the reserve would be left free on the device.
	ErrReserve = filespace.ErrReserve
	// ErrNoSpace: the device is full (ENOSPC).
	ErrNoSpace = filespace.ErrNoSpace
	// ErrQuota: a disk quota is used up (EDQUOT).
	ErrQuota = filespace.ErrQuota
	// ErrFileSize: RLIMIT_FSIZE or the file system allows no such file (EFBIG).
	ErrFileSize = filespace.ErrFileSize
	// ErrTooManyFiles: no descriptor can be had (EMFILE, ENFILE).
	ErrTooManyFiles = filespace.ErrTooManyFiles
	// ErrTooManyMaps: vm.max_map_count or RLIMIT_AS is reached (ENOMEM).
	ErrTooManyMaps = filespace.ErrTooManyMaps
	// ErrCoW: the file system copies on write and cannot be told not to, so a
	// mapping could meet a full disk. Use a tier that is not mapped.
	ErrCoW = filespace.ErrCoW
	// ErrDir: the directory is missing, read-only or not writable.
	ErrDir = filespace.ErrDir
	// ErrIO: any other error of the operating system.
	ErrIO = filespace.ErrIO
	// ErrClosed: the pool was closed.
	ErrClosed = filespace.ErrClosed
	// ErrSize: not a power of two from MinExtent to MaxExtent, or larger than a
	// file.
	ErrSize = filespace.ErrSize
)
