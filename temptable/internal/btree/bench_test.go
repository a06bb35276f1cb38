package btree

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

func BenchmarkTmp(b *testing.B) {
	const n = 1_000_000
	keys := make([]uint64, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range keys {
		keys[i] = r.Uint64()
	}
	b.Run("random", func(b *testing.B) {
		t := New(heapMem{}, nil)
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			if i%n == 0 {
				t.Clear()
			}
			binary.BigEndian.PutUint64(key, keys[i%n])
			t.Insert(key, uint64(i%n)+1, true, nil)
		}
		b.Log(t.Stats())
	})
	b.Run("asc", func(b *testing.B) {
		t := New(heapMem{}, nil)
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			if i%n == 0 {
				t.Clear()
			}
			binary.BigEndian.PutUint64(key, uint64(i))
			t.Insert(key, uint64(i%n)+1, true, nil)
		}
		b.Log(t.Stats())
	})
	b.Run("next", func(b *testing.B) {
		t := New(heapMem{}, nil)
		key := make([]byte, 8)
		for i := range keys {
			binary.BigEndian.PutUint64(key, keys[i%n])
			t.Insert(key, uint64(i%n)+1, true, nil)
		}
		var c Cursor
		c.Open(t)
		b.ResetTimer()
		s := uint64(0)
		for b.Loop() {
			if ok, _ := c.Next(); !ok {
				c.First()
			}
			s += c.ID()
		}
	})
}

type heapMem struct{}

func (heapMem) AllocIndex(n int) ([]byte, error) { return make([]byte, n), nil }
func (heapMem) FreeIndex([]byte)                 {}
