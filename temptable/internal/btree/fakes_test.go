package btree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

var errRefused = errors.New("refused")

// fakeMem counts what is out and refuses on demand.
type fakeMem struct {
	out   map[*byte]int
	calls int
	max   int // the largest chunk granted; 0: any
	fail  func() bool
}

func newMem() *fakeMem { return &fakeMem{out: map[*byte]int{}, fail: never} }

func never() bool { return false }

func (m *fakeMem) AllocIndex(n int) ([]byte, error) {
	m.calls++
	if m.max != 0 && n > m.max || m.fail() {
		return nil, errRefused
	}
	mem := make([]byte, n)
	m.out[&mem[0]] = n
	return mem, nil
}

func (m *fakeMem) FreeIndex(mem []byte) {
	if m.out[&mem[0]] != len(mem) {
		panic("freed what was not allocated")
	}
	delete(m.out, &mem[0])
}

// fakePager keeps pages in a store, hands out copies, and forgets what was not
// said to be dirty. A copy is overwritten when its last pin goes.
type fakePager struct {
	store  map[uint32][]byte
	pinned map[uint32]*fakePin
	spare  [][]byte
	last   uint32
	most   int // pages that were pinned at once
	fail   func() bool
}

var poisoned = bytes.Repeat([]byte{0xcc}, PageSize)

type fakePin struct {
	mem   []byte
	pins  int
	dirty bool
}

func newPager() *fakePager {
	return &fakePager{store: map[uint32][]byte{}, pinned: map[uint32]*fakePin{}, fail: never}
}

func (p *fakePager) AllocPage() (uint32, error) {
	if p.fail() {
		return 0, errRefused
	}
	p.last++
	p.store[p.last] = bytes.Repeat([]byte{1}, PageSize)
	return p.last, nil
}

func (p *fakePager) FreePage(no uint32) {
	if p.store[no] == nil || p.pinned[no] != nil {
		panic("freed a page that is not there, or pinned")
	}
	delete(p.store, no)
}

func (p *fakePager) Pin(no uint32) ([]byte, error) {
	if p.fail() {
		return nil, errRefused
	}
	f := p.pinned[no]
	if f == nil {
		f = &fakePin{mem: p.frame()}
		copy(f.mem, p.store[no])
		p.pinned[no] = f
		p.most = max(p.most, len(p.pinned))
	}
	f.pins++
	return f.mem, nil
}

func (p *fakePager) Unpin(no uint32, dirty bool) {
	f := p.pinned[no]
	f.dirty = f.dirty || dirty
	if f.pins--; f.pins > 0 {
		return
	}
	if f.dirty {
		copy(p.store[no], f.mem)
	}
	copy(f.mem, poisoned)
	p.spare = append(p.spare, f.mem)
	delete(p.pinned, no)
}

// frame returns one of a few, not the one that was let go of last.
func (p *fakePager) frame() []byte {
	if len(p.spare) < 4 {
		return make([]byte, PageSize)
	}
	mem := p.spare[0]
	p.spare = p.spare[1:]
	return mem
}

// table is the owner of rows.
type table struct {
	keys  map[uint64]string
	want  []byte // the key being looked for
	reads int
	fail  func() bool
}

func newTable() *table { return &table{keys: map[uint64]string{}, fail: never} }

func (r *table) CompareRow(id uint64) (int, error) {
	r.reads++
	if r.fail() {
		return 0, errRefused
	}
	key, ok := r.keys[id]
	if !ok {
		return 0, fmt.Errorf("row %d is not there", id)
	}
	return bytes.Compare(r.want, []byte(key)), nil
}

func (r *table) key(id uint64) ([]byte, error) {
	key, ok := r.keys[id]
	if !ok {
		return nil, fmt.Errorf("row %d is not there", id)
	}
	return []byte(key), nil
}

func (r *table) look(key []byte) ([]byte, *table) {
	r.want = key
	return key, r
}

// rig is a tree with all its surroundings.
type rig struct {
	*Tree
	mem  *fakeMem
	pg   *fakePager
	rows *table
}

func newRig(t testing.TB) *rig {
	r := &rig{mem: newMem(), pg: newPager(), rows: newTable()}
	r.Tree = New(r.mem, r.pg)
	t.Cleanup(func() {
		r.mem.fail, r.pg.fail, r.rows.fail = never, never, never
		r.check(t)
		r.Free()
		r.check(t)
		require.Empty(t, r.mem.out)
		require.Empty(t, r.pg.store)
		require.Zero(t, r.Stats().Bytes+r.Stats().Paged)
	})
	return r
}

func (r *rig) check(t testing.TB) {
	t.Helper()
	require.NoError(t, r.Check(r.rows.key))
	require.Empty(t, r.pg.pinned)
}

// add inserts and tells the rows.
func (r *rig) add(key string, id uint64, unique bool) (uint64, error) {
	k, rows := r.rows.look([]byte(key))
	other, err := r.Insert(k, id, unique, rows)
	if err == nil && other == 0 {
		r.rows.keys[id] = key
	}
	return other, err
}

// drop deletes and tells the rows.
func (r *rig) drop(key string, id uint64) (bool, error) {
	k, rows := r.rows.look([]byte(key))
	ok, err := r.Delete(k, id, rows)
	if ok {
		delete(r.rows.keys, id)
	}
	return ok, err
}

// stub is a table of 56-byte rows that begin with 24 bytes of key, of which the
// first 16 are the same in all rows.
type stub struct {
	data []byte
	want []byte
}

const (
	stubRow = 56
	stubKey = 24
)

func newStub(keys []uint64) *stub {
	s := &stub{data: make([]byte, len(keys)*stubRow), want: make([]byte, stubKey)}
	for i, k := range keys {
		binary.BigEndian.PutUint64(s.key(uint64(i) + 1)[16:], k)
	}
	return s
}

func (s *stub) key(id uint64) []byte {
	i := int(id-1) * stubRow
	return s.data[i : i+stubKey]
}

func (s *stub) CompareRow(id uint64) (int, error) { return bytes.Compare(s.want, s.key(id)), nil }

func randomKeys(n int) []uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	return keys
}
