package disktable

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/spillway-db/spillway/internal/sys"
)

func benchRig(b *testing.B, frames int) *rig {
	return rigOn(b, sys.Default(), 2, frames)
}

// fill makes a block of n pages, all written.
func fill(b *testing.B, r *rig, n int) []Block {
	o := new(Owner)
	var blocks []Block
	for n > 0 {
		k := min(n, MaxBlock/PageSize)
		blocks = append(blocks, r.alloc(b, k, o))
		if err := r.WriteBlock(blocks[len(blocks)-1], make([]byte, k*PageSize)); err != nil {
			b.Fatal(err)
		}
		n -= k
	}
	return blocks
}

func pinned(b *testing.B, r *rig, bl Block, page int, how How) *Frame {
	f, err := r.Pin(bl, page, how)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

func BenchmarkHit(b *testing.B) {
	const n = 256
	r := benchRig(b, n)
	bl := fill(b, r, n)[0]
	for page := range n {
		pinned(b, r, bl, page, Read).Unpin()
	}
	b.Run("impl=pin", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			pinned(b, r, bl, i%n, Read).Unpin()
		}
	})
	f := pinned(b, r, bl, 0, Read)
	f.Unpin()
	b.Run("impl=repin", func(b *testing.B) {
		for b.Loop() {
			if !f.Repin(bl, 0) {
				b.Fatal("gone")
			}
			f.Unpin()
		}
	})
	b.Run("impl=holds", func(b *testing.B) {
		f := pinned(b, r, bl, 0, Read)
		defer f.Unpin()
		for b.Loop() {
			if !f.Holds(bl, 0) {
				b.Fatal("gone")
			}
		}
	})
}

// BenchmarkAppend writes new pages one by one through a cache of 64: one
// operation is a MiB.
func BenchmarkAppend(b *testing.B) {
	r := benchRig(b, 64)
	blocks := fill(b, r, 64<<20/PageSize)
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for page := range 64 {
			p := i*64 + page
			f := pinned(b, r, blocks[p/512%len(blocks)], p%512, New)
			f.Bytes()[0] = byte(p)
			f.Dirty()
			f.Unpin()
		}
	}
}

// BenchmarkRead reads an 8 MiB block in order through a cache of 64 pages, by
// pins or past the cache, and with the bare system call: one operation is a
// MiB.
func BenchmarkRead(b *testing.B) {
	r := benchRig(b, 64)
	bl := fill(b, r, MaxBlock/PageSize)[0]
	b.Run("impl=pin", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for i := 0; b.Loop(); i++ {
			for page := range 64 {
				pinned(b, r, bl, (i*64+page)%512, Read).Unpin()
			}
		}
	})
	for _, n := range []int{PageSize, 64 << 10, 256 << 10} {
		dst := make([]byte, n)
		b.Run(fmt.Sprintf("impl=scan/n=%d", n), func(b *testing.B) {
			sequential(b, n, func(off int) error { return r.ReadAt(bl, off, dst) })
		})
		b.Run(fmt.Sprintf("impl=pread/n=%d", n), func(b *testing.B) {
			sequential(b, n, func(off int) error { _, err := bl.piece.ReadAt(dst, off); return err })
		})
	}
}

func sequential(b *testing.B, n int, read func(off int) error) {
	b.SetBytes(1 << 20)
	for i := 0; b.Loop(); i++ {
		for off := range (1 << 20) / n {
			if err := read((i<<20 + off*n) % MaxBlock); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkMiss takes turns between 64 pins that miss and 64 bare reads of
// other pages, so that both see the same noise, and reports the best turn of
// each: overhead-ns is what a miss costs beyond its system call.
func BenchmarkMiss(b *testing.B) {
	r := benchRig(b, 64)
	bl := fill(b, r, 512)[0]
	dst := make([]byte, 64*PageSize)
	pins, reads := time.Hour, time.Hour // the best of all turns
	for i := 0; b.Loop(); i++ {
		t0 := time.Now()
		for page := range 64 {
			pinned(b, r, bl, (i*64+page)%512, Read).Unpin()
		}
		t1 := time.Now()
		for page := range 64 {
			if _, err := bl.piece.ReadAt(dst[page*PageSize:][:PageSize], (i*64+page+256)%512*PageSize); err != nil {
				b.Fatal(err)
			}
		}
		pins, reads = min(pins, t1.Sub(t0)), min(reads, time.Since(t1))
	}
	b.ReportMetric(float64(pins)/64, "pin-ns")
	b.ReportMetric(float64(reads)/64, "pread-ns")
	b.ReportMetric(float64(pins-reads)/64, "overhead-ns")
}

// BenchmarkRandom reads pages in random order, half of which are cached.
func BenchmarkRandom(b *testing.B) {
	const n = 512
	r := benchRig(b, n/2)
	bl := fill(b, r, n)[0]
	rnd := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		pinned(b, r, bl, rnd.IntN(n), Read).Unpin()
	}
	st := r.Stats()
	b.ReportMetric(float64(st.Misses)/float64(st.Hits+st.Misses), "misses/op")
}
