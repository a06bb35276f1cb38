package disktable

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/invariants"
	"github.com/spillway-db/spillway/internal/sys"
)

func TestFrameIsOneCacheLine(t *testing.T) {
	require.EqualValues(t, 64, reflect.TypeFor[Frame]().Size())
	require.LessOrEqual(t, reflect.TypeFor[Block]().Size(), uintptr(24))
}

// TestPageTableTakesFourToEightBytesAFrame, and a shard two cache lines.
func TestPageTableTakesFourToEightBytesAFrame(t *testing.T) {
	require.EqualValues(t, 128, reflect.TypeFor[shard]().Size())
	for frames := 2; frames < 5000; frames += 1 + frames/7 {
		n := 0
		shards := newTable(frames).shards
		for i := range shards {
			n += shards[i].size
		}
		require.LessOrEqual(t, n, frames)
		require.Greater(t, 2*n, frames-len(shards))
	}
}

func TestNewIsZeroEvenWhereThePageWasCached(t *testing.T) {
	r := newRig(t, 2, 2)
	b := r.alloc(t, 1, new(Owner))
	r.put(t, b, 0, 1)
	f, err := r.Pin(b, 0, New)
	require.NoError(t, err)
	same(t, make([]byte, PageSize), f.Bytes())
	f.Unpin()
	require.Zero(t, r.Stats().PageReads)
}

func TestNewIsWrittenEvenIfNobodyCallsDirty(t *testing.T) {
	r := newRig(t, 2, 2)
	b := r.alloc(t, 4, new(Owner))
	require.NoError(t, r.WriteBlock(b, pattern(1)))
	f, err := r.Pin(b, 0, New)
	require.NoError(t, err)
	f.Unpin()
	r.put(t, b, 1, 1)
	r.put(t, b, 2, 2)
	f, err = r.Pin(b, 0, Read)
	require.NoError(t, err)
	same(t, make([]byte, PageSize), f.Bytes())
	f.Unpin()
}

func TestFreedPagesAreNotWritten(t *testing.T) {
	r := newRig(t, 4, 4)
	for range 10 {
		b := r.alloc(t, 4, new(Owner))
		for page := range 4 {
			r.put(t, b, page, byte(page))
		}
		r.Free(b)
	}
	require.Zero(t, r.Stats().PageWrites)
	require.Zero(t, r.Stats().PageReads)
	require.Zero(t, r.Stats().Dirty)
}

func TestBytesCannotGrowBeyondThePage(t *testing.T) {
	r := newRig(t, 2, 2)
	f, err := r.Pin(r.alloc(t, 1, new(Owner)), 0, New)
	require.NoError(t, err)
	require.Equal(t, PageSize, len(f.Bytes()))
	require.Equal(t, PageSize, cap(f.Bytes()))
	f.Unpin()
}

func TestCacheStaysWithinItsMemory(t *testing.T) {
	r := newRig(t, 2, 8)
	b := r.alloc(t, 64, new(Owner))
	for page := range 64 {
		r.put(t, b, page, byte(page))
	}
	require.Equal(t, 8, r.mem.peak)
	require.Equal(t, 8, r.Stats().FramesPeak)

	require.Equal(t, 6, r.Shrink(100), "down to the minimum")
	require.Equal(t, 2, r.mem.count())
	require.Equal(t, 2, r.Stats().Frames)
	r.mem.limit = 3
	for page := range 64 {
		r.is(t, b, page, byte(page))
	}
	require.Equal(t, 3, r.mem.count())
	r.check(t)
}

func TestShrinkPassesOverPinnedFrames(t *testing.T) {
	r := newRig(t, 2, 8)
	b := r.alloc(t, 8, new(Owner))
	var held []*Frame
	for page := range 8 {
		f, err := r.Pin(b, page, New)
		require.NoError(t, err)
		held = append(held, f)
	}
	require.Zero(t, r.Shrink(8))
	held[3].Unpin()
	held[4].Unpin()
	require.Equal(t, 2, r.Shrink(8))
	for _, f := range []*Frame{held[0], held[1], held[2], held[5], held[6], held[7]} {
		f.Unpin()
	}
	require.False(t, held[3].Repin(b, 3), "its memory is gone")
	r.check(t)
}

