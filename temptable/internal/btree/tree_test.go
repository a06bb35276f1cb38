package btree

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNodesHoldNoPointers(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[node](), reflect.TypeFor[inner]()} {
		require.False(t, hasPointers(typ), typ.String())
		require.EqualValues(t, nodeSize, typ.Size())
	}
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return hasPointers(t.Elem())
	default:
		return t.Kind() < reflect.Bool || t.Kind() > reflect.Float64
	}
}

func TestLower(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	n := new(node)
	for count := range leafCap + 1 {
		n.begin(header{})
		for i := range count {
			n.insert(i, entry{uint64(i/4)*2 + 1, uint64(i%4)*2 + 1})
		}
		for range 50 {
			hi, lo := rnd.Uint64N(uint64(count)/2+2), rnd.Uint64N(9)
			want := 0
			for want < count && (n.entries[want].hi < hi || n.entries[want].hi == hi && n.entries[want].lo < lo) {
				want++
			}
			require.Equal(t, want, lower(n.all(), hi, lo))
		}
	}
}

func TestEntryOrder(t *testing.T) {
	keys := []string{
		"", "\x00", "\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"\x00\x00\x00\x00\x00\x00\x00\x00\x01", "\x00\x00\x00\x00\x00\x00\x00\x01", "a", "a\x00", "aaaaaaaa",
		"aaaaaaaa\x00", "aaaaaaaa\xff", "aaaaaaab", "\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	}
	for i, a := range keys {
		for j, b := range keys {
			x, y := makeEntry([]byte(a), maxID-1), makeEntry([]byte(b), 1)
			require.Equal(t, i == j, x.ties(y), "%q %q", a, b)
			require.Equal(t, i < j, less(&x, y.hi, y.lo) == 1, "%q %q", a, b)
			require.False(t, x.long())
			require.EqualValues(t, maxID-1, x.id())
		}
	}
	long := makeEntry([]byte("aaaaaaaa\x00\x00"), 5)
	require.True(t, long.long())
	require.True(t, long.ties(makeEntry([]byte("aaaaaaaa\x00 and more"), 6)))
	short := makeEntry([]byte("aaaaaaaa\x00"), 7)
	require.Equal(t, 1, less(&short, long.hi, long.lo))
	require.Equal(t, 1, less(&long, vacant.hi, vacant.lo))
}

func TestEmpty(t *testing.T) {
	r := newRig(t)
	require.Equal(t, Stats{}, r.Stats())
	ok, err := r.drop("key", 1)
	require.False(t, ok)
	require.NoError(t, err)
	r.Publish(1)
	require.Zero(t, r.Len())
	require.Zero(t, r.mem.calls)
}

func TestRowIDs(t *testing.T) {
	r := newRig(t)
	for _, id := range []uint64{0, maxID, 1 << 60} {
		for _, unique := range []bool{false, true} {
			_, err := r.Insert([]byte("k"), id, unique, nil)
			require.ErrorIs(t, err, ErrRowID)
		}
		_, err := r.Reserve([]byte("k"), id, false, nil)
		require.ErrorIs(t, err, ErrRowID)
		ok, err := r.Delete([]byte("k"), id, nil)
		require.False(t, ok)
		require.NoError(t, err)
	}
	_, err := r.add("k", maxID-1, true)
	require.NoError(t, err)
}

func TestUniqueViolation(t *testing.T) {
	r := newRig(t)
	for i, key := range []string{"short", "longer than what is inline", "longer than what is in an entry"} {
		other, err := r.add(key, uint64(i)+1, true)
		require.NoError(t, err)
		require.Zero(t, other)
	}
	calls := r.mem.calls
	for i, key := range []string{"short", "longer than what is inline", "longer than what is in an entry"} {
		other, err := r.add(key, 77, true)
		require.NoError(t, err)
		require.EqualValues(t, i+1, other)
	}
	require.Equal(t, calls, r.mem.calls)
	require.Equal(t, 3, r.Len())
}

// TestReserve publishes under an id that was not known when the place was found.
func TestReserve(t *testing.T) {
	r := newRig(t)
	for i, key := range []string{"b", "a", "a key that is not inline", "c", "d"} {
		k, rows := r.rows.look([]byte(key))
		other, err := r.Reserve(k, 0, true, rows)
		require.NoError(t, err)
		require.Zero(t, other)
		r.Publish(uint64(i) + 100)
		r.rows.keys[uint64(i)+100] = key
		r.Publish(1) // nothing is reserved
	}
	r.check(t)
	require.Equal(t, 5, r.Len())
}

// TestPublishCannotFail fails every call once a place is reserved.
func TestPublishCannotFail(t *testing.T) {
	r := newRig(t)
	r.mem.max = 1
	always := func() bool { return true }
	rnd := rand.New(rand.NewPCG(5, 5))
	for i := range uint64(100 * leafCap) {
		key := "a common beginning " + word(rnd.Uint64())
		k, rows := r.rows.look([]byte(key))
		_, err := r.Reserve(k, i+1, i%2 == 0, rows)
		require.NoError(t, err)
		r.mem.fail, r.pg.fail, r.rows.fail = always, always, always
		r.Publish(i + 1)
		r.mem.fail, r.pg.fail, r.rows.fail = never, never, never
		r.rows.keys[i+1] = key
		require.Empty(t, r.pg.pinned)
	}
	require.LessOrEqual(t, r.pg.most, 2*r.Stats().Depth+2)
	for id, key := range r.rows.keys {
		_, err := r.drop(key, id)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, r.pg.most, 2*maxDepth)
}

func TestAscendingFillsLeaves(t *testing.T) {
	for _, prefix := range []string{"", "more than nine bytes "} {
		r := newRig(t)
		for i := range uint64(4 * effort * leafCap) {
			_, err := r.add(prefix+word(i), i+1, true)
			require.NoError(t, err)
		}
		s := r.Stats()
		require.Equal(t, 4*effort, s.Leaves)
		require.Equal(t, 1.0, s.Fill)
		require.LessOrEqual(t, r.rows.reads, 4*effort*(leafCap+1), "one comparison for each")
	}
}

func TestMemoryFollowsContent(t *testing.T) {
	r := newRig(t)
	_, err := r.add("first", 1, true)
	require.NoError(t, err)
	require.EqualValues(t, minChunk, r.Stats().Bytes)
	for i := range uint64(20 * effort * leafCap) {
		_, err := r.add(word(i), i+2, true)
		require.NoError(t, err)
		s := r.Stats()
		need := int64(s.Nodes) * nodeSize
		require.LessOrEqual(t, s.Bytes, max(need*9/8+midChunk, minChunk))
	}
	require.EqualValues(t, []int{4 << 10, 4 << 10, 8 << 10, 16 << 10, 16 << 10, maxChunk},
		[]int{chunkSize(0), chunkSize(4 << 10), chunkSize(8 << 10), chunkSize(16 << 10), chunkSize(300 << 10), chunkSize(1 << 40)})
}

// TestEveryRefusal refuses, in each operation, the first call, then the second,
// and so on until it succeeds: every error leaves the tree as it was.
func TestEveryRefusal(t *testing.T) {
	n := 130 * effort
	for _, prefix := range []string{"", "behind what is inline "} {
		for _, order := range [][]int{numbers(n), rand.New(rand.NewPCG(8, 8)).Perm(n)} {
			for _, max := range []int{minChunk, 1} {
				refuseAll(t, prefix, order, max)
			}
		}
	}
}

func refuseAll(t *testing.T, prefix string, order []int, max int) {
	r := newRig(t)
	r.mem.max = max
	var c Cursor
	c.Open(r.Tree)
	for _, i := range order {
		taken := r.stubborn(t, func() (bool, error) {
			other, err := r.add(prefix+word(uint64(i)), uint64(i)+1, i%2 == 0)
			return other != 0, err
		})
		require.False(t, taken)
	}
	r.check(t)
	require.Equal(t, len(order), r.Len())
	for _, i := range order {
		key := prefix + word(uint64(i))
		require.True(t, r.stubborn(t, func() (bool, error) { return findOrStay(t, r, &c, key) }))
		require.True(t, r.stubborn(t, func() (bool, error) { return r.drop(key, uint64(i)+1) }))
	}
	require.Zero(t, r.Len())
}

// findOrStay fails the test if an error moves the cursor.
func findOrStay(t *testing.T, r *rig, c *Cursor, key string) (bool, error) {
	old := c.place
	ok, err := c.Find(r.rows.look([]byte(key)))
	if err != nil {
		require.Equal(t, old, c.place)
	}
	return ok, err
}

// stubborn repeats do with the first, second, … call refused until it succeeds.
func (r *rig) stubborn(t *testing.T, do func() (bool, error)) bool {
	length := r.Len()
	for k := 0; ; k++ {
		n := -1
		fail := func() bool { n++; return n >= k }
		r.mem.fail, r.pg.fail, r.rows.fail = fail, fail, fail
		ok, err := do()
		r.mem.fail, r.pg.fail, r.rows.fail = never, never, never
		require.Empty(t, r.pg.pinned)
		if err == nil {
			return ok
		}
		require.ErrorIs(t, err, errRefused)
		require.Equal(t, length, r.Len())
		if k%16 == 0 && length%61 == 0 {
			r.check(t)
		}
	}
}

// TestGrowAndShrink makes trees of three levels and takes them down again.
func TestGrowAndShrink(t *testing.T) {
	n := leafCap * innerCap * 3 / 2 * effort / 10
	upward, longer := numbers(n), numbers(n*5/3)
	downward := slices.Clone(upward)
	slices.Reverse(downward)
	random := func(seed uint64) []int { return rand.New(rand.NewPCG(seed, 1)).Perm(n) }
	for name, order := range map[string][2][]int{
		"random, random": {random(1), random(2)},
		"up, up":         {longer, longer},
		"up, down":       {upward, downward},
		"down, up":       {downward, upward},
		"down, random":   {downward, random(3)},
		"random, down":   {random(4), downward},
	} {
		t.Run(name, func(t *testing.T) { growAndShrink(t, order[0], order[1]) })
	}
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func growAndShrink(t *testing.T, in, out []int) {
	r := newRig(t)
	for _, i := range in {
		_, err := r.add(word(uint64(i)), uint64(i)+1, true)
		require.NoError(t, err)
	}
	r.check(t)
	require.GreaterOrEqual(t, r.Stats().Depth, 2+effort/10)
	for k, i := range out {
		ok, err := r.drop(word(uint64(i)), uint64(i)+1)
		require.True(t, ok)
		require.NoError(t, err)
		if k%(len(out)/20) == 0 {
			r.check(t)
		}
	}
	require.Zero(t, r.Len())
	require.Equal(t, 1, r.Stats().Nodes)
}

// TestNoThrash inserts and deletes around every fill of the first nodes: no
// memory is asked for again and again, and nodes do not come and go.
func TestNoThrash(t *testing.T) {
	r := newRig(t)
	for i := range uint64(4 * leafCap) {
		_, err := r.add(word(i), i+1, true)
		require.NoError(t, err)
		calls, nodes := r.mem.calls, r.Stats().Nodes
		changes := 0
		for range 10 {
			_, err = r.drop(word(i), i+1)
			require.NoError(t, err)
			_, err = r.add(word(i), i+1, true)
			require.NoError(t, err)
			if now := r.Stats().Nodes; now != nodes {
				changes, nodes = changes+1, now
			}
		}
		require.Equal(t, calls, r.mem.calls)
		require.LessOrEqual(t, changes, 1)
	}
}

func TestClearKeepsMemory(t *testing.T) {
	r := newRig(t)
	fill := func() {
		for i := range uint64(30 * leafCap) {
			_, err := r.add(word(i*0x9e3779b97f4a7c15), i+1, true)
			require.NoError(t, err)
		}
	}
	fill()
	calls := r.mem.calls
	r.Clear()
	clear(r.rows.keys)
	r.check(t)
	fill()
	require.Equal(t, calls, r.mem.calls)
}

// TestCancel leaves reserved nodes behind, once to be used and once to be lost.
func TestCancel(t *testing.T) {
	r := newRig(t)
	for round := range 2 {
		for i := range uint64(leafCap) {
			_, err := r.add(word(i), i+1, true)
			require.NoError(t, err)
		}
		_, err := r.Reserve([]byte("more"), 0, true, nil)
		require.NoError(t, err)
		r.Cancel()
		r.check(t)
		require.Equal(t, 1, r.Stats().Nodes)
		if round == 0 {
			r.Clear()
			clear(r.rows.keys)
		}
	}
	for i := range uint64(9 * leafCap) {
		_, err := r.add(word(i*7919+leafCap), i+leafCap+1, true)
		require.NoError(t, err)
	}
}

// TestEqualKeys deletes single rows among very many with the same key.
func TestEqualKeys(t *testing.T) {
	r := newRig(t)
	n := 10 * effort * leafCap
	for _, i := range rand.New(rand.NewPCG(2, 2)).Perm(n) {
		_, err := r.add("equal keys, not inline", uint64(i)+1, false)
		require.NoError(t, err)
	}
	r.rows.reads = 0
	for i := range n / 2 {
		ok, err := r.drop("equal keys, not inline", uint64(i)*2+1)
		require.NoError(t, err)
		require.True(t, ok)
	}
	require.Less(t, r.rows.reads, n/2*(bits.Len(uint(n))+1))
}

// TestRowReads counts the rows that are read for keys which agree inline: a
// search needs little more than the logarithm of their number.
func TestRowReads(t *testing.T) {
	r := newRig(t)
	rnd := rand.New(rand.NewPCG(3, 3))
	n := 20 * effort * leafCap
	for i := range n {
		if i == n/2 {
			r.rows.reads = 0
		}
		_, err := r.add("the same prefix"+word(rnd.Uint64()), uint64(i)+1, true)
		require.NoError(t, err)
	}
	require.Less(t, r.rows.reads, n/2*(bits.Len(uint(n))+1))
}

// TestInlineKeysReadNoRows has keys of up to nine bytes, and a nil Keys.
func TestInlineKeysReadNoRows(t *testing.T) {
	tree := New(newMem(), nil)
	rnd := rand.New(rand.NewPCG(4, 4))
	var key [9]byte
	for i := range uint64(20 * leafCap) {
		binary.BigEndian.PutUint64(key[1:], rnd.Uint64N(1000))
		_, err := tree.Insert(key[:i%10], i+1, false, nil)
		require.NoError(t, err)
	}
	var c Cursor
	c.Open(tree)
	_, err := c.SeekLT(key[:], nil)
	require.NoError(t, err)
}

func TestNoAllocations(t *testing.T) {
	tree, rows, id := New(newMem(), nil), newStub(randomKeys(30000)), uint64(0)
	var c Cursor
	c.Open(tree)
	step := func() {
		id++
		key := rows.key(id)
		copy(rows.want, key)
		_, err1 := tree.Insert(key, id, true, rows)
		_, err2 := c.Find(key, rows)
		_, err3 := c.Next()
		if id%3 == 0 {
			_, _ = tree.Delete(key, id, rows)
		}
		require.NoError(t, errors.Join(err1, err2, err3))
	}
	for range 20000 {
		step()
	}
	tree.Clear()
	id = 0
	require.Zero(t, testing.AllocsPerRun(10000, step))
}

func TestNumbersRunOut(t *testing.T) {
	r := newRig(t)
	all := r.chunks
	r.chunks = make([]chunk, maxChunks)
	require.ErrorIs(t, r.grow(), ErrFull)
	r.chunks = all
}

func TestCheckFindsDamage(t *testing.T) {
	damage := map[string]func(r *rig){
		"order":     func(r *rig) { n := r.node(r.first); n.entries[0], n.entries[1] = n.entries[1], n.entries[0] },
		"link":      func(r *rig) { r.node(r.first).next = r.last },
		"separator": func(r *rig) { r.node(r.root).inner().entries[0].lo++ },
		"count":     func(r *rig) { r.length++ },
		"fill":      func(r *rig) { r.node(r.first).resize(leafMin - 1) },
		"vacancy":   func(r *rig) { n := r.node(r.last); n.count-- },
		"level":     func(r *rig) { r.node(r.first).level = 3 },
		"lost":      func(r *rig) { _, _ = r.take(); r.inUse-- },
		"free":      func(r *rig) { r.free = r.first },
		"cursor":    func(r *rig) { r.cursors.i++ },
		"gap":       func(r *rig) { r.cursors.i, r.cursors.gap = 0, true },
		"row":       func(r *rig) { delete(r.rows.keys, 1) },
	}
	for name, do := range damage {
		t.Run(name, func(t *testing.T) {
			r := &rig{Tree: New(newMem(), nil), rows: newTable()}
			for i := range uint64(3 * leafCap) {
				_, err := r.add(word(i), i+1, true)
				require.NoError(t, err)
			}
			var c Cursor
			c.Open(r.Tree)
			_, err := c.Last()
			require.NoError(t, err)
			require.NoError(t, r.Check(r.rows.key))
			do(r)
			require.Error(t, r.Check(r.rows.key))
		})
	}
}
