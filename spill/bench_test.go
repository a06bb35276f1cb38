package spill

import (
	"context"
	"testing"

	"github.com/spillway-db/spillway/internal/sys"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func benchPool(b *testing.B, o Options) *Pool {
	o.FS, o.Dirs = sys.OS(), []string{b.TempDir()}
	p := must(Open(o))
	b.Cleanup(func() { check(p.Close()) })
	return p
}

func BenchmarkAcquireRelease(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"n=16KiB", 16 << 10}, {"n=8MiB", 8 << 20}} {
		b.Run("impl=hot/"+c.name, func(b *testing.B) {
			p := benchPool(b, Options{})
			check(p.Prewarm(context.Background(), 32<<20))
			b.ReportAllocs()
			for b.Loop() {
				p.Release(must(p.Acquire(c.n)))
			}
		})
	}
	b.Run("impl=contended/n=16KiB", func(b *testing.B) {
		p := benchPool(b, Options{})
		check(p.Prewarm(context.Background(), 32<<20))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				p.Release(must(p.Acquire(16 << 10)))
			}
		})
	})
}

// BenchmarkCycle is one life of a block of 8 MiB whose first byte is used:
// the old engine's way, with fallocate instead of its writes, and ours.
func BenchmarkCycle(b *testing.B) {
	const n = 8 << 20
	fs, dir := sys.OS(), b.TempDir()
	cycle := func(b *testing.B, fill func(sys.File)) {
		for b.Loop() {
			f := must(fs.OpenTemp(dir))
			fill(f)
			mem := must(f.Map(0, n))
			mem[0] = 1
			check(f.Close())
			check(fs.Unmap(mem))
		}
	}
	b.Run("impl=written/n=8MiB", func(b *testing.B) {
		page := make([]byte, 4096)
		cycle(b, func(f sys.File) {
			for off := int64(0); off < n; off += 4096 {
				must(f.WriteAt(page, off))
			}
		})
	})
	b.Run("impl=fallocate/n=8MiB", func(b *testing.B) {
		cycle(b, func(f sys.File) { check(f.Allocate(0, n)) })
	})
	b.Run("impl=pooled/n=8MiB", func(b *testing.B) {
		p := benchPool(b, Options{})
		check(p.Prewarm(context.Background(), 16<<20))
		for b.Loop() {
			e := must(p.Acquire(n))
			e.Bytes()[0] = 1
			p.Release(e)
		}
	})
}

// BenchmarkFirstTouch compares the ways to make 8 MiB of a new file ready.
func BenchmarkFirstTouch(b *testing.B) {
	const n = 8 << 20
	fs, dir := sys.OS(), b.TempDir()
	zeros := make([]byte, 256<<10)
	write := func(f sys.File) {
		for off := int64(0); off < n; off += int64(len(zeros)) {
			must(f.WriteAt(zeros, off))
		}
	}
	touch := func(mem []byte) {
		for i := 0; i < n; i += 4096 {
			mem[i] = 1
		}
	}
	populate := func(mem []byte) { check(fs.Advise(mem, sys.Populate)) }
	for _, c := range []struct {
		name string
		file func(sys.File)
		mem  func([]byte)
	}{
		{"allocate+populate", func(f sys.File) { check(f.Allocate(0, n)) }, populate},
		{"allocate+touch", func(f sys.File) { check(f.Allocate(0, n)) }, touch},
		{"allocate+write+populate", func(f sys.File) { check(f.Allocate(0, n)); write(f) }, populate},
		{"write+populate", write, populate},
	} {
		b.Run("impl="+c.name+"/n=8MiB", func(b *testing.B) {
			for b.Loop() {
				f := must(fs.OpenTemp(dir))
				mem := must(f.Map(0, n))
				c.file(f)
				c.mem(mem)
				b.StopTimer()
				check(f.Close())
				check(fs.Unmap(mem))
				b.StartTimer()
			}
		})
	}
}
