package hashindex

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func fillWith(t testing.TB, x *Index, rows *table, n int) map[uint64]uint64 {
	want := map[uint64]uint64{}
	for k := uint64(1); k <= uint64(n); k++ {
		id, err := rows.insert(x, k*7, k)
		require.NoError(t, err)
		require.Equal(t, k, id)
		want[k*7] = k
	}
	return want
}

func TestEmptyTakesNothing(t *testing.T) {
	mem := newMemory()
	x, rows := New(mem, Options{Seed: 1}), newTable(good)
	id, err := rows.find(x, 5)
	require.NoError(t, err)
	require.Zero(t, id)
	require.False(t, rows.delete(x, 5, 1))
	x.Clear()
	x.Free()
	require.NoError(t, x.Check())
	require.Zero(t, mem.calls)
}

func TestGrowth(t *testing.T) {
	for _, n := range []int{1, 4, 5, 217, 218, 434, 435, 868, 869, 5000, 60_000 / heavy} {
		mem := newMemory()
		x, rows := New(mem, Options{Seed: 2}), newTable(good)
		want := fillWith(t, x, rows, n)
		verify(t, x, rows, want)
		st := x.Stats()
		require.Equal(t, int64(mem.bytes), st.Bytes)
		require.Equal(t, n, st.Entries)
		probes := 0
		for _, p := range st.Probes {
			probes += p
		}
		require.Equal(t, n, probes)
		for k := range want {
			id, err := rows.insert(x, k, 1<<40)
			require.NoError(t, err)
			require.Equal(t, want[k], id)
		}
		x.Free()
		require.Empty(t, mem.out)
	}
}

// At most 38 bytes an entry at every count from 4,096.
func TestBytesPerEntry(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		mem := newMemory()
		x, rows := New(mem, Options{Seed: seed}), newTable(good)
		worst := 0.0
		for k := uint64(1); k <= 150_000/heavy; k++ {
			_, err := rows.insert(x, k, k)
			require.NoError(t, err)
			if k >= 4096 {
				worst = max(worst, float64(mem.bytes+cap(x.dir)*entryBytes)/float64(k))
			}
		}
		require.LessOrEqual(t, worst, 38.0)
		t.Logf("seed %d: at most %.1f bytes an entry", seed, worst)
	}
}

func TestDeleteAll(t *testing.T) {
	x, rows := New(newMemory(), Options{Seed: 3}), newTable(good)
	want := fillWith(t, x, rows, 10_000/heavy)
	for k, id := range want {
		require.False(t, rows.delete(x, k, id+1))
		require.True(t, rows.delete(x, k, id))
		require.False(t, rows.delete(x, k, id))
		delete(want, k)
		if len(want)%1000 == 0 {
			verify(t, x, rows, want)
		}
	}
}

func TestClearKeepsMemory(t *testing.T) {
	mem := newMemory()
	x, rows := New(mem, Options{Seed: 4}), newTable(good)
	fillWith(t, x, rows, 20_000/heavy)
	calls := mem.calls
	for range 3 {
		x.Clear()
		verify(t, x, rows, nil)
		verify(t, x, rows, fillWith(t, x, rows, 20_000/heavy))
	}
	require.Equal(t, calls, mem.calls)
}

// Weak hashes of every kind give right results.
func TestWeakHashes(t *testing.T) {
	hashes := map[string]func(uint64) uint64{
		"zero":     func(uint64) uint64 { return 0 },
		"constant": func(uint64) uint64 { return 0x123456789abcdef },
		"identity": func(k uint64) uint64 { return k },
		"high":     func(k uint64) uint64 { return k << 45 },
		"folded":   func(k uint64) uint64 { return k<<42 | k<<10 },
		"8 values": func(k uint64) uint64 { return good(k) & 7 },
		"4 bits":   func(k uint64) uint64 { return good(k) & 0xf00000000000000 },
		"pairs":    func(k uint64) uint64 { return good(k / 14) },
	}
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			mem := newMemory()
			x, rows := New(mem, Options{Seed: 5}), newTable(hash)
			want := fillWith(t, x, rows, 20_000/heavy)
			verify(t, x, rows, want)
			for k, id := range want {
				if id%3 == 0 {
					require.True(t, rows.delete(x, k, id))
					delete(want, k)
				}
			}
			verify(t, x, rows, want)
			x.Clear()
			verify(t, x, rows, nil)
			x.Free()
			require.Empty(t, mem.out)
		})
	}
}

