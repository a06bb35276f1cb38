package btree

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pair of key and row, the model's notion of an entry.
type item struct {
	key string
	id  uint64
}

func (a item) compare(b item) int {
	return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
}

// spot is the model of a cursor: a place in the order, whether or not something
// is there.
type spot struct {
	item
	placed bool
	side   side
}

// source yields numbers below n; ok is false when it is used up.
type source func(n int) int

// model runs operations on a tree and on a sorted slice.
type model struct {
	*rig
	t     testing.TB
	next  source
	items []item
	cur   []*Cursor
	spots []spot
	kind  int // of keys
	ids   uint64
	hits  map[string]int
}

func newModel(t testing.TB, next source) *model {
	m := &model{rig: newRig(t), t: t, next: next, hits: map[string]int{}}
	m.kind = next(len(kinds))
	m.cur, m.spots = make([]*Cursor, 3), make([]spot, 3)
	for i := range m.cur {
		m.cur[i] = new(Cursor)
		m.cur[i].Open(m.Tree)
	}
	return m
}

// kinds of keys: each makes a key from a number of few or many values.
var kinds = []func(m *model) string{
	func(m *model) string { return word(uint64(m.next(1 << 30))) },
	func(m *model) string { return word(uint64(m.next(40))) },
	func(m *model) string { return strings.Repeat("\x00", m.next(13)) },
	func(m *model) string { return "all the same " + word(uint64(m.next(1<<30))) },
	func(m *model) string { return "all the same " + word(uint64(m.next(5))) },
	func(m *model) string { return strings.Repeat("a", m.next(12)) + string(rune('a'+m.next(3))) },
	func(m *model) string { m.ids++; return word(m.ids) },
	func(m *model) string { m.ids++; return "ascending long " + word(m.ids) },
	func(m *model) string { m.ids++; return word(^m.ids) },
}

func word(v uint64) string { return string(binary.BigEndian.AppendUint64(nil, v)) }

func (m *model) newKey() string {
	if m.next(50) == 0 {
		return kinds[m.next(len(kinds))](m)
	}
	return kinds[m.kind](m)
}

// someItem is mostly one that is there.
func (m *model) someItem() item {
	if len(m.items) == 0 || m.next(10) == 0 {
		return item{m.newKey(), uint64(m.next(1<<20)) + 1}
	}
	if s := m.spots[m.next(len(m.spots))]; s.placed && m.next(4) == 0 {
		return s.item
	}
	return m.items[m.next(len(m.items))]
}

func (m *model) find(it item) (int, bool) {
	return slices.BinarySearchFunc(m.items, it, item.compare)
}

func (m *model) insert(unique bool) {
	it := item{m.newKey(), uint64(m.next(1<<30)) + 1}
	if m.next(8) == 0 {
		it.key = m.someItem().key
	}
	if _, taken := m.rows.keys[it.id]; taken {
		return
	}
	m.put(it, unique)
}

func (m *model) put(it item, unique bool) {
	i, _ := m.find(item{it.key, 0})
	taken := i < len(m.items) && m.items[i].key == it.key
	other, err := m.add(it.key, it.id, unique)
	switch {
	case err != nil:
		require.ErrorIs(m.t, err, errRefused)
	case unique && taken:
		require.Equal(m.t, it.key, m.rows.keys[other])
	default:
		require.Zero(m.t, other)
		i, _ = m.find(it)
		m.items = slices.Insert(m.items, i, it)
	}
}

func (m *model) delete() {
	it := m.someItem()
	i, there := m.find(it)
	_, taken := m.rows.keys[it.id]
	if taken && !there {
		return // the row exists with another key
	}
	ok, err := m.drop(it.key, it.id)
	if err != nil {
		require.ErrorIs(m.t, err, errRefused)
		return
	}
	require.Equal(m.t, there, ok)
	if ok {
		m.items = slices.Delete(m.items, i, i+1)
	}
}

// deleteRun deletes a range, from either end, so that nodes become small, and
// puts some back.
func (m *model) deleteRun() {
	if len(m.items) == 0 {
		return
	}
	i := m.next(len(m.items))
	most := 3 * leafCap
	if m.next(4) == 0 {
		most = len(m.items)
	}
	run := slices.Clone(m.items[i:min(len(m.items), i+m.next(most))])
	switch m.next(3) {
	case 0:
		slices.Reverse(run)
	case 1:
		rand.New(rand.NewPCG(1, uint64(i))).Shuffle(len(run), func(i, j int) { run[i], run[j] = run[j], run[i] })
	}
	for _, it := range run {
		ok, err := m.drop(it.key, it.id)
		if err != nil {
			require.ErrorIs(m.t, err, errRefused)
			continue
		}
		require.True(m.t, ok)
		i, _ := m.find(it)
		m.items = slices.Delete(m.items, i, i+1)
		if m.next(8) == 0 {
			m.put(it, false)
		}
	}
}

