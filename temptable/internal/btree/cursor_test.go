package btree

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// walk returns the keys that a cursor goes through until it says no.
func walk(t *testing.T, r *rig, c *Cursor, step func() (bool, error)) (keys []string) {
	for {
		ok, err := step()
		require.NoError(t, err)
		if !ok {
			return keys
		}
		keys = append(keys, r.rows.keys[c.ID()])
	}
}

func openOn(t *testing.T, keys ...string) (*rig, *Cursor) {
	r, c := newRig(t), new(Cursor)
	for i, key := range keys {
		_, err := r.add(key, uint64(i)+1, false)
		require.NoError(t, err)
	}
	c.Open(r.Tree)
	return r, c
}

func TestBothWays(t *testing.T) {
	r, c := openOn(t, "c", "a", "b")
	require.Equal(t, []string{"a", "b", "c"}, walk(t, r, c, c.Next))
	require.Equal(t, []string{"c", "b", "a"}, walk(t, r, c, c.Prev))
	require.Equal(t, []string{"a", "b", "c"}, walk(t, r, c, c.Next))
}

// TestFollowsTheTail goes on with what is added behind the end.
func TestFollowsTheTail(t *testing.T) {
	r, c := openOn(t)
	require.Empty(t, walk(t, r, c, c.Next))
	_, err := r.add("a", 1, true)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, walk(t, r, c, c.Next))
	require.Empty(t, walk(t, r, c, c.Next))
	for i, key := range []string{"b", "0", "c"} {
		_, err = r.add(key, uint64(i)+2, true)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"b", "c"}, walk(t, r, c, c.Next))
}

// TestGap has the entry under the cursor removed, neighbours come and go, and
// the entry itself come back.
func TestGap(t *testing.T) {
	r, c := openOn(t, "a", "c", "e")
	_, err := c.Find([]byte("c"), r.rows)
	require.NoError(t, err)
	_, err = r.drop("c", 2)
	require.NoError(t, err)
	require.False(t, c.Valid())
	_, err = r.add("d", 10, false)
	require.NoError(t, err)
	_, err = r.add("b", 11, false)
	require.NoError(t, err)
	_, err = r.add("c", 2, false)
	require.NoError(t, err)
	require.True(t, c.Valid())
	require.Equal(t, []string{"d", "e"}, walk(t, r, c, c.Next))
}

// TestGapAtSplit has a leaf split with a cursor in the gap at each place.
func TestGapAtSplit(t *testing.T) {
	for gap := range uint64(leafCap) {
		r, c := openOn(t)
		for i := range uint64(leafCap) {
			_, err := r.add(word(i*2), i+1, true)
			require.NoError(t, err)
		}
		_, err := c.Find([]byte(word(gap*2)), nil)
		require.NoError(t, err)
		_, err = r.drop(word(gap*2), gap+1)
		require.NoError(t, err)
		for i, at := range []uint64{1, leafCap + leafCap%2 - 1, 3} {
			_, err = r.add(word(at), leafCap+uint64(i)+1, true)
			require.NoError(t, err)
			r.check(t)
		}
		_, err = r.add(word(gap*2), gap+1, true)
		require.NoError(t, err)
		require.True(t, c.Valid(), gap)
	}
}

func TestScanDelete(t *testing.T) {
	for _, prefix := range []string{"", "behind what is inline "} {
		r, c := openOn(t)
		n := uint64(30 * leafCap)
		for i := range n {
			_, err := r.add(prefix+word(i), i+1, true)
			require.NoError(t, err)
		}
		for i := range n {
			ok, err := c.Next()
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, i+1, c.ID())
			_, err = r.drop(prefix+word(i), c.ID())
			require.NoError(t, err)
		}
		require.Empty(t, walk(t, r, c, c.Next))
		require.Zero(t, r.Len())
		require.Equal(t, 1, r.Stats().Nodes)
	}
}

// TestLooseScan visits one entry of each group.
func TestLooseScan(t *testing.T) {
	r, c := openOn(t)
	for i := range uint64(1000) {
		key := string(rune('a'+i%5)) + " and something of its own " + word(i)
		_, err := r.add(key, i+1, true)
		require.NoError(t, err)
	}
	groups := ""
	for ok, err := c.First(); ok; {
		require.NoError(t, err)
		group := r.rows.keys[c.ID()][:1]
		groups += group
		end, more := PrefixEnd(nil, []byte(group))
		require.True(t, more)
		ok, err = c.SeekGE(r.rows.look(end))
	}
	require.Equal(t, "abcde", groups)
}

func TestPrefixEnd(t *testing.T) {
	for _, c := range []struct{ prefix, end string }{
		{"a", "b"}, {"ab", "ac"}, {"a\xff", "b"}, {"\x00", "\x01"}, {"a\xff\xffb", "a\xff\xffc"},
	} {
		end, ok := PrefixEnd([]byte("before "), []byte(c.prefix))
		require.True(t, ok)
		require.Equal(t, "before "+c.end, string(end))
	}
	for _, prefix := range []string{"", "\xff", "\xff\xff"} {
		_, ok := PrefixEnd(nil, []byte(prefix))
		require.False(t, ok)
	}
}

func TestCompare(t *testing.T) {
	r, c := openOn(t, "one key", "one key that is long")
	_, err := c.Last()
	require.NoError(t, err)
	for key, want := range map[string]int{
		"one key": -1, "one key that is": -1, "one key that is long": 0, "one key that is longer": 1, "z": 1,
	} {
		order, err := c.Compare(r.rows.look([]byte(key)))
		require.NoError(t, err)
		require.Equal(t, want, order, key)
	}
}

func TestCursorOutlives(t *testing.T) {
	r, c := openOn(t, "a", "b")
	_, err := c.Last()
	require.NoError(t, err)
	r.Free()
	clear(r.rows.keys)
	require.False(t, c.Valid())
	require.Empty(t, walk(t, r, c, c.Next))
	require.Empty(t, walk(t, r, c, c.Prev))
	_, err = r.add("c", 3, true)
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, walk(t, r, c, c.Prev))
	c.Close()
	c.Close()
	require.Nil(t, r.cursors)
}

// TestReaders has cursors opened, used and closed by several goroutines.
func TestReaders(t *testing.T) {
	for _, max := range []int{0, 1} {
		r := newRig(t)
		r.mem.max = max
		n := 10 * leafCap
		for i := range uint64(n) {
			_, err := r.add("a key of some length "+word(i), i+1, true)
			require.NoError(t, err)
		}
		r.pages = &lockedPager{fakePager: r.pg}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() { read(t, r, n, g) })
		}
		wg.Wait()
	}
}

// read looks at all n entries in one way or the other, with rows of its own.
func read(t *testing.T, r *rig, n, g int) {
	rows := &table{keys: r.rows.keys, fail: never}
	for round := range 3 {
		var c Cursor
		c.Open(r.Tree)
		step := c.Next
		if (g+round)%2 == 0 {
			step = c.Prev
		}
		seen := 0
		for ok, err := step(); ok && err == nil; ok, err = step() {
			seen++
		}
		found, err := c.Find(rows.look([]byte("a key of some length " + word(uint64(g)))))
		if !found || err != nil || seen != n {
			t.Errorf("found %v, error %v, seen %d of %d", found, err, seen, n)
		}
		c.Close()
	}
}

type lockedPager struct {
	*fakePager
	mu sync.Mutex
}

func (p *lockedPager) Pin(no uint32) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fakePager.Pin(no)
}

func (p *lockedPager) Unpin(no uint32, dirty bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fakePager.Unpin(no, dirty)
}
