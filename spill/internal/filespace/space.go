package filespace

import (
	"os"
	"sync"

	"github.com/spillway-db/spillway/internal/buddy"
	"github.com/spillway-db/spillway/internal/sys"
)

// Sizes of pieces, in bytes.
const (
	MinPiece = 1 << minOrder
	MaxPiece = 1 << maxOrder

	minOrder = 14
	maxOrder = 23
)

// DefaultFileSize is the span of a file in bytes.
const DefaultFileSize = 64 << 20

// Options say where files are made and how much they may take.
type Options struct {
	// FS is the operating system. Default: sys.Default().
	FS sys.FS
	// Dirs are where files are made: in the first, and in the next when that
	// one refuses. Default: os.TempDir().
	Dirs []string
	// Limit bounds the bytes allocated on the devices; below 0: no limit.
	Limit int64
	// Reserve is how many free bytes are left on each device.
	Reserve int64
	// FileSize is the span of a file in bytes, at least 16 KiB (the largest
	// piece if it is less than 8 MiB) and at most 4 GiB. A file spans no more
	// than Limit. Default: 64 MiB.
	FileSize int
	// Map says that pieces are mapped: Piece.Bytes works, pieces are warmed,
	// and files that would be copied on write are refused.
	Map bool
	// NoDump keeps mappings out of core dumps, NoFork out of children.
	NoDump, NoFork bool
	// OnWarn, if not nil, is told what an operator should know, such as a
	// directory that lies in RAM; once for each directory. It must not call
	// the space.
	OnWarn func(msg string)
}

func (o *Options) setDefaults() {
	if o.FS == nil {
		o.FS = sys.Default()
	}
	if len(o.Dirs) == 0 {
		o.Dirs = []string{os.TempDir()}
	}
	if o.FileSize == 0 {
		o.FileSize = DefaultFileSize
	}
	o.FileSize = max(o.FileSize&^(MinPiece-1), MinPiece)
	if o.OnWarn == nil {
		o.OnWarn = func(string) {}
	}
}

// Space is the set of files. It is safe for concurrent use.
//
// There are two locks: grow is held over system calls by the one goroutine
// that makes, extends, warms or closes files; mu, inside it, protects the
// fields below and is held for pointer operations only.
type Space struct {
	o    Options
	grow sync.Mutex
	dirs []*dir // guarded by grow

	mu     sync.Mutex
	files  []*file // by number; nil: none
	hints  [maxOrder - minOrder + 1]int
	limit  int64
	closed bool
	gen    uint32 // number of Trims so far
	n      counters
}

// counters are the numbers behind Stats.
type counters struct {
	used, peak               int64 // bytes allocated on the devices
	idle                     int64 // of those, free in good files
	cold                     int64 // of used, never touched
	live, bad                int   // files
	created, removed, maps   int64
	extended, filled, faults int64
}

// New makes a space. It touches nothing on disk.
func New(o Options) *Space {
	o.setDefaults()
	s := &Space{o: o, limit: o.Limit}
	for _, path := range o.Dirs {
		s.dirs = append(s.dirs, &dir{path: path})
	}
	return s
}

// Take takes a piece of n bytes from what is free already, without a system
// call. It reports false if there is none, or n is no size of a piece. cold
// says that some of its pages were never touched (mapped spaces only).
func (s *Space) Take(n int) (p Piece, cold, ok bool) {
	order, err := s.orderOf(n)
	if err != nil {
		return Piece{}, false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.find(order)
	if f == nil {
		return Piece{}, false, false
	}
	off, _ := f.avail.Alloc(order)
	s.n.idle -= int64(n)
	return Piece{f, uint32(off), uint8(order)}, f.isCold(off, n), true
}

// Ready says whether Take(n) would yield a piece that is not cold.
func (s *Space) Ready(n int) bool {
	order, err := s.orderOf(n)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.find(order)
	if f == nil {
		return false
	}
	off, _ := f.avail.Peek(order)
	return !f.isCold(off, n)
}

// Largest is the size of the largest piece, in bytes.
func (s *Space) Largest() int { return min(MaxPiece, 1<<log2(int64(s.o.FileSize))) }

// orderOf is the order of a piece of n bytes.
func (s *Space) orderOf(n int) (int, error) {
	if n < MinPiece || n > MaxPiece || n&(n-1) != 0 || n > s.o.FileSize {
		return 0, &Error{Kind: ErrSize, Want: int64(n), Limit: -1}
	}
	return buddy.Order(n), nil
}

// find is the lowest file with a free piece of that order, or nil. The hint
// makes it cheap: no file below it has one.
func (s *Space) find(order int) *file {
	if s.closed {
		return nil
	}
	hint := &s.hints[order-minOrder]
	for ; *hint < len(s.files); *hint++ {
		if f := s.files[*hint]; f != nil && !f.bad && f.avail.Largest() >= order {
			return f
		}
	}
	return nil
}

// hint lowers the hints to f, which got a free piece.
func (s *Space) hint(f *file) {
	for k := minOrder; k <= f.avail.Largest(); k++ {
		s.hints[k-minOrder] = min(s.hints[k-minOrder], f.number)
	}
}