func (m *model) clear() {
	if m.next(50) != 0 {
		return
	}
	if m.next(2) == 0 {
		m.Clear()
	} else {
		m.Free()
	}
	m.items = nil
	clear(m.rows.keys)
	clear(m.spots)
}

// step compares a step of the cursor c, and sets its spot.
func (m *model) step(c int, s side, ok bool, err error, i int) {
	if err != nil {
		require.ErrorIs(m.t, err, errRefused)
		return
	}
	there := i >= 0 && i < len(m.items)
	require.Equal(m.t, there, ok, "cursor %d at %+v", c, m.spots[c])
	switch {
	case there:
		require.Equal(m.t, m.items[i].id, m.cur[c].ID())
		require.True(m.t, m.cur[c].Valid())
		m.spots[c] = spot{m.items[i], true, on}
	case s == past || s == before:
		m.spots[c].side = s
	}
	if !there {
		require.False(m.t, m.cur[c].Valid())
	}
}

func (m *model) move() {
	c := m.next(len(m.cur))
	if m.next(2) == 0 {
		m.forward(c)
	} else {
		m.back(c)
	}
}

func (m *model) forward(c int) {
	s := m.spots[c]
	i := 0
	if s.placed {
		var there bool
		if i, there = m.find(s.item); there && s.side != before {
			i++
		}
	}
	ok, err := m.cur[c].Next()
	m.step(c, past, ok, err, i)
}

func (m *model) back(c int) {
	s := m.spots[c]
	i := len(m.items) - 1
	if s.placed {
		var there bool
		if i, there = m.find(s.item); !there || s.side != past {
			i--
		}
	}
	ok, err := m.cur[c].Prev()
	m.step(c, before, ok, err, i)
}

func (m *model) seek() {
	c := m.next(len(m.cur))
	key := m.someItem().key
	if m.next(3) == 0 {
		key = m.newKey()
	}
	lo, _ := m.find(item{key, 0})
	hi, _ := m.find(item{key, maxID})
	k, rows := m.rows.look([]byte(key))
	cur := m.cur[c]
	switch m.next(7) {
	case 0:
		ok, err := cur.SeekGE(k, rows)
		m.sought(c, ok, err, lo)
	case 1:
		ok, err := cur.SeekGT(k, rows)
		m.sought(c, ok, err, hi)
	case 2:
		ok, err := cur.SeekLE(k, rows)
		m.sought(c, ok, err, hi-1)
	case 3:
		ok, err := cur.SeekLT(k, rows)
		m.sought(c, ok, err, lo-1)
	case 4:
		ok, err := cur.First()
		m.sought(c, ok, err, min(0, len(m.items)-1))
	case 5:
		ok, err := cur.Last()
		m.sought(c, ok, err, len(m.items)-1)
	case 6:
		ok, err := cur.Find(k, rows)
		if err == nil {
			require.Equal(m.t, lo < hi, ok)
			ok = lo < len(m.items)
		}
		m.sought(c, ok, err, lo)
	}
}

// sought is step after a seek, which has left the old spot.
func (m *model) sought(c int, ok bool, err error, i int) {
	switch {
	case err != nil:
	case len(m.items) == 0:
		m.spots[c] = spot{}
		i = -1
	case i < 0:
		m.spots[c] = spot{m.items[0], true, before}
	case i == len(m.items):
		m.spots[c] = spot{m.items[i-1], true, past}
	}
	m.step(c, on, ok, err, i)
}

func (m *model) seekAt() {
	c := m.next(len(m.cur))
	it := m.someItem()
	i, _ := m.find(it)
	k, rows := m.rows.look([]byte(it.key))
	ok, err := m.cur[c].SeekAt(k, it.id, rows)
	m.sought(c, ok, err, i)
}

func (m *model) compare() {
	c := m.next(len(m.cur))
	if !m.cur[c].Valid() {
		return
	}
	k, rows := m.rows.look([]byte(m.someItem().key))
	order, err := m.cur[c].Compare(k, rows)
	if err != nil {
		require.ErrorIs(m.t, err, errRefused)
		return
	}
	require.Equal(m.t, strings.Compare(string(k), m.spots[c].key), order)
}

