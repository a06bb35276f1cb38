package spill

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// clock fires when told to.
type clock struct {
	mu  sync.Mutex
	due []func()
}

func (c *clock) after(_ time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due = append(c.due, f)
	i := len(c.due) - 1
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.due[i] = nil
		return true
	}
}

// fire lets the time pass. It says how many timers there were.
func (c *clock) fire() (n int) {
	c.mu.Lock()
	due := c.due
	c.due = nil
	c.mu.Unlock()
	for _, f := range due {
		if f != nil {
			f()
			n++
		}
	}
	return n
}

// open makes a pool over a Faulty of the build's default system, with a clock
// that stands still, and checks at the end that nothing was left.
func open(t *testing.T, o Options) (*Pool, *sys.Faulty, *clock) {
	before := runtime.NumGoroutine()
	fs, c := sys.NewFaulty(sys.Default()), &clock{}
	o.FS, o.After = fs, c.after
	if o.Dirs == nil {
		o.Dirs = []string{t.TempDir()}
	}
	p, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		fs.Heal()
		require.NoError(t, p.Close())
		files, mappings := fs.Live()
		require.Zero(t, files)
		require.Zero(t, mappings)
		st := p.Stats()
		require.Equal(t, [5]int64{}, [5]int64{st.Used, st.Idle, st.Held, st.Cold, int64(st.Files)})
		require.Equal(t, st.FilesCreated, st.FilesRemoved)
		require.Equal(t, st.Hot+st.Waited, st.Released)
		eventually(t, func() bool { return runtime.NumGoroutine() <= before })
	})
	return p, fs, c
}

func acquire(t *testing.T, p *Pool, n int) Extent {
	e, err := p.Acquire(n)
	require.NoError(t, err)
	require.Len(t, e.Bytes(), n)
	require.Equal(t, n, cap(e.Bytes()))
	return e
}

// settled waits until the worker has nothing to do.
func settled(t *testing.T, p *Pool, cond func(Stats) bool) {
	eventually(t, func() bool { return cond(p.Stats()) })
}

// eventually polls on this goroutine, so that goroutines can be counted.
func eventually(t *testing.T, cond func() bool) {
	for end := time.Now().Add(20 * time.Second); !cond(); time.Sleep(100 * time.Microsecond) {
		require.True(t, time.Now().Before(end), "this never came")
	}
}

func TestOpenDoesNothing(t *testing.T) {
	p, fs, _ := open(t, Options{})
	require.Zero(t, fs.Calls().Total())
	require.False(t, p.work.started.Load())
	require.EqualValues(t, DefaultLimit, p.Stats().Limit)
	require.False(t, p.Owns(1))
	require.False(t, p.Faulted(1))
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	_, err := Open(Options{Limit: -2, Reserve: -1, FileSize: 100, Dirs: []string{""}})
	for _, part := range []string{"limit", "reserve", "file size", "directory"} {
		require.ErrorContains(t, err, part)
	}
	p, err := Open(Options{FS: sys.Heap()})
	require.NoError(t, err)
	require.NoError(t, p.Close())
}

func TestAnExtentIsReusedWithoutACall(t *testing.T) {
	p, fs, _ := open(t, Options{})
	require.NoError(t, p.Prewarm(context.Background(), 4*mib))
	p.Release(acquire(t, p, 64*kib))
	calls := fs.Calls()
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		e, err := p.Acquire(64 * kib)
		if err != nil {
			panic(err)
		}
		p.Release(e)
	}))
	require.Equal(t, calls, fs.Calls())
	require.Zero(t, p.Stats().Waited)
}

func TestAfterPrewarmAcquireMakesNoCall(t *testing.T) {
	p, fs, _ := open(t, Options{Limit: 32 * mib})
	require.NoError(t, p.Prewarm(context.Background(), 8*mib))
	calls := fs.Calls()
	var held []Extent
	for range 7 {
		held = append(held, acquire(t, p, mib))
	}
	require.Equal(t, calls, fs.Calls())
	held = append(held, acquire(t, p, mib))
	require.Zero(t, p.Stats().Waited)
	for _, e := range held {
		p.Release(e)
	}
	require.NoError(t, p.Trim())
	settled(t, p, func(Stats) bool { return p.work.want.Load() == 0 })
}

func TestPrewarmStops(t *testing.T) {
	p, fs, _ := open(t, Options{Limit: 2 * mib})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, p.Prewarm(ctx, mib), context.Canceled)
	require.ErrorIs(t, p.Prewarm(context.Background(), 3*mib), ErrLimit)
	require.EqualValues(t, 2*mib, p.Stats().Idle, "what was made ready stays")
	require.Zero(t, p.Stats().Cold)
	require.NoError(t, p.Trim())
	fs.FailAll(sys.OpAllocate, syscall.ENOSPC)
	err := p.Prewarm(context.Background(), mib)
	require.ErrorIs(t, err, ErrNoSpace)
	require.ErrorIs(t, err, syscall.ENOSPC)
	var e *Error
	require.ErrorAs(t, err, &e)
}

