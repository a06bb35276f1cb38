package sys

// FS is the operating system as Spillway sees it. Implementations are safe for
// concurrent use. Every method that can fail returns the errno of the kernel
// (matched by errors.Is) wrapped with what was being done.
type FS interface {
	// OpenTemp makes a file without a name in dir, mode 0600, close-on-exec:
	// O_TMPFILE where the file system has it, otherwise created, locked and
	// unlinked at once. A process that is killed between the last two leaves a
	// locked name, whose lock dies with it; the first file that another
	// process makes there in this way removes such names.
	OpenTemp(dir string) (File, error)
	// Stat describes the file system that holds dir.
	Stat(dir string) (DirInfo, error)
	// Anon maps n zeroed bytes of private anonymous memory, n a multiple of
	// 2 MiB or a power of two below it (EINVAL otherwise), aligned to the
	// smaller of n and 2 MiB, to a page at least. The pages take no memory
	// before they are touched.
	Anon(n int) ([]byte, error)
	// Unmap gives back what Anon or File.Map returned, whole.
	Unmap(mem []byte) error
	// Advise applies a to mem, which lies in a mapping of this FS.
	Advise(mem []byte, a Advice) error
	// Calls says how many calls of each kind were made, failed ones included.
	Calls() Counts
}

// File is an open file without a name. Its methods are safe for concurrent
// use, Close excepted.
type File interface {
	// ReadAt and WriteAt are those of io.ReaderAt and io.WriterAt.
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	// WritevAt writes bufs one behind the other, in one call where there is
	// one. It keeps neither bufs nor what they hold.
	WritevAt(bufs [][]byte, off int64) (int, error)
	// Allocate makes the bytes [off, off+n) of the file exist on the device, so
	// that neither a later write nor a store through a mapping can meet a full
	// disk. errors.ErrUnsupported where the file system cannot. EINTR is
	// retried inside. After a failure a part may stay allocated.
	Allocate(off, n int64) error
	// Punch gives the blocks of [off, off+n) back to the file system. The size
	// of the file stays.
	Punch(off, n int64) error
	// Truncate sets the size of the file, Size asks for it.
	Truncate(size int64) error
	Size() (int64, error)
	// DisableCoW asks the file system to overwrite this file in place
	// (FS_NOCOW_FL), which makes Allocate a promise on btrfs. The file must be
	// empty. errors.ErrUnsupported where it cannot be had.
	DisableCoW() error
	// Map maps [off, off+n) shared, for reading and writing. It may reach
	// beyond the end of the file: a page becomes usable when the file covers
	// it, before that it faults (SIGBUS).
	Map(off int64, n int) ([]byte, error)
	// Close closes the file; its mappings stay.
	Close() error
}

// DirInfo describes a file system.
type DirInfo struct {
	Type  string // "ext4", "tmpfs", "btrfs", …, or "0x…" where unknown
	Free  int64  // bytes that an unprivileged process may still take
	Total int64  // bytes
	InRAM bool   // tmpfs, ramfs: spilling there saves no memory
	CoW   bool   // btrfs, zfs, bcachefs: an allocated block may be copied on write
}

// Advice is a use of madvise(2).
type Advice int

const (
	// Release drops the pages: they read as zeros, and take no memory until
	// touched again (MADV_DONTNEED; anonymous memory only).
	Release Advice = iota
	// Huge asks for huge pages, NoHuge takes that back.
	Huge
	NoHuge
	// Populate makes the pages present and writable now; what would be SIGBUS
	// later is an error here, EFAULT (MADV_POPULATE_WRITE, Linux 5.14;
	// errors.ErrUnsupported before).
	Populate
	// NoDump keeps the pages out of core dumps, NoFork out of children.
	NoDump
	NoFork
)
