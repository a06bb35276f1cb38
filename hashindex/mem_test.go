package hashindex

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

var errRefused = errors.New("refused")

// heapMemory is a Memory on the Go heap that counts what is out, refuses
// beyond limit (0: never), and refuses when refuse says so.
type heapMemory struct {
	out    map[*byte]int
	bytes  int
	peak   int
	calls  int
	limit  int
	refuse func() bool
}

func newMemory() *heapMemory { return &heapMemory{out: map[*byte]int{}} }

func (h *heapMemory) AllocIndex(n int) ([]byte, error) {
	h.calls++
	if h.limit > 0 && h.bytes+n > h.limit || h.refuse != nil && h.refuse() {
		return nil, errRefused
	}
	mem := aligned(n, 4096)
	h.out[&mem[0]] = n
	h.bytes += n
	h.peak = max(h.peak, h.bytes)
	return mem, nil
}

func (h *heapMemory) FreeIndex(mem []byte) {
	n, ok := h.out[&mem[0]]
	if !ok || n != len(mem) {
		panic("freed what was not allocated")
	}
	delete(h.out, &mem[0])
	h.bytes -= n
	for i := range mem {
		mem[i] = 0xCC
	}
}

// aligned returns n zeroed bytes whose address is a multiple of to.
func aligned(n, to int) []byte {
	mem := make([]byte, n+to)
	skip := -int(uintptr(unsafe.Pointer(&mem[0]))) & (to - 1)
	return mem[skip:][:n:n]
}

// table is a Rows over keys that are their ids' values: row id holds keys[id].
type table struct {
	keys   map[uint64]uint64 // id -> key
	key    uint64            // that is being looked for
	hash   func(key uint64) uint64
	rehash func(key, seed uint64) uint64
	equals int
	err    error
}

func newTable(hash func(uint64) uint64) *table {
	return &table{keys: map[uint64]uint64{}, hash: hash, rehash: func(k, s uint64) uint64 { return good(k ^ s) }}
}

func (t *table) Equal(id uint64) (bool, error) {
	t.equals++
	if t.err != nil {
		return false, t.err
	}
	k, ok := t.keys[id]
	if !ok {
		panic("asked for a row that is gone")
	}
	return k == t.key, nil
}

func (t *table) Rehash(seed uint64) uint64 { return t.rehash(t.key, seed) }

// good is an independent mixer (murmur3's).
func good(z uint64) uint64 {
	z = (z ^ z>>33) * 0xff51afd7ed558ccd
	z = (z ^ z>>33) * 0xc4ceb9fe1a85ec53
	return z ^ z>>33
}

// insert finds or inserts key with the row id; it returns the id that is there.
func (t *table) insert(x *Index, key, id uint64) (uint64, error) {
	t.key = key
	s, have, err := x.Find(t.hash(key), t)
	if err != nil || have != 0 {
		return have, err
	}
	if s, err = x.Reserve(s, t); err != nil {
		return 0, err
	}
	t.keys[id] = key
	x.Publish(s, id)
	return id, nil
}

func (t *table) find(x *Index, key uint64) (uint64, error) {
	t.key = key
	_, id, err := x.Find(t.hash(key), t)
	return id, err
}

func (t *table) remove(x *Index, key, id uint64) (bool, error) {
	t.key = key
	ok, err := x.Remove(t.hash(key), id, t)
	if ok && err == nil {
		delete(t.keys, id)
	}
	return ok, err
}

func (t *table) delete(x *Index, key, id uint64) bool {
	ok, err := t.remove(x, key, id)
	return ok && err == nil
}

// verify checks the structure and that exactly want (key -> id) can be found.
func verify(t testing.TB, x *Index, rows *table, want map[uint64]uint64) {
	t.Helper()
	require.NoError(t, x.Check())
	require.Equal(t, len(want), x.Len())
	for key, id := range want {
		got, err := rows.find(x, key)
		require.NoError(t, err)
		require.Equal(t, id, got, "key %d", key)
	}
}
