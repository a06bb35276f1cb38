package hashindex

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var errDisk = errors.New("disk failed")

// heapDisk is a Disk on the Go heap that checks the contract of Pages, counts
// what is out, and fails when fail says so.
type heapDisk struct {
	out   int // pages
	peak  int
	calls int
	fail  func() bool
}

func (d *heapDisk) failed() bool {
	d.calls++
	return d.fail != nil && d.fail()
}

func (d *heapDisk) AllocPages(n int) (Pages, error) {
	if d.failed() {
		return nil, errDisk
	}
	d.out += n
	d.peak = max(d.peak, d.out)
	return &heapPages{disk: d, data: make([]byte, n*PageSize)}, nil
}

type heapPages struct {
	disk    *heapDisk
	data    []byte
	written int64
}

func (p *heapPages) ReadAt(b []byte, off int64) error {
	if off/PageSize != (off+int64(len(b))-1)/PageSize || off+int64(len(b)) > p.written {
		panic(fmt.Sprintf("read of %d bytes at %d, written %d", len(b), off, p.written))
	}
	if p.disk.failed() {
		return errDisk
	}
	copy(b, p.data[off:])
	return nil
}

func (p *heapPages) WriteAt(b []byte, off int64) error {
	page := off == p.written && off%PageSize == 0 && len(b) <= PageSize
	if !page && (len(b) != slotBytes || off+slotBytes > p.written) {
		panic(fmt.Sprintf("write of %d bytes at %d, written %d", len(b), off, p.written))
	}
	if p.disk.failed() {
		return errDisk
	}
	copy(p.data[off:], b)
	p.written = max(p.written, off+int64(len(b)))
	return nil
}

func (p *heapPages) Free() {
	p.disk.out -= len(p.data) / PageSize
	p.data, p.written = nil, 0
}

func spilling(seed uint64, limit int) (*Index, *heapMemory, *heapDisk) {
	mem, disk := newMemory(), &heapDisk{}
	mem.limit = limit
	return New(mem, Options{Seed: seed, Disk: disk}), mem, disk
}

func TestSpill(t *testing.T) {
	for _, limit := range []int{4 << 10, 8 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 100 << 10, 256 << 10} {
		t.Run(fmt.Sprint(limit>>10, "KiB"), func(t *testing.T) {
			x, mem, disk := spilling(1, limit)
			rows := newTable(good)
			want := fillWith(t, x, rows, 60_000/heavy)
			verify(t, x, rows, want)
			st := x.Stats()
			t.Logf("%+v", st)
			require.Equal(t, int64(mem.bytes), st.Bytes)
			require.Equal(t, len(want), st.Entries)
			require.LessOrEqual(t, mem.peak, limit+8<<10) // doubling holds old and new
			require.LessOrEqual(t, disk.out*pageSlots, 2*len(want)+st.Runs*pageSlots)
			for k, id := range want {
				ok, err := rows.remove(x, k, id)
				require.NoError(t, err)
				require.True(t, ok)
				ok, err = rows.remove(x, k, id+1)
				require.NoError(t, err)
				require.False(t, ok)
			}
			verify(t, x, rows, nil)
			require.Zero(t, disk.out)
			x.Free()
			require.Empty(t, mem.out)
		})
	}
}

func TestSpilledWeakHashes(t *testing.T) {
	hashes := map[string]func(uint64) uint64{
		"constant": func(uint64) uint64 { return 0x123456789abcdef },
		"8 values": func(k uint64) uint64 { return good(k) & 7 },
		"pairs":    func(k uint64) uint64 { return good(k / 14) },
		"twenties": func(k uint64) uint64 { return good(k / 140) },
	}
	for name, hash := range hashes {
		for _, limit := range []int{8 << 10, 64 << 10} {
			t.Run(fmt.Sprint(name, limit), func(t *testing.T) {
				x, mem, disk := spilling(2, limit)
				rows := newTable(hash)
				want := fillWith(t, x, rows, 5_000/heavy)
				verify(t, x, rows, want)
				for k, id := range want {
					ok, err := rows.remove(x, k, id)
					require.NoError(t, err)
					require.True(t, ok)
				}
				verify(t, x, rows, nil)
				x.Free()
				require.Empty(t, mem.out)
				require.Zero(t, disk.out)
			})
		}
	}
}