// TestMemoryMayShrinkTheCache calls Shrink from inside Memory.Frame.
func TestMemoryMayShrinkTheCache(t *testing.T) {
	m := &shrinking{memory: newMemory(4)}
	s, err := Open(Options{Dirs: []string{t.TempDir()}, FS: sys.Heap(), Memory: m, MinFrames: 2, MaxFrames: 8})
	require.NoError(t, err)
	m.store = s
	r := &rig{Store: s, mem: m.memory, live: map[Block]bool{}}
	b := r.alloc(t, 32, new(Owner))
	for page := range 32 {
		r.put(t, b, page, byte(page))
	}
	for page := range 32 {
		r.is(t, b, page, byte(page))
	}
	require.Positive(t, m.given)
	r.Free(b)
	r.check(t)
	require.NoError(t, s.Close())
	require.Zero(t, m.count())
}

type shrinking struct {
	*memory
	store *Store
	given int
}

func (m *shrinking) Frame() []byte {
	mem := m.memory.Frame()
	if mem == nil {
		m.given += m.store.Shrink(1)
	}
	return mem
}

// TestUsedPagesOutliveAScan: a page that is used again and again stays while
// others are read once.
func TestUsedPagesOutliveAScan(t *testing.T) {
	r := newRig(t, 8, 8)
	b := r.alloc(t, 512, new(Owner))
	require.NoError(t, r.WriteBlock(b, make([]byte, b.Size())))
	hot := func() *Frame {
		f, err := r.Pin(b, 0, Read)
		require.NoError(t, err)
		f.Unpin()
		return f
	}
	f := hot()
	before := r.Stats().PageReads
	for page := 1; page < 512; page++ {
		g, err := r.Pin(b, page, Read)
		require.NoError(t, err)
		g.Unpin()
		require.Same(t, f, hot())
	}
	require.EqualValues(t, 511, r.Stats().PageReads-before)
}

func TestScanDoesNotDisturbTheCache(t *testing.T) {
	r := newRig(t, 4, 4)
	b := r.alloc(t, 512, new(Owner))
	require.NoError(t, r.WriteBlock(b, make([]byte, b.Size())))
	for page := range 4 {
		r.put(t, b, 100*page, byte(page))
	}
	all := make([]byte, b.Size())
	before := r.fs.Calls()
	require.NoError(t, r.ReadAt(b, 0, all))
	calls := r.fs.Calls().Sub(before)
	require.EqualValues(t, 4, calls[sys.OpRead], "one for each gap between cached pages")
	require.Zero(t, calls[sys.OpWrite])
	for page := range 4 {
		same(t, pattern(byte(page)), all[100*page*PageSize:][:PageSize])
	}
	for i := range uint32(4) {
		require.Zero(t, r.Store.frames.at(i).state.Load()&used)
	}
	misses := r.Stats().Misses
	for page := range 4 {
		r.is(t, b, 100*page, byte(page))
	}
	require.Equal(t, misses, r.Stats().Misses)
}

// TestNeighboursAreWrittenTogether: the first victim takes the seven pages
// beside it along.
func TestNeighboursAreWrittenTogether(t *testing.T) {
	r := newRig(t, 2, 16)
	b, other := r.alloc(t, 16, new(Owner)), r.alloc(t, 16, new(Owner))
	for page := range 16 {
		r.put(t, b, page, byte(page))
	}
	r.put(t, other, 0, 99)
	require.EqualValues(t, 8, r.Stats().PageWrites)
	require.Equal(t, 9, r.Stats().Dirty)
	for page := 1; page < 16; page++ {
		r.put(t, other, page, 99)
	}
	require.EqualValues(t, 16, r.Stats().PageWrites)
	for page := range 16 {
		r.is(t, b, page, byte(page))
	}
}

