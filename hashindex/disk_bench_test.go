package hashindex

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fileDisk is a Disk in one unlinked file, through the kernel's page cache. It
// uses no space twice.
type fileDisk struct {
	f   *os.File
	end int64
}

func newFileDisk(b *testing.B) *fileDisk {
	f, err := os.Create(filepath.Join(b.TempDir(), "runs"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = f.Close() })
	return &fileDisk{f: f}
}

func (d *fileDisk) AllocPages(n int) (Pages, error) {
	p := &filePages{d.f, d.end}
	d.end += int64(n) * PageSize
	return p, nil
}

type filePages struct {
	f  *os.File
	at int64
}

func (p *filePages) ReadAt(b []byte, off int64) error {
	_, err := p.f.ReadAt(b, p.at+off)
	return err
}

func (p *filePages) WriteAt(b []byte, off int64) error {
	_, err := p.f.WriteAt(b, p.at+off)
	return err
}

func (p *filePages) Free() {}

// limited is warmMemory up to a limit.
type limited struct {
	warmMemory
	left int
}

func (l *limited) AllocIndex(n int) ([]byte, error) {
	if n > l.left {
		return nil, errRefused
	}
	l.left -= n
	return l.warmMemory.AllocIndex(n)
}

func (l *limited) FreeIndex(mem []byte) {
	l.left += len(mem)
	l.warmMemory.FreeIndex(mem)
}

// A million keys, most of them on disk: ns for each insert of a new key, for a
// duplicate in random order, and for a key that is not there.
func BenchmarkSpilled(b *testing.B) {
	const n = 1 << 20
	for _, kib := range []int{64, 1 << 10, 8 << 10} {
		x := &segmented{Index: New(&limited{left: kib << 10}, Options{Seed: 1, Disk: newFileDisk(b)})}
		run := func(what string, f func(b *testing.B)) {
			b.Run(fmt.Sprintf("impl=segments/memory=%dKiB/op=%s/n=%d", kib, what, n), f)
		}
		run("insert", func(b *testing.B) {
			for i := range b.N {
				if i > 0 {
					x.Clear()
				}
				for id := uint64(1); id <= n; id++ {
					x.insert(good(id), id)
				}
			}
			perOp(b, n)
			st := x.Stats()
			b.ReportMetric(float64(st.Reads)/n, "reads/key")
			b.ReportMetric(float64(st.Writes)/n, "writes/key")
			b.ReportMetric(float64(st.Runs), "runs")
		})
		ids := perm(n)
		run("hit", func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				if id := ids[i%n]; !x.find(good(id), id) {
					b.Fatal("lost")
				}
			}
		})
		run("miss", func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				if id := uint64(n + i + 1); x.find(good(id), id) {
					b.Fatal("found")
				}
			}
		})
		hashes, cand := make([]uint64, 1024), make([]uint64, 1024)
		run("batch", func(b *testing.B) {
			for i := 0; i < b.N; i += 1024 {
				for k := range hashes {
					hashes[k] = good(ids[(i+k)%n])
				}
				if x.FindBatch(hashes, cand) != nil {
					b.Fatal("failed")
				}
			}
		})
	}
}
