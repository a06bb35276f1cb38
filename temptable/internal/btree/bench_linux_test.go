package btree

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
)

// heapMem keeps what is freed, so that a second run finds it touched already.
type heapMem map[int][][]byte

func (m heapMem) AllocIndex(n int) ([]byte, error) {
	if list := m[n]; len(list) > 0 {
		m[n] = list[:len(list)-1]
		mem := list[len(list)-1]
		clear(mem)
		return mem, nil
	}
	return make([]byte, n), nil
}

func (m heapMem) FreeIndex(mem []byte) { m[len(mem)] = append(m[len(mem)], mem) }

// stub is a table of 56-byte rows that begin with 24 bytes of key, of which the
// first 16 are the same in all rows.
type stub struct {
	data []byte
	want []byte
}

const (
	stubRow = 56
	stubKey = 24
)

func newStub(keys []uint64) *stub {
	s := &stub{data: make([]byte, len(keys)*stubRow), want: make([]byte, stubKey)}
	for i, k := range keys {
		binary.BigEndian.PutUint64(s.key(uint64(i) + 1)[16:], k)
	}
	return s
}

func (s *stub) key(id uint64) []byte {
	i := int(id-1) * stubRow
	return s.data[i : i+stubKey]
}

func (s *stub) CompareRow(id uint64) (int, error) { return bytes.Compare(s.want, s.key(id)), nil }

func randomKeys(n int) []uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	return keys
}

// cpuTime reports the processor time of an operation beside its elapsed time:
// on a machine that others use it is the one to look at.
func cpuTime(b *testing.B) (stop func()) {
	use := func() int64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return u.Utime.Nano() + u.Stime.Nano()
	}
	b.ReportAllocs()
	b.ResetTimer()
	begin := use()
	return func() { b.ReportMetric(float64(use()-begin)/float64(b.N), "cpu-ns/op") }
}

func benchSizes(b *testing.B, run func(b *testing.B, n int)) {
	for _, n := range []int{32 << 10, 1_000_000} {
		b.Run(fmt.Sprintf("impl=btree/n=%d", n), func(b *testing.B) { run(b, n) })
	}
}

// fill puts n keys into an empty tree, over and over.
func fill(b *testing.B, n int, insert func(t *Tree, i int)) {
	t := New(heapMem{}, nil)
	for i := range n {
		insert(t, i)
	}
	t.Clear()
	defer cpuTime(b)()
	for i := range b.N {
		if i%n == 0 {
			t.Clear()
		}
		insert(t, i%n)
	}
}

func BenchmarkInsertRandom(b *testing.B) {
	benchSizes(b, func(b *testing.B, n int) {
		keys, key := randomKeys(n), make([]byte, 8)
		fill(b, n, func(t *Tree, i int) {
			binary.BigEndian.PutUint64(key, keys[i])
			_, _ = t.Insert(key, uint64(i)+1, true, nil)
		})
	})
}

func BenchmarkInsertAscending(b *testing.B) {
	benchSizes(b, func(b *testing.B, n int) {
		key := make([]byte, 8)
		fill(b, n, func(t *Tree, i int) {
			binary.BigEndian.PutUint64(key, uint64(i))
			_, _ = t.Insert(key, uint64(i)+1, true, nil)
		})
	})
}

// BenchmarkInsertSamePrefix has keys that differ behind what an entry holds.
func BenchmarkInsertSamePrefix(b *testing.B) {
	benchSizes(b, func(b *testing.B, n int) {
		rows := newStub(randomKeys(n))
		fill(b, n, func(t *Tree, i int) {
			copy(rows.want, rows.key(uint64(i)+1))
			_, _ = t.Insert(rows.want, uint64(i)+1, true, rows)
		})
	})
}

// BenchmarkInsertEqual has one short key, with ids in random order.
func BenchmarkInsertEqual(b *testing.B) {
	benchSizes(b, func(b *testing.B, n int) {
		ids, key := rand.New(rand.NewPCG(1, 2)).Perm(n), []byte("group")
		fill(b, n, func(t *Tree, i int) {
			_, _ = t.Insert(key, uint64(ids[i])+1, false, nil)
		})
	})
}

// filled is a tree of n random keys.
func filled(keys []uint64) *Tree {
	t, key := New(heapMem{}, nil), make([]byte, 8)
	for i, k := range keys {
		binary.BigEndian.PutUint64(key, k)
		_, _ = t.Insert(key, uint64(i)+1, true, nil)
	}
	return t
}

func BenchmarkNext(b *testing.B) {
	benchSizes(b, func(b *testing.B, n int) {
		var c Cursor
		c.Open(filled(randomKeys(n)))
		defer cpuTime(b)()
		for range b.N {
			if ok, _ := c.Next(); !ok {
				_, _ = c.First()
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	benchSizes(b, func(b *testing.B, n int) {
		keys, key := randomKeys(n), make([]byte, 8)
		var c Cursor
		c.Open(filled(keys))
		defer cpuTime(b)()
		for i := range b.N {
			binary.BigEndian.PutUint64(key, keys[i%n])
			_, _ = c.Find(key, nil)
		}
	})
}

// BenchmarkDelete deletes and inserts in turn, in random order.
func BenchmarkDelete(b *testing.B) {
	benchSizes(b, func(b *testing.B, n int) {
		keys, key := randomKeys(n), make([]byte, 8)
		t := filled(keys)
		defer cpuTime(b)()
		for i := range b.N {
			binary.BigEndian.PutUint64(key, keys[i%n])
			_, _ = t.Delete(key, uint64(i%n)+1, nil)
			_, _ = t.Insert(key, uint64(i%n)+1, true, nil)
		}
	})
}

// BenchmarkScanDelete deletes what a cursor goes through.
func BenchmarkScanDelete(b *testing.B) {
	benchSizes(b, func(b *testing.B, n int) {
		keys, key := randomKeys(n), make([]byte, 8)
		var c Cursor
		t := filled(keys)
		c.Open(t)
		defer cpuTime(b)()
		for range b.N {
			if ok, _ := c.Next(); !ok {
				b.StopTimer()
				t = filled(keys)
				c.Open(t)
				_, _ = c.First()
				b.StartTimer()
			}
			binary.BigEndian.PutUint64(key, keys[c.ID()-1])
			_, _ = t.Delete(key, c.ID(), nil)
		}
	})
}