// Known seed: all hashes agree in their top bits, or are spread unevenly over
// the pages.
func TestSpilledCraftedHashes(t *testing.T) {
	crafted := map[string]func(k uint64) uint64{
		"same directory bits": func(k uint64) uint64 { return 0xabcdef<<40 | good(k)>>24 },
		"dense":               func(k uint64) uint64 { return k },
		"powers":              func(k uint64) uint64 { return good(k) >> (k % 60) },
	}
	for name, m := range crafted {
		t.Run(name, func(t *testing.T) {
			x, _, _ := spilling(3, 64<<10)
			rows := newTable(func(k uint64) uint64 { return unmix(x, m(k)) })
			want := fillWith(t, x, rows, 20_000/heavy)
			verify(t, x, rows, want)
		})
	}
}

func TestFindBatchOnDisk(t *testing.T) {
	x, _, disk := spilling(4, 64<<10)
	rows := newTable(good)
	want := fillWith(t, x, rows, 30_000)
	hashes, cand := make([]uint64, 40_000), make([]uint64, 40_000)
	for i := range hashes {
		hashes[i] = good(uint64(i+1) * 7)
	}
	calls := disk.calls
	require.NoError(t, x.FindBatch(hashes, cand))
	require.Less(t, disk.calls-calls, 15_000, "reads of neighbours are shared")
	since := x.Spills()
	require.NotZero(t, since)
	calls = disk.calls
	for i := range hashes {
		key := uint64(i+1) * 7
		require.Equal(t, want[key], cand[i])
		if cand[i] == 0 {
			rows.key = key
			_, id, err := x.FindSince(hashes[i], rows, since)
			require.NoError(t, err)
			require.Zero(t, id)
		}
	}
	require.Equal(t, calls, disk.calls)
}

// A new key normally reads nothing, a duplicate about one window.
func TestReadsOfAFilteredIndex(t *testing.T) {
	x, _, _ := spilling(5, 256<<10)
	rows := newTable(good)
	fillWith(t, x, rows, 80_000)
	reads := func(from, to uint64) float64 {
		was := x.Stats().Reads
		for k := from; k < to; k++ {
			_, err := rows.find(x, k*7)
			require.NoError(t, err)
		}
		return float64(x.Stats().Reads-was) / float64(to-from)
	}
	fresh, known := reads(1_000_000, 1_020_000), reads(1, 20_000)
	t.Logf("%.3f reads for a new key, %.3f for a duplicate, %+v", fresh, known, x.Stats())
	require.Less(t, fresh, 0.1)
	require.InDelta(t, 1, known, 0.2)
}

// Every failure leaves the index as it was.
func TestDiskFails(t *testing.T) {
	for seed := uint64(1); seed <= 40/heavy; seed++ {
		x, mem, disk := spilling(seed, 16<<10)
		rows, want := newTable(good), map[uint64]uint64{}
		left := int(seed * 7)
		disk.fail = func() bool { left--; return left < 0 && left > -4 }
		failures := 0
		for k := uint64(1); k <= 6000; k++ {
			_, err := rows.insert(x, k, k)
			for err != nil {
				failures++
				require.ErrorIs(t, err, errDisk)
				_, err = rows.insert(x, k, k)
			}
			want[k] = k
			if k%5 == 0 {
				victim := k / 5 * 4
				ok, err := rows.remove(x, victim, want[victim])
				for err != nil {
					failures++
					require.ErrorIs(t, err, errDisk)
					ok, err = rows.remove(x, victim, want[victim])
				}
				require.True(t, ok)
				delete(want, victim)
			}
			if left < -100 {
				left = int(seed * 7)
			}
		}
		require.NotZero(t, failures)
		disk.fail = nil
		verify(t, x, rows, want)
		x.Free()
		require.Zero(t, disk.out)
		require.Empty(t, mem.out)
	}
}