// cancel reserves, does something else or not, and publishes or not.
func (m *model) cancel() {
	k, rows := m.rows.look([]byte(m.newKey()))
	_, err := m.Reserve(k, uint64(m.next(1<<30))+1, m.next(2) == 0, rows)
	if err != nil {
		require.ErrorIs(m.t, err, errRefused)
	}
	m.Cancel()
	m.Publish(1)
}

func (m *model) reopen() {
	c := m.next(len(m.cur))
	m.cur[c].Open(m.Tree)
	m.spots[c] = spot{}
}

var operations = []struct {
	name   string
	weight int
	do     func(*model)
}{
	{"insert", 30, func(m *model) { m.insert(false) }},
	{"insert unique", 30, func(m *model) { m.insert(true) }},
	{"delete", 30, (*model).delete},
	{"delete run", 1, (*model).deleteRun},
	{"move", 40, (*model).move},
	{"seek", 20, (*model).seek},
	{"seek at", 5, (*model).seekAt},
	{"compare", 5, (*model).compare},
	{"cancel", 2, (*model).cancel},
	{"reopen", 2, (*model).reopen},
	{"clear", 1, (*model).clear},
}

// one runs one operation.
func (m *model) one() {
	total := 0
	for _, op := range operations {
		total += op.weight
	}
	n := m.next(total)
	for _, op := range operations {
		if n -= op.weight; n < 0 {
			m.hits[op.name]++
			op.do(m)
			return
		}
	}
}

// grow inserts without looking at anything else.
func (m *model) grow(n int) {
	for range n {
		m.insert(m.next(2) == 0)
	}
}

func (m *model) same() {
	m.check(m.t)
	require.Equal(m.t, len(m.items), m.Len())
	var c Cursor
	c.Open(m.Tree)
	defer c.Close()
	for _, it := range m.items {
		ok, err := c.Next()
		require.NoError(m.t, err)
		require.True(m.t, ok)
		require.Equal(m.t, it.id, c.ID())
	}
	ok, err := c.Next()
	require.False(m.t, ok)
	require.NoError(m.t, err)
}

// faults makes each call fail one time in n.
func (m *model) faults(r *rand.Rand, n int) {
	fail := func() bool { return r.IntN(n) == 0 }
	m.mem.fail, m.pg.fail, m.rows.fail = fail, fail, fail
}

func (m *model) noFaults() {
	m.mem.fail, m.pg.fail, m.rows.fail = never, never, never
}

func TestModel(t *testing.T) {
	tiers := []struct {
		name   string
		max    int // bytes of a chunk, 0: any; 1: pages only
		fail   int // one call in so many
		leaves int // to begin with
		rounds int
	}{
		{"ram", 0, 0, 60, 30},
		{"small chunks", minChunk, 0, 60, 10},
		{"faults", 0, 20, 60, 10},
		{"pages", 1, 0, 8, 3},
		{"pages and faults", 1, 300, 8, 3},
	}
	for _, tier := range tiers {
		for kind := range kinds {
			t.Run(fmt.Sprintf("%s/%d", tier.name, kind), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(kind), 7))
				m := newModel(t, r.IntN)
				m.kind, m.mem.max = kind, tier.max
				m.grow(r.IntN(tier.leaves * leafCap * effort / 10))
				for range (tier.rounds*effort + 9) / 10 {
					m.round(r, tier.fail)
				}
			})
		}
	}
}

// round runs 400 operations, with failures if wanted, and checks everything.
func (m *model) round(r *rand.Rand, fail int) {
	if fail != 0 {
		m.faults(r, fail)
	}
	for range 400 {
		m.one()
	}
	if r.IntN(4) == 0 {
		m.grow(8 * leafCap)
	}
	m.noFaults()
	m.same()
}

func FuzzOperations(f *testing.F) {
	f.Add([]byte("a few bytes to begin with"), false)
	f.Fuzz(func(t *testing.T, data []byte, paged bool) {
		m := newModel(t, digits(&data))
		if paged {
			m.mem.max = 1
		}
		m.grow(2 * leafCap)
		for len(data) > 0 {
			m.one()
		}
		m.same()
	})
}

// digits reads numbers off data, and goes on with a fixed sequence behind it.
func digits(data *[]byte) source {
	r := rand.New(rand.NewPCG(1, 1))
	return func(n int) int {
		v := 0
		for size := n - 1; size > 0; size >>= 8 {
			b := byte(r.Uint32())
			if d := *data; len(d) > 0 {
				b, *data = d[0], d[1:]
			}
			v = v<<8 | int(b)
		}
		return v % n
	}
}