// unmix inverts x.mix: by Newton's iteration an odd number has an inverse.
func unmix(x *Index, m uint64) uint64 {
	inverse := func(a uint64) uint64 {
		v := a
		for range 6 {
			v *= 2 - a*v
		}
		return v
	}
	return swap(m*inverse(x.mul[1])) * inverse(x.mul[0])
}

func swap(v uint64) (r uint64) {
	for range 8 {
		r, v = r<<8|v&0xff, v>>8
	}
	return r
}

// Hashes crafted by somebody who knows the seed.
func TestCraftedHashes(t *testing.T) {
	crafted := map[string]func(k uint64) uint64{
		"same directory bits":   func(k uint64) uint64 { return 0xabcdef<<40 | good(k)>>24 },
		"same home":             func(k uint64) uint64 { return good(k)&^(1023<<32) | 77<<32 },
		"differ in lowest bits": func(k uint64) uint64 { return k },
		"last home":             func(k uint64) uint64 { return k<<42 | 1023<<32 },
	}
	for name, m := range crafted {
		t.Run(name, func(t *testing.T) {
			x := New(newMemory(), Options{Seed: 6})
			rows := newTable(func(k uint64) uint64 { return unmix(x, m(k)) })
			require.Equal(t, m(123), x.mix(rows.hash(123)))
			want := fillWith(t, x, rows, 10_000/heavy)
			verify(t, x, rows, want)
			require.LessOrEqual(t, len(x.dir), maxDirPerSegment*x.segments)
		})
	}
}

func TestBrokenRehashIsAnError(t *testing.T) {
	x, rows := New(newMemory(), Options{Seed: 7}), newTable(func(uint64) uint64 { return 1 })
	rows.rehash = func(uint64, uint64) uint64 { return 2 }
	want := map[uint64]uint64{}
	for k := uint64(1); ; k++ {
		_, err := rows.insert(x, k, k)
		if err != nil {
			require.ErrorIs(t, err, ErrCollisions)
			break
		}
		want[k] = k
	}
	require.Greater(t, len(want), maxGroups*groupSlots/2)
	verify(t, x, rows, want)
}

func TestEqualFails(t *testing.T) {
	x, rows := New(newMemory(), Options{Seed: 8}), newTable(good)
	want := fillWith(t, x, rows, 1000)
	rows.err = errRefused
	_, err := rows.find(x, 7)
	require.ErrorIs(t, err, errRefused)
	rows.err = nil
	verify(t, x, rows, want)
}

// A slot survives what happens between Find and Publish.
func TestPublishAfterChanges(t *testing.T) {
	x, rows := New(newMemory(), Options{Seed: 9}), newTable(good)
	want := fillWith(t, x, rows, 3000)
	for k := uint64(1 << 20); k < 1<<20+500; k++ {
		rows.key = k
		s, id, err := x.Find(good(k), rows)
		require.NoError(t, err)
		require.Zero(t, id)
		s, err = x.Reserve(s, rows)
		require.NoError(t, err)
		victim := (k - 1<<20) * 7 * 5
		if id, ok := want[victim]; ok { // a key-changing update
			require.True(t, rows.delete(x, victim, id))
			delete(want, victim)
		}
		rows.keys[k] = k
		x.Publish(s, k)
		want[k] = k
	}
	verify(t, x, rows, want)
}

// The same where the removed entry leaves a gap on the new one's way.
func TestPublishBehindAGap(t *testing.T) {
	x, rows := New(newMemory(), Options{Seed: 12}), newTable(good)
	want := fillWith(t, x, rows, 860) // one segment, nearly full
	next := uint64(10_000)
	for victim, id := range want {
		next++
		rows.key = next
		s, _, err := x.Find(good(next), rows)
		require.NoError(t, err)
		s, err = x.Reserve(s, rows)
		require.NoError(t, err)
		require.True(t, rows.delete(x, victim, id))
		rows.keys[next] = next
		x.Publish(s, next)
		require.NoError(t, x.Check())
	}
}

func TestFindBatch(t *testing.T) {
	x, rows := New(newMemory(), Options{Seed: 10}), newTable(good)
	want := fillWith(t, x, rows, 5000)
	hashes, cand := make([]uint64, 6000), make([]uint64, 6000)
	for i := range hashes {
		hashes[i] = good(uint64(i+1) * 7)
	}
	require.NoError(t, x.FindBatch(hashes, cand))
	for i := range hashes {
		require.Equal(t, want[uint64(i+1)*7], cand[i])
	}
}

