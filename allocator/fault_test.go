package allocator

import (
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

// life is a bit of everything: two tables on all tiers, index memory, pages for
// runs, buffers, blocks that move, limits that change. Every call may fail;
// what it gave is given back.
type life struct {
	a     *Allocator
	index [][]byte
	pages []*Pages
	heap  int
	rows  map[RowID][]byte
}

func (l *life) live(t *testing.T) {
	o, err := l.a.NewOwner("session", l.a.Root(), Limits{})
	require.NoError(t, err)
	x, y := newTable(t, o, Limits{}), newTable(t, o, Limits{RAM: 32 * kib, Mmap: 32 * kib})
	l.rows = map[RowID][]byte{}
	l.append(t, x, 0, 120)
	l.append(t, y, 120, 120)
	for range 6 {
		if mem, err := x.AllocIndex(16 * kib); err == nil {
			l.index = append(l.index, mem)
		}
	}
	if p, err := x.AllocPages(3); err == nil {
		_ = p.WriteAt(row(1, 20*kib), 0)
		_ = p.ReadAt(make([]byte, 64), 128)
		l.pages = append(l.pages, p)
	}
	if x.ChargeHeap(10*kib) == nil {
		l.heap += 10 * kib
	}
	_ = l.a.SetMaxRAM(MinRAM)
	_ = l.a.SetMaxMmap(32 * kib)
	_ = l.a.SetMaxDisk(mib)
	_ = l.a.SetMaxRAM(192 * kib)
	l.append(t, x, 240, 40)
	l.verify(t, x)
	l.end(x, y)
	o.Seal()
	o.Remove()
}

func (l *life) append(t *testing.T, x *table, from, n int) {
	for i := from; i < from+n; i++ {
		m, data := x.Arena.Mark(), row(i, kib)
		id, err := x.Arena.Append(data)
		if err != nil {
			require.Equal(t, m, x.Arena.Mark(), "as it was")
			continue
		}
		if i < 120 || i >= 240 {
			l.rows[id] = data
		}
	}
}

// verify reads what was appended to x: right, or an error.
func (l *life) verify(t *testing.T, x *table) {
	var pin Pin
	for id, data := range l.rows {
		if mem, err := x.Arena.Read(id, &pin); err == nil {
			require.Equal(t, data, mem[:kib])
		}
		pin.Unpin()
	}
}

func (l *life) end(x, y *table) {
	for _, mem := range l.index {
		x.FreeIndex(mem)
	}
	for _, p := range l.pages {
		p.Free()
	}
	l.a.RefundHeap(l.heap)
	x.Free()
	y.Free()
}

// TestEachCallFails in turn, alone and with all that follow: in the end every
// counter is zero and nothing is open.
func TestEachCallFails(t *testing.T) {
	o := Options{MaxRAM: 192 * kib, MaxMmap: 64 * kib, MaxDisk: mib, Dirs: []string{t.TempDir()}}
	for _, all := range []bool{false, true} {
		for n, done := int64(1), false; !done; n++ {
			done = failCall(t, o, n, all)
		}
	}
}

// failCall lets the n-th call fail, and reports that there were fewer.
func failCall(t *testing.T, o Options, n int64, all bool) (done bool) {
	fs := sys.NewFaulty(sys.Default())
	o.FS = fs
	for k := int64(200); all && k > 0; k-- { // the last one first: a rule counts until one before it applies
		fs.FailAny(n+k, syscall.ENOSPC)
	}
	fs.FailAny(n, syscall.EIO)
	a, err := Open(o)
	if err != nil {
		files, mappings := fs.Live()
		require.Zero(t, files+mappings)
		return false
	}
	(&life{a: a}).live(t)
	_ = a.Close()
	require.NotPanics(t, func() { noneLeft(t, a, fs) }, "call %d", n)
	return fs.Calls().Total() < n
}

// TestEachLimit is the same where limits refuse.
func TestEachLimit(t *testing.T) {
	for ram := int64(MinRAM); ram <= 3*mib; ram += ram/3&^(Page-1) + 1000 {
		for _, mmap := range []int64{off, 0, 48 * kib, mib} {
			for _, disk := range []int64{off, 0, 48 * kib, mib} {
				t.Run(fmt.Sprintf("ram=%d/mmap=%d/disk=%d", ram, mmap, disk), func(t *testing.T) {
					a, _ := open(t, Options{MaxRAM: ram, MaxMmap: mmap, MaxDisk: disk})
					(&life{a: a}).live(t)
					require.LessOrEqual(t, a.Stats().RAMPeak, max(ram, 192*kib))
				})
			}
		}
	}
}

// TestNobodyPassesTheLimits: goroutines that take and give at all limits at
// once, and others who look.
func TestNobodyPassesTheLimits(t *testing.T) {
	const maxRAM, maxMmap, maxDisk, maxOwner = 512 * kib, 128 * kib, 256 * kib, 192 * kib
	a, _ := open(t, Options{MaxRAM: maxRAM, MaxMmap: maxMmap, MaxDisk: maxDisk})
	session := newOwner(t, a, Limits{RAM: maxOwner, Mmap: 64 * kib})
	var wg, lookers sync.WaitGroup
	stop := make(chan struct{})
	lookers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			s := a.Stats()
			if s.RAM > maxRAM || s.Pool.Used > maxMmap || s.Disk.Bytes > maxDisk || session.Used(RAM) > maxOwner || session.Used(Mmap) > 64*kib {
				t.Errorf("%d %d %d %d", s.RAM, s.Pool.Used, s.Disk.Bytes, session.Used(RAM))
				return
			}
		}
	})
	for k := range 6 {
		wg.Go(func() {
			o := session
			if k%2 == 0 {
				var err error
				if o, err = a.NewOwner("other", session, Limits{}); err != nil {
					t.Error(err)
					return
				}
			}
			for i := range 30 {
				x := new(table)
				if err := x.Init(o, "t", Limits{}, x); err != nil {
					t.Error(err)
					return
				}
				x.mu.Lock()
				var index [][]byte
				for j := range 20 + 10*(i%4) {
					_, _ = x.Arena.Append(row(j, 4*kib))
					if mem, err := x.AllocIndex(4 * kib << (j % 3)); err == nil {
						index = append(index, mem)
					}
					if x.ChargeHeap(1000) == nil {
						a.RefundHeap(1000)
					}
					x.mu.Unlock()
					x.mu.Lock()
				}
				for _, mem := range index {
					x.FreeIndex(mem)
				}
				x.Free()
			}
		})
	}
	wg.Wait()
	close(stop)
	lookers.Wait()
	s := a.Stats()
	require.LessOrEqual(t, s.RAMPeak, int64(maxRAM))
	require.LessOrEqual(t, session.Peak(RAM), int64(maxOwner))
	require.Zero(t, session.Used(RAM))
	require.Equal(t, s.RAM, s.Idle+s.Cache)
}
