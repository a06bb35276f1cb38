package allocator

import (
	"fmt"
	"testing"

	"github.com/spillway-db/spillway/internal/sys"
)

func benchAllocator(b *testing.B, o Options) (*Allocator, *Owner) {
	o.FS, o.Dirs = sys.OS(), []string{b.TempDir()}
	a, err := Open(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := a.Close(); err != nil {
			b.Error(err)
		}
	})
	return a, benchOwner(b, a)
}

func benchOwner(b *testing.B, a *Allocator) *Owner {
	o, err := a.NewOwner("bench", a.Root(), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	return o
}

func benchSpace(b *testing.B, o *Owner, l Limits) *Space {
	s := new(Space)
	if err := s.Init(o, "table", l, nil); err != nil {
		b.Fatal(err)
	}
	return s
}

// fillRows appends bytes, piece by piece.
func (s *Space) fillRows(b *testing.B, piece []byte, bytes int) {
	for at := 0; at < bytes; at += len(piece) {
		if _, err := s.Arena.Append(piece); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend refills a table, so that its pages are warm.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name string
		o    Options
		l    Limits
	}{
		{"ram", Options{MaxRAM: 64 << 20, MaxMmap: -1, MaxDisk: -1}, Limits{}},
		{"mmap", Options{MaxRAM: 64 << 20, MaxMmap: 64 << 20, MaxDisk: -1}, Limits{RAM: Disabled}},
		{"disk", Options{MaxRAM: 64 << 20, MaxMmap: -1, MaxDisk: 64 << 20}, Limits{RAM: Disabled}},
	} {
		b.Run("impl="+c.name+"/n=56", func(b *testing.B) {
			_, o := benchAllocator(b, c.o)
			s := benchSpace(b, o, c.l)
			defer s.Free()
			piece := make([]byte, 56)
			const rows = 16 << 10
			s.fillRows(b, piece, rows*56)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%rows == 0 {
					s.Arena.Reset()
				}
				if _, err := s.Arena.Append(piece); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var fullPage = make([]byte, 8)

// BenchmarkSpace is a table that comes and goes, but for its own Go memory.
func BenchmarkSpace(b *testing.B) {
	cycle := func(b *testing.B, s *Space, o *Owner, blocks int) {
		*s = Space{}
		if err := s.Init(o, "table", Limits{}, nil); err != nil {
			b.Fatal(err)
		}
		for range blocks {
			s.Arena.off = Page // as if the block were full
			if _, err := s.Arena.Append(fullPage); err != nil {
				b.Fatal(err)
			}
		}
		s.Free()
	}
	for _, blocks := range []int{0, 2} {
		b.Run(fmt.Sprintf("impl=alone/n=%d", blocks), func(b *testing.B) {
			_, o := benchAllocator(b, Options{MaxRAM: 64 << 20, MaxMmap: 1 << 20, MaxDisk: 1 << 20})
			b.ReportAllocs()
			s := new(Space)
			for b.Loop() {
				cycle(b, s, o, blocks)
			}
		})
		b.Run(fmt.Sprintf("impl=parallel/n=%d", blocks), func(b *testing.B) {
			a, _ := benchAllocator(b, Options{MaxRAM: 64 << 20, MaxMmap: 1 << 20, MaxDisk: 1 << 20})
			b.RunParallel(func(pb *testing.PB) {
				o, s := benchOwner(b, a), new(Space)
				for pb.Next() {
					cycle(b, s, o, blocks)
				}
			})
		})
	}
}

// BenchmarkBlock takes and gives a block.
func BenchmarkBlock(b *testing.B) {
	for _, c := range []struct {
		name string
		l    Limits
	}{
		{"ram", Limits{}},
		{"mmap", Limits{RAM: Disabled}},
		{"disk", Limits{RAM: Disabled, Mmap: Disabled}},
	} {
		for _, n := range []int{16 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("impl=%s/n=%dKiB", c.name, n>>10), func(b *testing.B) {
				_, o := benchAllocator(b, Options{MaxRAM: 64 << 20, MaxMmap: 64 << 20, MaxDisk: 64 << 20})
				s := benchSpace(b, o, c.l)
				defer s.Free()
				b.ReportAllocs()
				for b.Loop() {
					var blk Block
					if err := s.take(&blk, n, n); err != nil {
						b.Fatal(err)
					}
					s.give(blk, Rows)
				}
			})
		}
	}
}

// BenchmarkIndex takes, clears and gives back an index segment.
func BenchmarkIndex(b *testing.B) {
	_, o := benchAllocator(b, Options{MaxRAM: 64 << 20, MaxMmap: 64 << 20, MaxDisk: 64 << 20})
	s := benchSpace(b, o, Limits{})
	defer s.Free()
	b.ReportAllocs()
	for b.Loop() {
		mem, err := s.AllocIndex(16 << 10)
		if err != nil {
			b.Fatal(err)
		}
		s.FreeIndex(mem)
	}
}
