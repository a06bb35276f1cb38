package hashindex

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// The benchmarks compare this index with the same probing behind plain
// doubling, and with Go's map. Rows are verified by a cheap stub.

// stub is a Rows whose rows are their ids.
type stub struct{ id uint64 }

func (s *stub) Equal(id uint64) (bool, error) { return id == s.id, nil }
func (s *stub) Rehash(seed uint64) uint64     { return good(s.id ^ seed) }

// warmMemory hands out pieces of large chunks and takes them back, as the
// allocator does: what it gives is zeroed, and has been touched before.
type warmMemory struct{ free [][]byte }

func (w *warmMemory) AllocIndex(n int) ([]byte, error) {
	if len(w.free) == 0 {
		w.carve()
	}
	last := len(w.free) - 1
	mem := w.free[last]
	w.free = w.free[:last]
	clear(mem[:n])
	return mem[:n], nil
}

// FreeIndex forgets the few small pieces.
func (w *warmMemory) FreeIndex(mem []byte) {
	if len(mem) == 16384 {
		w.free = append(w.free, mem)
	}
}

// carve cuts a chunk into pieces of 16 KiB.
func (w *warmMemory) carve() {
	for chunk := aligned(4<<20, 16384); len(chunk) > 0; chunk = chunk[16384:] {
		clear(chunk[:16384])
		w.free = append(w.free, chunk[:16384:16384])
	}
}

// table interface of the three implementations.
type finder interface {
	find(hash, id uint64) bool
	insert(hash, id uint64)
	Free()
}

type segmented struct {
	*Index
	rows stub
}

func (s *segmented) find(hash, id uint64) bool {
	s.rows.id = id
	_, got, _ := s.Find(hash, &s.rows)
	return got == id
}

func (s *segmented) insert(hash, id uint64) {
	s.rows.id = id
	at, got, _ := s.Find(hash, &s.rows)
	if got == 0 {
		at, _ = s.Reserve(at, &s.rows)
		s.Publish(at, id)
	}
}

// doubling is one table that is copied when it is full.
type doubling struct {
	slots []slot
	n     int
	rows  stub
	mul   uint64
}

func (d *doubling) probe(hash, id uint64) (*slot, bool) {
	m, mask := hash*d.mul, uint64(len(d.slots)-1)
	d.rows.id = id
	var rows Rows = &d.rows
	for i := m >> 32; ; i++ {
		s := &d.slots[i&mask]
		if s.id == 0 {
			return s, false
		}
		if s.m == m {
			if ok, _ := rows.Equal(s.id); ok {
				return s, true
			}
		}
	}
}

func (d *doubling) find(hash, id uint64) bool {
	_, ok := d.probe(hash, id)
	return ok
}

func (d *doubling) insert(hash, id uint64) {
	s, ok := d.probe(hash, id)
	if ok {
		return
	}
	*s = slot{hash * d.mul, id}
	if d.n++; d.n < len(d.slots)*hardLoad/256 {
		return
	}
	old := d.slots
	d.slots = make([]slot, 2*len(old))
	mask := uint64(len(d.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.m >> 32 & mask
		for d.slots[i].id != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = s
	}
}

type gomap map[uint64]uint64

func (g gomap) find(hash, id uint64) bool { return g[hash] == id }
func (g gomap) insert(hash, id uint64) {
	if _, ok := g[hash]; !ok {
		g[hash] = id
	}
}

func (d *doubling) Free() {}
func (g gomap) Free()     {}

func implementation(name string, mem *warmMemory) finder {
	switch name {
	case "segments":
		return &segmented{Index: New(mem, Options{Seed: 1})}
	case "doubling":
		return &doubling{slots: make([]slot, 256), mul: 0x9e3779b97f4a7c15}
	}
	return gomap{}
}

func perm(n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i) + 1
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}

func each(b *testing.B, f func(b *testing.B, t finder, n int)) {
	for _, n := range []int{32 << 10, 1 << 20, 16 << 20} {
		for _, impl := range []string{"segments", "doubling", "gomap"} {
			if n > 1<<20 && testing.Short() {
				continue
			}
			b.Run(fmt.Sprintf("impl=%s/n=%d", impl, n), func(b *testing.B) { f(b, implementation(impl, &warmMemory{}), n) })
		}
	}
}

func BenchmarkInsert(b *testing.B) {
	for _, n := range []int{32 << 10, 1 << 20, 16 << 20} {
		if n > 1<<20 && testing.Short() {
			continue
		}
		for _, impl := range []string{"segments", "doubling", "gomap"} {
			b.Run(fmt.Sprintf("impl=%s/n=%d", impl, n), func(b *testing.B) {
				mem := &warmMemory{}
				for range b.N {
					t := implementation(impl, mem)
					for id := uint64(1); id <= uint64(n); id++ {
						t.insert(good(id), id)
					}
					t.Free()
				}
				perOp(b, n)
			})
		}
	}
}

func perOp(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
}

// Duplicates in random order, one at a time.
func BenchmarkFindHit(b *testing.B) {
	each(b, func(b *testing.B, t finder, n int) {
		for id := uint64(1); id <= uint64(n); id++ {
			t.insert(good(id), id)
		}
		ids := perm(n)
		b.ResetTimer()
		for i := 0; i < b.N; i++ {
			id := ids[i%n]
			if !t.find(good(id), id) {
				b.Fatal("lost")
			}
		}
	})
}

// The same in batches of 1,024, with the slots read ahead.
func BenchmarkFindHitTouch(b *testing.B) {
	for _, n := range []int{32 << 10, 1 << 20, 16 << 20} {
		if n > 1<<20 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprintf("impl=segments/n=%d", n), func(b *testing.B) {
			t := implementation("segments", &warmMemory{}).(*segmented)
			for id := uint64(1); id <= uint64(n); id++ {
				t.insert(good(id), id)
			}
			ids, hashes := perm(n), make([]uint64, 1024)
			b.ResetTimer()
			for i := 0; i < b.N; i += 1024 {
				batch := ids[i%n:][:1024]
				for k, id := range batch {
					hashes[k] = good(id)
				}
				t.Touch(hashes)
				for k, id := range batch {
					if !t.find(hashes[k], id) {
						b.Fatal("lost")
					}
				}
			}
		})
	}
}

func BenchmarkFindMiss(b *testing.B) {
	each(b, func(b *testing.B, t finder, n int) {
		for id := uint64(1); id <= uint64(n); id++ {
			t.insert(good(id), id)
		}
		b.ResetTimer()
		for i := 0; i < b.N; i++ {
			id := uint64(i + n + 1)
			if t.find(good(id), id) {
				b.Fatal("found")
			}
		}
	})
}

// The worst single insert on the way to 1 M.
func BenchmarkWorstInsert(b *testing.B) {
	for _, impl := range []string{"segments", "doubling"} {
		b.Run("impl="+impl+"/n=1048576", func(b *testing.B) {
			best, mem := time.Hour, &warmMemory{}
			for range b.N {
				t, worst := implementation(impl, mem), time.Duration(0)
				for id := uint64(1); id <= 1<<20; id++ {
					start := time.Now()
					t.insert(good(id), id)
					worst = max(worst, time.Since(start))
				}
				best = min(best, worst)
				t.Free()
			}
			b.ReportMetric(float64(best.Microseconds()), "best-worst-µs")
		})
	}
}