// TestMissingPageIsReadOnce lets eight ask for a page while it is being read.
func TestMissingPageIsReadOnce(t *testing.T) {
	fs := &gateFS{FS: sys.Heap()}
	r := rigOver(t, fs, 16)
	b := r.alloc(t, 1, new(Owner))
	require.NoError(t, r.WriteBlock(b, pattern(3)))
	gate := make(chan struct{})
	fs.gate.Store(&gate)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			f, err := r.Pin(b, 0, Read)
			if err != nil {
				t.Error(err)
				return
			}
			if f.Bytes()[7] != pattern(3)[7] {
				t.Error("the page was not there yet")
			}
			f.Unpin()
		})
	}
	sh := r.table.of(b.key(0))
	until(func() bool { sh.mu.Lock(); defer sh.mu.Unlock(); return sh.waiting == 7 })
	close(gate)
	wg.Wait()
	require.EqualValues(t, 1, fs.reads.Load())
	r.check(t)
}

// TestPinWaitsForAFrame pins all frames and asks for more.
func TestPinWaitsForAFrame(t *testing.T) {
	r := newRig(t, 2, 2)
	b := r.alloc(t, 16, new(Owner))
	for page := range 16 {
		r.put(t, b, page, byte(page))
	}
	f0, err := r.Pin(b, 0, Read)
	require.NoError(t, err)
	f1, err := r.Pin(b, 1, Read)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for page := 2; page < 8; page++ {
		wg.Go(func() { r.is(t, b, page, byte(page)) })
	}
	until(func() bool { return r.Store.frames.waiting.Load() == 6 })
	f0.Unpin()
	f1.Unpin()
	wg.Wait()
	r.check(t)
}

// TestFreeWaitsForTheWriteOfAPage: the space must not be used again while a
// page that lay there is still on its way out.
func TestFreeWaitsForTheWriteOfAPage(t *testing.T) {
	fs := &gateFS{FS: sys.Heap()}
	r := rigOver(t, fs, 2)
	o := new(Owner)
	b, other := r.alloc(t, 1, o), r.alloc(t, 2, new(Owner))
	r.put(t, b, 0, 1)
	gate := make(chan struct{})
	fs.gate.Store(&gate)
	var wg sync.WaitGroup
	wg.Go(func() { r.put(t, other, 0, 2); r.put(t, other, 1, 3) })
	until(func() bool { return fs.waiting.Load() == 1 })
	wg.Go(func() { r.Free(b) })
	sh := r.table.of(b.key(0))
	until(func() bool { sh.mu.Lock(); defer sh.mu.Unlock(); return sh.waiting == 1 })
	close(gate)
	wg.Wait()
	r.check(t)
}

// TestPagesWrittenAlongCanBeClaimedAtOnce: who waits for a frame gets that of a
// page that was written beside another, before anything is unpinned.
func TestPagesWrittenAlongCanBeClaimedAtOnce(t *testing.T) {
	fs := &gateFS{FS: sys.Heap()}
	r := rigOver(t, fs, 2)
	b := r.alloc(t, 2, new(Owner))
	r.put(t, b, 0, 0)
	r.put(t, b, 1, 1)
	other := r.alloc(t, 1, new(Owner))
	third := r.alloc(t, 1, new(Owner))
	gate := make(chan struct{})
	fs.gate.Store(&gate)
	held := make(chan *Frame)
	go func() {
		f, err := r.Pin(other, 0, New)
		if err != nil {
			t.Error(err)
		}
		held <- f
	}()
	until(func() bool { return fs.waiting.Load() == 1 })
	var wg sync.WaitGroup
	wg.Go(func() { r.put(t, third, 0, 3) })
	until(func() bool { return r.Store.frames.waiting.Load() == 1 })
	close(gate)
	wg.Wait()
	(<-held).Unpin()
	r.check(t)
}

