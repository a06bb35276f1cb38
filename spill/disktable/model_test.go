package disktable

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

// model is what a store should hold: for each block its pages, nil where the
// contents are unspecified.
type model struct {
	*rig
	t      testing.TB
	rand   *rand.Rand
	owner  *Owner
	blocks []*modelBlock
	frames []*Frame // remembered from earlier pins
	count  map[string]int
}

type modelBlock struct {
	Block
	pages [][]byte
}

func newModel(t testing.TB, r *rig, seed uint64) *model {
	return &model{rig: r, t: t, rand: rand.New(rand.NewPCG(seed, 1)), owner: new(Owner), count: map[string]int{}}
}

func (m *model) step() {
	switch p := m.rand.IntN(100); {
	case len(m.blocks) == 0 || p < 4 && len(m.blocks) < 12:
		m.alloc()
	case p < 7:
		m.free()
	case p < 25:
		m.create()
	case p < 60:
		m.read()
	case p < 80:
		m.scan()
	case p < 84:
		m.write()
	case p < 86:
		m.Shrink(m.rand.IntN(4))
	case p < 87:
		require.NoError(m.t, m.Trim(0))
	default:
		m.repin()
	}
}

func (m *model) any() *modelBlock { return m.blocks[m.rand.IntN(len(m.blocks))] }

func (m *model) alloc() {
	n := 1 << m.rand.IntN(5)
	m.blocks = append(m.blocks, &modelBlock{m.rig.alloc(m.t, n, m.owner), make([][]byte, n)})
}

func (m *model) free() {
	i := m.rand.IntN(len(m.blocks))
	m.Free(m.blocks[i].Block)
	m.blocks = append(m.blocks[:i], m.blocks[i+1:]...)
}

// change writes to a pinned page, in the store and in the model.
func (m *model) change(f *Frame, page []byte) {
	at := m.rand.IntN(PageSize)
	p := noise(m.rand, 1+m.rand.IntN(PageSize-at))
	f.Dirty()
	copy(f.Bytes()[at:], p)
	copy(page[at:], p)
}

func (m *model) create() {
	b := m.any()
	page := m.rand.IntN(len(b.pages))
	f, err := m.Pin(b.Block, page, New)
	require.NoError(m.t, err)
	defer f.Unpin()
	b.pages[page] = make([]byte, PageSize)
	same(m.t, b.pages[page], f.Bytes())
	m.change(f, b.pages[page])
	m.remember(f)
}

func (m *model) remember(f *Frame) {
	if m.frames = append(m.frames, f); len(m.frames) > 16 {
		m.frames = m.frames[1:]
	}
}

func (m *model) read() {
	b := m.any()
	page := m.rand.IntN(len(b.pages))
	f, err := m.Pin(b.Block, page, Read)
	require.NoError(m.t, err)
	require.True(m.t, f.Holds(b.Block, page))
	m.touch(f, b.pages[page])
	m.remember(f)
}

// touch checks a pinned page, changes it sometimes, and unpins it.
func (m *model) touch(f *Frame, want []byte) {
	defer f.Unpin() // at a failure, too: others may wait for the frame
	if want != nil {
		same(m.t, want, f.Bytes())
		if m.rand.IntN(3) == 0 {
			m.change(f, want)
		}
	}
}

func (m *model) repin() {
	if len(m.frames) == 0 {
		return
	}
	f := m.frames[m.rand.IntN(len(m.frames))]
	for _, b := range m.blocks {
		for page, want := range b.pages {
			if f.Repin(b.Block, page) {
				m.count["repin"]++
				m.touch(f, want)
				return
			}
		}
	}
}

func (m *model) scan() {
	b := m.any()
	off := m.rand.IntN(b.Size())
	dst := make([]byte, m.rand.IntN(b.Size()-off+1))
	require.NoError(m.t, m.ReadAt(b.Block, off, dst))
	for len(dst) > 0 {
		in := off % PageSize
		n := min(len(dst), PageSize-in)
		if want := b.pages[off/PageSize]; want != nil {
			same(m.t, want[in:in+n], dst[:n])
		}
		off, dst = off+n, dst[n:]
	}
}

func (m *model) write() {
	b := m.any()
	mem := noise(m.rand, m.rand.IntN(b.Size()+1))
	require.NoError(m.t, m.WriteBlock(b.Block, mem))
	for i := range b.pages {
		b.pages[i] = nil
		if len(mem) >= (i+1)*PageSize {
			b.pages[i] = append([]byte(nil), mem[i*PageSize:(i+1)*PageSize]...)
		}
	}
}

// checkAll reads everything once more.
func (m *model) checkAll() {
	for _, b := range m.blocks {
		for page, want := range b.pages {
			if want != nil {
				got := make([]byte, PageSize)
				require.NoError(m.t, m.ReadAt(b.Block, page*PageSize, got))
				same(m.t, want, got)
			}
		}
	}
}

