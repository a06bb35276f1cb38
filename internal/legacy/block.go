package legacy

// The old allocator's sizes, in bytes.
const (
	align       = 8
	blockHeader = 32
	chunkPrefix = 8
	firstBlock  = 1 << 20
	// maxBlockExp is the number of doublings: no block is above 512 MiB unless
	// one chunk needs it.
	maxBlockExp = 9
)

// ref addresses a byte of a block, as the old engine's pointers did:
// block index + 1 in the upper half, offset in the lower. 0 is nil.
type ref uint64

func makeRef(index, off int) ref { return ref(uint64(index+1)<<32 | uint64(off)) }

func (r ref) index() int { return int(r>>32) - 1 }
func (r ref) off() int   { return int(uint32(r)) }

// block is a stack of chunks in one piece of memory.
type block struct {
	memory
	index int
	used  int // live chunks
	next  int // offset of the first pristine byte
	born  int // number of the insert that made it
}

func (b *block) fits(chunk int) bool { return b.next+chunk <= len(b.mem) }

// push takes the next chunk and returns the offset of its data.
func (b *block) push(chunk int) int {
	off := b.next + chunkPrefix
	b.next += chunk
	b.used++
	return off
}

// isTop says whether the chunk with data at off ends where the pristine bytes
// begin.
func (b *block) isTop(off, chunk int) bool { return off-chunkPrefix+chunk == b.next }

// blockSize is the size of a table's n-th own block that must hold chunk.
func blockSize(n, chunk int) int {
	return max(firstBlock<<min(n, maxBlockExp), blockHeader+chunk)
}

func chunkSize(n int) int { return roundUp(n) + chunkPrefix }

func roundUp(n int) int { return (n + align - 1) &^ (align - 1) }
