package legacy

import "context"

// A hash node: next of its bucket, row, hash, and 8 bytes that the old one had
// for its cells.
const (
	nodeSize   = 32
	bucketSize = 8
)

// bucketCounts are the sizes that the old hash table grew through, when there
// was an entry a bucket (the prime policy of libstdc++ from 1,024 on).
var bucketCounts = [...]int{
	1031, 2179, 4703, 9497, 19183, 38873, 78779, 159871, 324503, 658753,
	1337629, 2716249, 5515729, 11200489, 22744717, 46187573, 93793069,
	190465427,
}

// hashTable is the unique index: chained nodes behind an array of buckets.
type hashTable struct {
	a       *allocator
	buckets ref
	size    int // index of bucketCounts
	entries int
}

func (h *hashTable) open(ctx context.Context) (err error) {
	h.buckets, err = h.newBuckets(ctx, bucketCounts[0])
	return err
}

func (h *hashTable) newBuckets(ctx context.Context, n int) (ref, error) {
	r, mem, err := h.a.alloc(ctx, n*bucketSize)
	clear(mem)
	return r, err
}

// insert takes a node for row, then looks whether equal knows the row in its
// bucket, and frees the node if so.
func (h *hashTable) insert(ctx context.Context, row ref, hash uint64, equal func(ref) bool) (added bool, err error) {
	node, mem, err := h.a.alloc(ctx, nodeSize)
	if err != nil {
		return false, err
	}
	if h.find(hash, equal) {
		return false, h.a.free(node, nodeSize)
	}
	if h.entries == bucketCounts[h.size] && h.size+1 < len(bucketCounts) {
		if err := h.grow(ctx); err != nil {
			return false, err
		}
	}
	putRef(mem[8:], row)
	le.PutUint64(mem[16:], hash)
	h.link(h.buckets, bucketCounts[h.size], node, mem)
	h.entries++
	return true, nil
}

func (h *hashTable) find(hash uint64, equal func(ref) bool) bool {
	for node := getRef(h.bucket(h.buckets, bucketCounts[h.size], hash)); node != 0; {
		mem := h.a.at(node, nodeSize)
		if le.Uint64(mem[16:]) == hash && equal(getRef(mem[8:])) {
			return true
		}
		node = getRef(mem)
	}
	return false
}

// link puts node, whose bytes are mem, at the head of its bucket.
func (h *hashTable) link(buckets ref, n int, node ref, mem []byte) {
	b := h.bucket(buckets, n, le.Uint64(mem[16:]))
	putRef(mem, getRef(b))
	putRef(b, node)
}

func (h *hashTable) bucket(buckets ref, n int, hash uint64) []byte {
	return h.a.at(buckets+ref(hash%uint64(n)*bucketSize), bucketSize)
}

// grow moves the nodes to a larger array; the old one is freed, which no
// policy could take back, since it is not on top of its block.
func (h *hashTable) grow(ctx context.Context) error {
	old, n, m := h.buckets, bucketCounts[h.size], bucketCounts[h.size+1]
	buckets, err := h.newBuckets(ctx, m)
	if err != nil {
		return err
	}
	for i := range n {
		for node := getRef(h.a.at(old+ref(i*bucketSize), bucketSize)); node != 0; {
			mem := h.a.at(node, nodeSize)
			next := getRef(mem)
			h.link(buckets, m, node, mem)
			node = next
		}
	}
	h.buckets = buckets
	h.size++
	return h.a.free(old, n*bucketSize)
}
