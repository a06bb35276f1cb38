package disktable

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

// memory is a Memory that counts, refuses above its limit, and is checked for
// leaks.
type memory struct {
	mu    sync.Mutex
	limit int
	live  map[*byte]bool
	peak  int
}

func newMemory(limit int) *memory { return &memory{limit: limit, live: map[*byte]bool{}} }

func (m *memory) Frame() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.live) >= m.limit {
		return nil
	}
	mem := make([]byte, PageSize)
	copy(mem, "what a frame holds at first must not matter")
	m.live[&mem[0]] = true
	m.peak = max(m.peak, len(m.live))
	return mem
}

func (m *memory) FreeFrame(mem []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(mem) != PageSize || !m.live[&mem[0]] {
		panic("not a frame of this memory")
	}
	delete(m.live, &mem[0])
}

func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.live)
}

// rig is a store on a file system that can be made to fail.
type rig struct {
	*Store
	fs  *sys.Faulty
	mem *memory

	mu   sync.Mutex
	live map[Block]bool // not freed yet
}

func (r *rig) Alloc(size int, o *Owner) (Block, error) {
	b, err := r.Store.Alloc(size, o)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.live[b] = true
	}
	return b, err
}

func (r *rig) Free(b Block) {
	r.Store.Free(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, b)
}

// newRig opens a store with so many frames; at the end of the test it is
// closed, and must leave nothing behind.
func newRig(t testing.TB, minimum, maximum int) *rig {
	t.Helper()
	return rigOn(t, sys.Heap(), minimum, maximum)
}

// rigOn is newRig on a given file system.
func rigOn(t testing.TB, fs sys.FS, minimum, maximum int) *rig {
	t.Helper()
	r := &rig{fs: sys.NewFaulty(fs), mem: newMemory(maximum), live: map[Block]bool{}}
	if b, ok := t.(*testing.B); ok {
		return r.open(b, fs, minimum)
	}
	return r.open(t, r.fs, minimum)
}

func (r *rig) open(t testing.TB, fs sys.FS, minimum int) *rig {
	t.Helper()
	s, err := Open(Options{Dirs: []string{t.TempDir()}, FS: fs, Memory: r.mem, MinFrames: minimum, MaxFrames: r.mem.limit})
	require.NoError(t, err)
	r.Store = s
	t.Cleanup(func() { r.shut(t) })
	return r
}

func (r *rig) shut(t testing.TB) {
	r.fs.Heal()
	if !r.closed.Load() {
		require.NoError(t, r.Close())
	}
	require.Zero(t, r.mem.count(), "frames that were not given back")
	for b := range r.live {
		r.Free(b)
	}
	files, mappings := r.fs.Live()
	require.Zero(t, files, "open files")
	require.Zero(t, mappings, "mappings")
}

func (r *rig) alloc(t testing.TB, pages int, o *Owner) Block {
	t.Helper()
	b, err := r.Alloc(pages*PageSize, o)
	require.NoError(t, err)
	require.Equal(t, pages*PageSize, b.Size())
	return b
}

// put writes a pattern to a page that is new.
func (r *rig) put(t testing.TB, b Block, page int, seed byte) {
	t.Helper()
	f, err := r.Pin(b, page, New)
	require.NoError(t, err)
	copy(f.Bytes(), pattern(seed))
	f.Dirty()
	f.Unpin()
}

// is checks that a page holds a pattern.
func (r *rig) is(t testing.TB, b Block, page int, seed byte) {
	t.Helper()
	f, err := r.Pin(b, page, Read)
	require.NoError(t, err)
	defer f.Unpin()
	same(t, pattern(seed), f.Bytes())
}

// same is require.Equal without printing two pages.
func same(t testing.TB, want, got []byte) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	require.Len(t, got, len(want))
	for i := range want {
		if want[i] != got[i] {
			require.Failf(t, "wrong byte", "at %d of %d: want %#x, got %#x", i, len(want), want[i], got[i])
		}
	}
}

// pattern is a page of bytes that only this seed gives. It is not to be
// changed.
func pattern(seed byte) []byte {
	if p, ok := patterns.Load(seed); ok {
		return p.([]byte)
	}
	p, _ := patterns.LoadOrStore(seed, noise(rand.New(rand.NewPCG(uint64(seed), 7)), PageSize))
	return p.([]byte)
}

var patterns sync.Map

func noise(r *rand.Rand, n int) []byte {
	p := make([]byte, n, n+8)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(p[i:i+8:cap(p)], r.Uint64())
	}
	return p
}