func TestNoAllocations(t *testing.T) {
	x, rows := New(newMemory(), Options{Seed: 11}), newTable(good)
	fillWith(t, x, rows, 5000)
	k := uint64(0)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		k = k%5000 + 1
		if id, err := rows.insert(x, k*7, 1); id != k || err != nil {
			t.Error(id, err)
		}
	}))
	x.Clear()
	require.Zero(t, testing.AllocsPerRun(4000, func() {
		k++
		rows.key = k
		s, _, _ := x.Find(good(k), rows)
		s, _ = x.Reserve(s, rows)
		x.Publish(s, k)
	}))
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { New(nil, Options{}) }))
}

// model runs operations and compares with a map. disk may be nil.
func model(t testing.TB, x *Index, mem *heapMemory, disk *heapDisk, hash func(uint64) uint64, ops func() (op, arg uint64, ok bool)) {
	m := &modelRun{t: t, x: x, rows: newTable(hash), want: map[uint64]uint64{}, next: 1}
	for {
		op, key, ok := ops()
		if !ok {
			break
		}
		switch {
		case op < 60:
			m.insert(key)
		case op < 75:
			got, err := m.rows.find(x, key)
			if m.passes(err) && got != m.want[key] {
				t.Fatalf("key %d: found %d, want %d", key, got, m.want[key])
			}
		case op < 99:
			m.remove(key)
		case key%64 == 0:
			x.Clear()
			clear(m.want)
			clear(m.rows.keys)
			m.free = nil
		case key%64 == 1 && disk == nil:
			verify(t, x, m.rows, m.want)
		}
	}
	if disk != nil {
		disk.fail = nil
	}
	verify(t, x, m.rows, m.want)
	x.Free()
	require.Empty(t, mem.out)
}

type modelRun struct {
	t    testing.TB
	x    *Index
	rows *table
	want map[uint64]uint64
	free []uint64 // ids that are used again
	next uint64
}

// passes says whether err is nil; if not, it must be an injected one.
func (m *modelRun) passes(err error) bool {
	if err != nil && !errors.Is(err, errRefused) && !errors.Is(err, errDisk) {
		m.t.Fatal(err)
	}
	return err == nil
}

func (m *modelRun) insert(key uint64) {
	id := m.next
	if len(m.free) > 0 {
		id = m.free[len(m.free)-1]
	}
	got, err := m.rows.insert(m.x, key, id)
	if !m.passes(err) {
		return
	}
	if have, ok := m.want[key]; ok {
		require.Equal(m.t, have, got)
		return
	}
	require.Equal(m.t, id, got)
	m.want[key] = id
	if len(m.free) > 0 {
		m.free = m.free[:len(m.free)-1]
	} else {
		m.next++
	}
}

func (m *modelRun) remove(key uint64) {
	id, there := m.want[key]
	if !there {
		return
	}
	ok, err := m.rows.remove(m.x, key, id)
	if !m.passes(err) {
		return
	}
	require.True(m.t, ok)
	delete(m.want, key)
	m.free = append(m.free, id)
}

func TestModel(t *testing.T) {
	hashes := []func(uint64) uint64{
		good,
		func(k uint64) uint64 { return good(k) & 0xff },
		func(uint64) uint64 { return 3 },
		func(k uint64) uint64 { return k << 50 },
	}
	for seed := uint64(1); seed <= 24; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 1))
		mem := newMemory()
		if seed%2 == 0 {
			mem.refuse = func() bool { return rnd.IntN(3) > 0 }
		}
		n, space := 40_000/heavy, uint64(1)<<(6+seed%10)
		ops := func() (uint64, uint64, bool) {
			n--
			return rnd.Uint64N(100), rnd.Uint64N(space), n >= 0
		}
		model(t, New(mem, Options{Seed: seed}), mem, nil, hashes[seed%4], ops)
	}
}

func FuzzModel(f *testing.F) {
	f.Add(uint64(1), []byte("0123456789"))
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		mem := newMemory()
		o, disk := Options{Seed: seed | 1}, (*heapDisk)(nil)
		if seed&32 != 0 {
			disk = &heapDisk{}
			mem.limit, o.Disk = 4<<10<<(seed>>6&3), disk
		}
		mask := uint64(0xffff) >> (seed % 16)
		hash := func(k uint64) uint64 { return good(k) & mask }
		if seed&16 != 0 {
			hash = good
		}
		ops := func() (uint64, uint64, bool) {
			if len(data) < 3 {
				return 0, 0, false
			}
			op, arg := uint64(data[0])%100, uint64(data[1])|uint64(data[2])<<8
			data = data[3:]
			return op, arg, true
		}
		model(t, New(mem, o), mem, disk, hash, ops)
	})
}
