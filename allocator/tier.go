package allocator

// Tier is where a block lives.
type Tier uint8

const (
	RAM  Tier = iota // anonymous memory
	Mmap             // an extent of a pooled, memory-mapped file
	Disk             // pages of the disk table
	numTiers
)

func (t Tier) String() string { return [...]string{"ram", "mmap", "disk"}[t] }

// Purpose is what bytes are taken for.
type Purpose uint8

const (
	Rows  Purpose = iota // row blocks
	Index                // index segments, nodes, filters and runs
	Cache                // frames of the disk table's cache
	Other                // scratch of batches, buffers of cursors
	numPurposes
)

func (p Purpose) String() string { return [...]string{"rows", "index", "cache", "other"}[p] }

const (
	// Page is the unit that RAM is charged in.
	Page = 4 << 10
	// DiskPage is the unit that rows are kept within, on every tier: a piece of
	// a row never crosses a multiple of it. It is the disk table's page and the
	// smallest extent.
	DiskPage = 16 << 10
	// MaxBlock is the largest block.
	MaxBlock = 8 << 20
	// MaxPiece is the longest run of bytes that Arena.Append takes.
	MaxPiece = 4 << 10
)