func TestStartMakesTheFirstExtentReady(t *testing.T) {
	p, _, _ := open(t, Options{})
	p.Start()
	p.Start()
	settled(t, p, func(s Stats) bool { return s.Idle == mib && s.Cold == 0 })
	e := acquire(t, p, mib)
	require.EqualValues(t, 1, p.Stats().Hot)
	p.Release(e)
}

func TestTheWorkerKeepsTheNextExtentReady(t *testing.T) {
	p, _, _ := open(t, Options{})
	var held []Extent
	for i := range 6 {
		held = append(held, acquire(t, p, mib))
		settled(t, p, func(Stats) bool { return p.space.Ready(mib) })
		require.EqualValues(t, 1, p.Stats().Waited, i)
	}
	for _, e := range held {
		p.Release(e)
	}
}

func TestTheWorkerGivesUpUntilTheDeviceGivesAgain(t *testing.T) {
	p, fs, _ := open(t, Options{FileSize: mib})
	e := acquire(t, p, mib)
	settled(t, p, func(Stats) bool { return p.space.Ready(mib) })
	fs.FailAll(sys.OpOpen, syscall.EMFILE)
	f := acquire(t, p, mib)
	settled(t, p, func(Stats) bool { return p.work.stuck.Load() })
	_, err := p.Acquire(mib)
	require.ErrorIs(t, err, ErrTooManyFiles)
	p.Release(f)
	opens := fs.Calls()[sys.OpOpen]
	f = acquire(t, p, mib)
	require.Equal(t, opens, fs.Calls()[sys.OpOpen], "the worker does not try")
	fs.Heal()
	g := acquire(t, p, mib)
	settled(t, p, func(Stats) bool { return p.space.Ready(mib) })
	for _, x := range []Extent{e, f, g} {
		p.Release(x)
	}
}

func TestEmptyFilesGoAfterARest(t *testing.T) {
	p, _, c := open(t, Options{FileSize: mib, Limit: 2 * mib})
	a, b := acquire(t, p, mib), acquire(t, p, mib)
	require.Zero(t, c.fire(), "no timer while no file is empty")
	p.Release(b)
	p.Release(a)
	require.Equal(t, 1, c.fire())
	settled(t, p, func(Stats) bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.due) == 1 })
	require.Equal(t, 2, p.Stats().Files, "they were empty for a part of the rest only")
	a = acquire(t, p, mib)
	require.Equal(t, 1, c.fire())
	settled(t, p, func(s Stats) bool { return s.Files == 1 })
	require.Zero(t, c.fire())
	p.Release(a)
	require.Equal(t, 1, c.fire())
	settled(t, p, func(Stats) bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.due) == 1 })
	require.Equal(t, 1, c.fire())
	settled(t, p, func(s Stats) bool { return s.Files == 0 && s.Used == 0 })
	require.Zero(t, c.fire(), "an idle pool has no timer")
}

func TestARestKeepsWhatWasPrewarmed(t *testing.T) {
	p, fs, c := open(t, Options{FileSize: mib, Limit: 4 * mib})
	require.NoError(t, p.Prewarm(context.Background(), 2*mib))
	var held []Extent
	for range 4 {
		held = append(held, acquire(t, p, mib))
	}
	for _, e := range held {
		p.Release(e)
	}
	c.fire()
	settled(t, p, func(Stats) bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.due) == 1 })
	c.fire()
	settled(t, p, func(s Stats) bool { return s.Files == 2 })
	require.NoError(t, p.Trim())
	files, _ := fs.Live()
	require.Zero(t, files)
}

func TestRestCanBeSwitchedOff(t *testing.T) {
	p, _, c := open(t, Options{Rest: Off})
	p.Release(acquire(t, p, mib))
	require.Zero(t, c.fire())
}

func TestTheDefaultClock(t *testing.T) {
	p, err := Open(Options{FS: sys.Heap(), FileSize: mib, Limit: mib, Rest: time.Nanosecond})
	require.NoError(t, err)
	p.Release(acquire(t, p, mib))
	settled(t, p, func(s Stats) bool { return s.Files == 0 })
	require.NoError(t, p.Close())
}