// steps is fewer under the race detector.
func steps(n int) int {
	if raceEnabled {
		return n / 4
	}
	return n
}

func TestModel(t *testing.T) {
	for frames := 2; frames <= 8; frames++ {
		t.Run(fmt.Sprintf("frames=%d", frames), func(t *testing.T) {
			m := newModel(t, newRig(t, 2, frames), uint64(frames))
			for range steps(2500) {
				m.step()
				if m.rand.IntN(20) == 0 {
					m.check(t)
				}
			}
			m.checkAll()
			require.NotZero(t, m.count["repin"])
			st := m.Stats()
			require.NotZero(t, st.Hits)
			require.NotZero(t, st.PageReads)
			require.NotZero(t, st.PageWrites)
		})
	}
}

// TestModelOnTheRealThing uses the files of the operating system (those of the
// heap under the race detector).
func TestModelOnTheRealThing(t *testing.T) {
	m := newModel(t, rigOn(t, sys.Default(), 2, 6), 99)
	for range steps(2500) {
		m.step()
	}
	m.checkAll()
	m.check(t)
}

// TestModelConcurrent lets goroutines work on blocks of their own, in one
// small cache.
func TestModelConcurrent(t *testing.T) {
	for _, frames := range []int{2, 5, 40} {
		t.Run(fmt.Sprintf("frames=%d", frames), func(t *testing.T) {
			r := newRig(t, 2, frames)
			t.Run("all", func(t *testing.T) {
				for g := range 6 {
					t.Run(fmt.Sprint(g), func(t *testing.T) {
						t.Parallel()
						m := newModel(t, r, uint64(g))
						for range steps(1000) {
							m.step()
						}
						m.checkAll()
						for len(m.blocks) > 0 {
							m.free()
						}
					})
				}
			})
			r.check(t)
			require.Zero(t, r.Stats().Dirty)
		})
	}
}

// TestManyReadersOfOneBlock lets goroutines pin, repin and scan the same pages
// in a cache that holds few of them.
func TestManyReadersOfOneBlock(t *testing.T) {
	for _, frames := range []int{2, 3, 20} {
		r := newRig(t, 2, frames)
		b := r.alloc(t, 32, new(Owner))
		for page := range 32 {
			r.put(t, b, page, byte(page))
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() { r.readAtRandom(t, b, uint64(g)) })
		}
		wg.Wait()
		r.check(t)
	}
}

func (r *rig) readAtRandom(t *testing.T, b Block, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	var last *Frame
	dst := make([]byte, 3*PageSize)
	for range steps(1000) {
		page := rnd.IntN(30)
		if rnd.IntN(4) == 0 {
			if err := r.ReadAt(b, page*PageSize, dst); err != nil || !bytes.Equal(dst[2*PageSize:], pattern(byte(page+2))) {
				t.Errorf("scan of page %d: %v", page, err)
			}
			continue
		}
		if last == nil || !last.Repin(b, page) {
			f, err := r.Pin(b, page, Read)
			if err != nil {
				t.Error(err)
				return
			}
			last = f
		}
		if !bytes.Equal(last.Bytes(), pattern(byte(page))) {
			t.Errorf("page %d is wrong", page)
		}
		last.Unpin()
	}
}

// check looks at the whole structure of a store that nobody uses.
func (r *rig) check(t testing.TB) {
	t.Helper()
	inTable := map[*Frame]bool{}
	for i := range r.table.shards {
		sh := &r.table.shards[i]
		require.Zero(t, sh.waiting)
		for _, f := range sh.buckets {
			for ; f != nil; f = f.next {
				w := f.state.Load()
				require.NotZero(t, keyOf(w))
				require.Zero(t, w&(pins|busy))
				require.Same(t, sh, r.table.of(keyOf(w)))
				require.NotNil(t, f.data)
				require.False(t, inTable[f])
				inTable[f] = true
			}
		}
	}
	p := &r.Store.frames
	empty := listed(t, p.empty, true)
	require.Equal(t, empty, int(p.empties.Load()))
	bare := listed(t, p.bare, false)
	require.Equal(t, int(p.made.Load()), len(inTable)+empty+bare)
	backed := int(p.backed.Load())
	require.Equal(t, backed, len(inTable)+empty)
	require.Equal(t, backed, r.mem.count())
	require.LessOrEqual(t, backed, int(p.max))
	require.GreaterOrEqual(t, backed, int(p.min))
	require.Zero(t, p.waiting.Load())
}

func listed(t testing.TB, f *Frame, memory bool) (n int) {
	for ; f != nil; f = f.next {
		require.Equal(t, uint64(busy), f.state.Load())
		require.Equal(t, memory, f.data != nil)
		n++
	}
	return n
}
