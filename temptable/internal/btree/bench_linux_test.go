package btree

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
)

// hugeMem cuts chunks from one mapping with huge pages, as an engine of some
// size does, and takes none back.
type hugeMem struct{ rest []byte }

func newHugeMem(b *testing.B, n int) *hugeMem {
	size := (n*64 + 4<<20) &^ (2<<20 - 1) // bytes: four times what random keys need
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = syscall.Munmap(mem) })
	_ = syscall.Madvise(mem, 14) // MADV_HUGEPAGE
	return &hugeMem{mem}
}

func (m *hugeMem) AllocIndex(n int) ([]byte, error) {
	if n > len(m.rest) {
		return nil, errRefused
	}
	mem := m.rest[:n:n]
	m.rest = m.rest[n:]
	return mem, nil
}

func (m *hugeMem) FreeIndex([]byte) {}

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
	t := New(newHugeMem(b, n), nil)
	for i := range n {
		insert(t, i)
	}
	defer cpuTime(b)()
	for left := b.N; left > 0; left -= n {
		t.Clear()
		for i := range min(n, left) {
			insert(t, i)
		}
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

// filled is a tree of random keys.
func filled(b *testing.B, keys []uint64) *Tree {
	t := New(newHugeMem(b, len(keys)), nil)
	refill(t, keys)
	return t
}

func refill(t *Tree, keys []uint64) {
	t.Clear()
	key := make([]byte, 8)
	for i, k := range keys {
		binary.BigEndian.PutUint64(key, k)
		_, _ = t.Insert(key, uint64(i)+1, true, nil)
	}
}

func BenchmarkNext(b *testing.B) {
	benchSizes(b, func(b *testing.B, n int) {
		var c Cursor
		c.Open(filled(b, randomKeys(n)))
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
		c.Open(filled(b, keys))
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
		t := filled(b, keys)
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
		t := filled(b, keys)
		var c Cursor
		c.Open(t)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if ok, _ := c.Next(); !ok {
				b.StopTimer()
				refill(t, keys)
				_, _ = c.First()
				b.StartTimer()
			}
			binary.BigEndian.PutUint64(key, keys[c.ID()-1])
			_, _ = t.Delete(key, c.ID(), nil)
		}
	})
}