func TestTheLimitCanBeMoved(t *testing.T) {
	p, _, _ := open(t, Options{Limit: mib, FileSize: mib})
	e := acquire(t, p, mib)
	_, err := p.Acquire(MinExtent)
	require.ErrorIs(t, err, ErrLimit)
	require.NoError(t, p.SetLimit(2*mib))
	f := acquire(t, p, mib)
	require.NoError(t, p.SetLimit(MinExtent))
	p.Release(e)
	p.Release(f)
	require.NoError(t, p.SetLimit(mib))
	require.EqualValues(t, mib, p.Stats().Used)
	require.NoError(t, p.SetLimit(0))
	require.EqualValues(t, DefaultLimit, p.Stats().Limit)
	require.NoError(t, p.SetLimit(Off))
	require.EqualValues(t, Off, p.Stats().Limit)
}

func TestScrubbedExtentsAreZero(t *testing.T) {
	p, _, _ := open(t, Options{Limit: 64 * kib, FileSize: 64 * kib, Scrub: true})
	for i := range 50 {
		e := acquire(t, p, 64*kib) // all that the limit allows: waits for the scrubbing
		if i > 0 {
			require.Equal(t, make([]byte, 64*kib), e.Bytes())
		}
		for j := range e.Bytes() {
			e.Bytes()[j] = 0xAB
		}
		p.Release(e)
	}
	e := acquire(t, p, 64*kib)
	require.NoError(t, p.Close())
	p.Release(e) // after Close there is nobody to scrub, and the file goes
	require.Zero(t, p.Stats().Files)
}

func TestCloseLeavesHoldersTheirMemory(t *testing.T) {
	p, fs, _ := open(t, Options{})
	e := acquire(t, p, mib)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	e.Bytes()[mib-1] = 1
	_, err := p.Acquire(MinExtent)
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, p.Prewarm(context.Background(), mib), ErrClosed)
	p.Start()
	p.Release(e)
	files, _ := fs.Live()
	require.Zero(t, files)
	require.True(t, Extent{}.IsZero())
	require.False(t, e.IsZero())
	require.Equal(t, mib, e.Size())
}

func TestDirectoryInRAMWarns(t *testing.T) {
	var warned atomic.Int32
	o := Options{FS: sys.OS(), Dirs: []string{"/dev/shm"}, OnWarn: func(string) { warned.Add(1) }}
	if info, err := o.FS.Stat("/dev/shm"); err != nil || !info.InRAM {
		t.Skip("/dev/shm is no tmpfs")
	}
	p, err := Open(o)
	require.NoError(t, err)
	p.Release(acquire(t, p, mib))
	require.NoError(t, p.Close())
	require.EqualValues(t, 1, warned.Load())
	require.True(t, p.Stats().Dirs[0].InRAM)
	require.Equal(t, "tmpfs", p.Stats().Dirs[0].Type)
}

// A failure at each call in turn: the limit holds, nothing is lost, and the
// pool works afterwards.
func TestEveryCallFailsInTurn(t *testing.T) {
	for n := int64(1); n < 40; n++ {
		p, fs, _ := open(t, Options{Limit: 3 * mib, FileSize: mib, NoDump: true, NoFork: true})
		fs.FailAny(n, syscall.EIO)
		var held []Extent
		p.Start()
		for range 10 {
			if e, err := p.Acquire(256 * kib); err == nil {
				held = append(held, e)
			} else if !errors.Is(err, ErrLimit) { // a file that is set aside counts
				require.ErrorIs(t, err, syscall.EIO)
			}
			require.LessOrEqual(t, p.Stats().Used, int64(3*mib))
		}
		for _, e := range held {
			p.Release(e)
		}
		fs.Heal()
		require.NoError(t, p.Trim())
		p.Release(acquire(t, p, mib))
		require.NoError(t, p.Close())
	}
}

func TestManyGoroutinesStayWithinTheLimit(t *testing.T) {
	p, _, c := open(t, Options{Limit: 3 * mib, FileSize: mib, Scrub: true})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(uint64(g), 1))
			for range 200 {
				n := MinExtent << r.IntN(5)
				e, err := p.Acquire(n)
				if errors.Is(err, ErrLimit) {
					continue
				}
				if err != nil {
					panic(err)
				}
				mem := e.Bytes()
				mem[0], mem[n-1] = byte(g), byte(g)
				switch r.IntN(30) {
				case 0:
					_ = p.Trim()
				case 1:
					c.fire()
				case 2:
					_ = p.SetLimit(int64(2+r.IntN(2)) * mib)
				}
				if mem[0] != byte(g) || mem[n-1] != byte(g) {
					panic("somebody else wrote here")
				}
				p.Release(e)
			}
		}()
	}
	wg.Wait()
	require.LessOrEqual(t, p.Stats().Peak, int64(3*mib))
}