// Keys in the overflow index are found however the directory changes.
func TestTurnedParts(t *testing.T) {
	for _, limit := range []int{128 << 10, 1 << 30} {
		x, _, _ := spilling(9, limit)
		rows := newTable(func(k uint64) uint64 {
			if k%7 != 0 {
				return 1
			}
			return good(k)
		})
		want := fillWith(t, x, rows, 2000) // multiples of 7
		for k := uint64(1); k <= 300; k += 7 {
			_, err := rows.insert(x, k, 1<<40+k)
			require.NoError(t, err)
			want[k] = 1<<40 + k
		}
		require.Equal(t, 43-maxEqual, x.Stats().Overflow)
		for k := uint64(2001); k <= 40_000; k++ {
			_, err := rows.insert(x, k*7, k)
			require.NoError(t, err)
			want[k*7] = k
		}
		verify(t, x, rows, want)
	}
}

// Readers may run at the same time.
func TestParallelReaders(t *testing.T) {
	x, _, _ := spilling(7, 64<<10)
	want := fillWith(t, x, newTable(good), 20_000/heavy)
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			rows := newTable(good)
			rows.keys = make(map[uint64]uint64)
			for k, id := range want {
				rows.keys[id] = k
			}
			hashes, cand := []uint64{0}, []uint64{0}
			for k := range want {
				if k%4 != g {
					continue
				}
				id, err := rows.find(x, k)
				hashes[0] = good(k)
				if e := x.FindBatch(hashes, cand); e != nil || err != nil || id != want[k] || cand[0] != id {
					t.Errorf("key %d: %d, %d, %v, %v", k, id, cand[0], err, e)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestNoAllocationsOnDisk(t *testing.T) {
	x, _, _ := spilling(8, 64<<10)
	rows := newTable(good)
	fillWith(t, x, rows, 10_000)
	k := uint64(0)
	allocs := testing.AllocsPerRun(1000, func() {
		k = k%10_000 + 1
		if id, err := rows.insert(x, k*7, 1); id != k || err != nil {
			t.Error(id, err)
		}
		if id, err := rows.find(x, k*7+1); id != 0 || err != nil {
			t.Error(id, err)
		}
	})
	if heavy == 1 { // under the race detector a sync.Pool drops at random
		require.Zero(t, allocs)
	}
}

// The refusal of both tiers is in the error.
func TestBothTiersRefuse(t *testing.T) {
	x, _, disk := spilling(6, 16<<10)
	disk.fail = func() bool { return true }
	rows := newTable(good)
	for k := uint64(1); ; k++ {
		if _, err := rows.insert(x, k, k); err != nil {
			require.ErrorIs(t, err, errDisk)
			require.ErrorIs(t, err, errRefused)
			require.NoError(t, x.Check())
			break
		}
	}
	y, _, _ := spilling(6, 1)
	_, err := rows.insert(y, 1, 1)
	require.ErrorIs(t, err, errRefused)
}

func TestModelOnDisk(t *testing.T) {
	hashes := []func(uint64) uint64{
		good,
		func(k uint64) uint64 { return good(k) & 0xff },
		func(uint64) uint64 { return 3 },
		func(k uint64) uint64 { return k << 50 },
	}
	for seed := uint64(1); seed <= 24; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 2))
		x, mem, disk := spilling(seed, 4<<10<<(seed%5))
		if seed%3 == 0 {
			disk.fail = func() bool { return rnd.IntN(50) == 0 }
		}
		if seed%5 == 0 {
			mem.limit = 0
			mem.refuse = func() bool { return rnd.IntN(4) > 0 }
		}
		n, space := 20_000/heavy, uint64(1)<<(6+seed%10)
		ops := func() (uint64, uint64, bool) {
			n--
			return rnd.Uint64N(100), rnd.Uint64N(space), n >= 0
		}
		model(t, x, mem, disk, hashes[seed%4], ops)
		require.Zero(t, disk.out)
	}
}