// TestScanNoticesThatTheOwnerFailedMeanwhile: what it read may have been older
// than what was lost.
func TestScanNoticesThatTheOwnerFailedMeanwhile(t *testing.T) {
	fs := &gateFS{FS: sys.Heap()}
	r := rigOver(t, fs, 2)
	o := new(Owner)
	b := r.alloc(t, 1, o)
	require.NoError(t, r.WriteBlock(b, pattern(0)))
	gate := make(chan struct{})
	fs.gate.Store(&gate)
	result := make(chan error)
	go func() { result <- r.ReadAt(b, 0, make([]byte, PageSize)) }()
	until(func() bool { return fs.waiting.Load() == 1 })
	o.fail(&IOError{Op: "write", Err: syscall.EIO})
	close(gate)
	require.ErrorIs(t, <-result, ErrIO)
}

func TestStripKeepsTheMinimum(t *testing.T) {
	r := newRig(t, 2, 4)
	f := r.Store.frames.take()
	require.NotNil(t, f)
	require.False(t, r.Store.frames.strip(f))
	r.check(t)
}

func TestNothingIsAllocatedInTheSteadyState(t *testing.T) {
	if raceEnabled || invariants.Enabled {
		t.Skip("the race detector and the checks allocate")
	}
	r := newRig(t, 8, 8)
	b := r.alloc(t, 64, new(Owner))
	mem := make([]byte, 64*PageSize)
	page := 0
	pin := func(how How) {
		f, err := r.Pin(b, page%64, how)
		if err != nil {
			t.Error(err)
			return
		}
		f.Dirty()
		f.Unpin()
		page++
	}
	require.Zero(t, testing.AllocsPerRun(500, func() { pin(New) }))
	require.Zero(t, testing.AllocsPerRun(500, func() { pin(Read) }))
	require.Zero(t, testing.AllocsPerRun(50, func() { _ = r.ReadAt(b, 0, mem) }))
	require.Zero(t, testing.AllocsPerRun(50, func() { _ = r.WriteBlock(b, mem) }))
	require.Zero(t, testing.AllocsPerRun(50, func() { r.Shrink(3); pin(Read); pin(Read); pin(Read) }))
}

// until yields until a condition holds.
func until(ok func() bool) {
	for !ok() {
		runtime.Gosched()
	}
}

// gateFS counts the transfers of its files, writes several buffers at once,
// and holds transfers at a gate while there is one.
type gateFS struct {
	sys.FS
	gate                   atomic.Pointer[chan struct{}]
	reads, writes, waiting atomic.Int64
	last                   sys.File // that was opened
}

func (g *gateFS) OpenTemp(dir string) (sys.File, error) {
	f, err := g.FS.OpenTemp(dir)
	g.last = f
	return &gateFile{f, g}, err
}

func (g *gateFS) pass() {
	if gate := g.gate.Load(); gate != nil {
		g.waiting.Add(1)
		<-*gate
	}
}

type gateFile struct {
	sys.File
	g *gateFS
}

func (f *gateFile) ReadAt(p []byte, off int64) (int, error) {
	f.g.pass()
	f.g.reads.Add(1)
	return f.File.ReadAt(p, off)
}

func (f *gateFile) WriteAt(p []byte, off int64) (int, error) {
	f.g.pass()
	f.g.writes.Add(1)
	return f.File.WriteAt(p, off)
}

func (f *gateFile) WritevAt(bufs [][]byte, off int64) (int, error) {
	f.g.pass()
	f.g.writes.Add(1)
	return f.File.WritevAt(bufs, off)
}

// rigOver opens a store of n frames on fs itself.
func rigOver(t *testing.T, fs sys.FS, n int) *rig {
	r := &rig{fs: sys.NewFaulty(fs), mem: newMemory(n), live: map[Block]bool{}}
	return r.open(t, r.fs, 2)
}
