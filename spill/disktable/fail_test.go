package disktable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/spill/internal/filespace"
)

// requireIO checks an error about a transfer.
func requireIO(t *testing.T, err error, op string, cause error) {
	t.Helper()
	var e *IOError
	require.ErrorAs(t, err, &e)
	require.Equal(t, op, e.Op)
	require.ErrorIs(t, err, ErrIO)
	require.ErrorIs(t, err, cause)
}

func TestFailedWriteBackFailsTheOwnerOfThePage(t *testing.T) {
	r := newRig(t, 2, 2)
	victim, other := new(Owner), new(Owner)
	v, o := r.alloc(t, 4, victim), r.alloc(t, 4, other)
	require.NoError(t, r.WriteBlock(o, append(pattern(50), pattern(51)...)))
	r.put(t, v, 0, 1)
	f, err := r.Pin(v, 0, Read)
	require.NoError(t, err)
	f.Unpin()

	r.fs.FailAll(sys.OpWrite, syscall.EIO)
	for range 3 {
		r.is(t, o, 0, 50) // who evicts never notices
		r.is(t, o, 1, 51)
	}
	requireIO(t, victim.Err(), "write", syscall.EIO)
	require.NoError(t, other.Err())
	require.EqualValues(t, 1, r.fs.Calls()[sys.OpWrite]-1, "a lost page is written once") // and WriteBlock
	r.fs.Heal()

	_, err = r.Pin(v, 0, Read)
	requireIO(t, err, "write", syscall.EIO)
	_, err = r.Pin(v, 1, New)
	require.ErrorIs(t, err, ErrIO)
	require.ErrorIs(t, r.ReadAt(v, 0, make([]byte, 1)), ErrIO)
	require.ErrorIs(t, r.WriteBlock(v, nil), ErrIO)
	_, err = r.Alloc(PageSize, victim)
	require.ErrorIs(t, err, ErrIO)
	require.False(t, f.Repin(v, 0))
	r.Free(v)
	r.put(t, o, 2, 52)
	r.is(t, o, 2, 52)
	r.check(t)
}

func TestOwnerThatFailsItselfIsTold(t *testing.T) {
	r := newRig(t, 2, 2)
	o := new(Owner)
	b := r.alloc(t, 4, o)
	r.put(t, b, 0, 0)
	r.put(t, b, 1, 1)
	r.fs.FailAll(sys.OpWrite, syscall.ENOSPC)
	_, err := r.Pin(b, 2, New)
	requireIO(t, err, "write", syscall.ENOSPC)
	require.Equal(t, err, o.Err())
	r.check(t)
}

func TestRepinRefusesThePagesOfAFailedOwner(t *testing.T) {
	r := newRig(t, 2, 2)
	o := new(Owner)
	b := r.alloc(t, 1, o)
	f, err := r.Pin(b, 0, New)
	require.NoError(t, err)
	f.Unpin()
	require.True(t, f.Repin(b, 0))
	f.Unpin()
	o.fail(&IOError{Err: syscall.EIO})
	require.False(t, f.Repin(b, 0))
	r.check(t)
}

func TestFailedRunStaysDirty(t *testing.T) {
	r := newRig(t, 8, 8)
	victim, other := new(Owner), new(Owner)
	v, o := r.alloc(t, 8, victim), r.alloc(t, 8, other)
	for page := range 7 {
		r.put(t, v, page, byte(page))
	}
	require.Equal(t, 7, r.Stats().Dirty)
	r.fs.FailAt(sys.OpWrite, 1, syscall.EIO)
	r.put(t, o, 0, 100)
	require.Equal(t, 8, r.Stats().Dirty)
	r.put(t, o, 1, 101)
	require.Equal(t, 8, r.Stats().Dirty, "a page of the failed owner made room")
	require.Error(t, victim.Err())
	r.is(t, o, 0, 100)
	r.check(t)
}

func TestFailedReadFailsNobody(t *testing.T) {
	r := newRig(t, 2, 2)
	o := new(Owner)
	b := r.alloc(t, 2, o)
	require.NoError(t, r.WriteBlock(b, append(pattern(1), pattern(2)...)))
	for range 5 {
		r.fs.FailAt(sys.OpRead, 1, syscall.EIO)
		_, err := r.Pin(b, 0, Read)
		requireIO(t, err, "read", syscall.EIO)
		r.fs.FailAt(sys.OpRead, 1, syscall.EIO)
		requireIO(t, r.ReadAt(b, 5, make([]byte, 20)), "read", syscall.EIO)
		r.check(t)
	}
	require.NoError(t, o.Err())
	r.is(t, b, 0, 1)
}

func TestFailedWriteBlockFailsNobody(t *testing.T) {
	r := newRig(t, 2, 2)
	o := new(Owner)
	b := r.alloc(t, 2, o)
	r.fs.FailAt(sys.OpWrite, 1, syscall.EDQUOT)
	requireIO(t, r.WriteBlock(b, pattern(1)), "write", syscall.EDQUOT)
	require.NoError(t, o.Err())
	require.NoError(t, r.WriteBlock(b, pattern(1)))
	r.is(t, b, 0, 1)
}

func TestTruncatedFileIsAnError(t *testing.T) {
	files := &gateFS{FS: sys.Heap()}
	r := rigOn(t, files, 2, 2)
	b := r.alloc(t, 2, new(Owner))
	require.NoError(t, r.WriteBlock(b, make([]byte, 2*PageSize)))
	require.NoError(t, files.last.Truncate(100))
	_, err := r.Pin(b, 0, Read)
	requireIO(t, err, "read", io.ErrUnexpectedEOF)
	_, err = r.Pin(b, 1, Read)
	requireIO(t, err, "read", io.ErrUnexpectedEOF)
}

// TestEveryCallFails runs one script with the n-th call of the file system
// failing, for every n. Whatever happens, a page reads as it was written or
// its owner says why not, and nothing is left behind.
func TestEveryCallFails(t *testing.T) {
	failed := 0
	stride := int64(2500 / steps(2500)) // every fourth under the race detector
	for n := int64(1); ; n += stride {
		r := newRig(t, 2, 4)
		r.fs.FailAny(n, syscall.EIO)
		before := r.fs.Calls().Total()
		failed += script(t, r)
		calls := r.fs.Calls().Total() - before
		r.check(t)
		r.shut(t)
		if calls < n {
			break
		}
	}
	require.Positive(t, failed)
}

// script works on three owners and returns how many errors it met.
func script(t *testing.T, r *rig) (failed int) {
	owners := [3]*Owner{{}, {}, {}}
	var blocks []Block
	note := func(err error) bool {
		if err == nil {
			return true
		}
		failed++
		require.ErrorIs(t, err, syscall.EIO)
		return false
	}
	for _, o := range owners {
		b, err := r.Alloc(8*PageSize, o)
		if note(err) {
			blocks = append(blocks, b)
		}
	}
	written := map[string]bool{}
	for page := range 8 {
		for i, b := range blocks {
			f, err := r.Pin(b, page, New)
			if note(err) {
				copy(f.Bytes(), pattern(byte(10*i+page)))
				f.Dirty()
				f.Unpin()
				written[fmt.Sprint(i, page)] = true
			}
		}
	}
	dst := make([]byte, PageSize)
	for page := range 8 {
		for i, b := range blocks {
			if note(r.ReadAt(b, page*PageSize, dst)) && written[fmt.Sprint(i, page)] {
				same(t, pattern(byte(10*i+page)), dst)
			}
			f, err := r.Pin(b, page, Read)
			if note(err) && written[fmt.Sprint(i, page)] {
				same(t, pattern(byte(10*i+page)), f.Bytes())
			}
			if err == nil {
				f.Unpin()
			}
		}
	}
	r.Shrink(2)
	for _, b := range blocks {
		note(r.WriteBlock(b, pattern(9)))
		r.Free(b)
	}
	note(r.Trim(0))
	return failed
}

// TestFailuresHitTheirOwnersOnly lets goroutines with tables of their own work
// in one small cache while every 13th write fails: a page reads as it was
// written, or the owner of that very page says why not.
func TestFailuresHitTheirOwnersOnly(t *testing.T) {
	r := rigOn(t, &flakyFS{FS: sys.Heap(), every: 13}, 2, 5)
	var lost, kept atomic.Int64
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range steps(200) {
				if r.oneTable(t, byte(g*40+i%40)) {
					kept.Add(1)
				} else {
					lost.Add(1)
				}
			}
		})
	}
	wg.Wait()
	r.check(t)
	require.Positive(t, lost.Load())
	require.Positive(t, kept.Load())
	require.Zero(t, r.Stats().Dirty)
}

// oneTable is the life of a table; it reports whether it was served to the end.
func (r *rig) oneTable(t *testing.T, seed byte) bool {
	o := new(Owner)
	b, err := r.Alloc(8*PageSize, o)
	if err != nil {
		t.Error(err)
		return false
	}
	defer r.Free(b)
	for _, how := range []How{New, Read} {
		for page := range 8 {
			f, err := r.Pin(b, page, how)
			if err != nil {
				if o.Err() == nil || !errors.Is(err, ErrIO) {
					t.Errorf("an error that is not the owner's: %v", err)
				}
				return false
			}
			if how == New {
				copy(f.Bytes(), pattern(seed+byte(page)))
			} else if !bytes.Equal(f.Bytes(), pattern(seed+byte(page))) {
				t.Error("a page was lost in silence")
			}
			f.Unpin()
		}
	}
	return o.Err() == nil
}

// flakyFS makes files of which one write in so many fails.
type flakyFS struct {
	sys.FS
	every int64
	n     atomic.Int64
}

func (fs *flakyFS) OpenTemp(dir string) (sys.File, error) {
	f, err := fs.FS.OpenTemp(dir)
	return &flakyFile{f, fs}, err
}

type flakyFile struct {
	sys.File
	fs *flakyFS
}

func (f *flakyFile) WriteAt(p []byte, off int64) (int, error) {
	if f.fs.n.Add(1)%f.fs.every == 0 {
		return 0, syscall.EIO
	}
	return f.File.WriteAt(p, off)
}

func (f *flakyFile) WritevAt(bufs [][]byte, off int64) (int, error) {
	if f.fs.n.Add(1)%f.fs.every == 0 {
		return 0, syscall.EIO
	}
	return f.File.WritevAt(bufs, off)
}

func TestOpenRefuses(t *testing.T) {
	fs := sys.NewFaulty(sys.Heap())
	mem := newMemory(1)
	o := Options{Dirs: []string{t.TempDir()}, FS: fs, Memory: mem, MinFrames: 2, MaxFrames: 4}
	_, err := Open(o)
	require.ErrorIs(t, err, ErrNoMemory)
	require.Zero(t, mem.count())
	files, _ := fs.Live()
	require.Zero(t, files)

	_, err = Open(Options{Dirs: o.Dirs, FS: fs, MinFrames: 1, MaxFrames: 0})
	require.ErrorContains(t, err, "Memory")
	require.ErrorContains(t, err, "MinFrames is 1")
	require.ErrorContains(t, err, "MaxFrames is 0")
}

// TestAllocPassesTheCauseOn: what the file space says arrives as it is.
func TestAllocPassesTheCauseOn(t *testing.T) {
	r := newRig(t, 2, 2)
	o := new(Owner)
	require.NoError(t, r.SetLimit(2*PageSize))
	b := r.alloc(t, 2, o)
	_, err := r.Alloc(PageSize, o)
	require.ErrorIs(t, err, filespace.ErrLimit)
	r.Free(b)
	b = r.alloc(t, 1, o)

	require.NoError(t, r.SetLimit(0))
	r.fs.LimitFree(MaxBlock - 1)
	_, err = r.Alloc(MaxBlock, o)
	require.ErrorIs(t, err, filespace.ErrNoSpace)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, o.Err())
	r.put(t, b, 0, 1)
	r.is(t, b, 0, 1)
}

func TestSpaceIsUsedAgainAndGivenBack(t *testing.T) {
	r := newRig(t, 2, 2)
	require.Zero(t, r.fs.Calls()[sys.OpOpen], "a file before the first block")
	var first Stats
	for i := range 5 {
		b := r.alloc(t, 64, new(Owner))
		if i == 0 {
			first = r.Stats()
			require.EqualValues(t, 64*PageSize, first.BytesHeld)
		}
		r.Free(b)
	}
	st := r.Stats()
	require.Equal(t, first.Bytes, st.Bytes)
	require.EqualValues(t, 1, st.FilesCreated)
	require.Zero(t, st.BytesHeld)
	again, err := r.Rest(0)
	require.NoError(t, err)
	require.True(t, again)
	require.NoError(t, r.Trim(0))
	st = r.Stats()
	require.Zero(t, st.Bytes)
	require.Zero(t, st.Files)
	require.Equal(t, first.Bytes, st.BytesPeak)
}

func TestCallsOutOfRange(t *testing.T) {
	r := newRig(t, 2, 2)
	b := r.alloc(t, 2, new(Owner))
	for _, page := range []int{-1, 2} {
		_, err := r.Pin(b, page, Read)
		require.ErrorIs(t, err, ErrRange)
	}
	require.ErrorIs(t, r.ReadAt(b, -1, nil), ErrRange)
	require.ErrorIs(t, r.ReadAt(b, PageSize, make([]byte, PageSize+1)), ErrRange)
	require.ErrorIs(t, r.WriteBlock(b, make([]byte, 2*PageSize+1)), ErrRange)
	_, err := r.Pin(Block{}, 0, Read)
	require.ErrorIs(t, err, ErrRange)
	r.Free(Block{})
	for _, size := range []int{-1, 0, 1, PageSize - 1, 3 * PageSize, 2 * MaxBlock} {
		_, err := r.Alloc(size, new(Owner))
		require.ErrorIs(t, err, filespace.ErrSize, size)
	}
}

func TestUseAfterClose(t *testing.T) {
	r := newRig(t, 2, 2)
	b := r.alloc(t, 2, new(Owner))
	f, err := r.Pin(b, 0, New)
	require.NoError(t, err)
	f.Unpin()
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.Close(), ErrClosed)
	require.False(t, f.Repin(b, 0))
	_, err = r.Pin(b, 0, Read)
	require.ErrorIs(t, err, ErrClosed)
	_, err = r.Alloc(PageSize, new(Owner))
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, r.ReadAt(b, 0, nil), ErrClosed)
	require.ErrorIs(t, r.WriteBlock(b, nil), ErrClosed)
	require.Zero(t, r.Shrink(5))
	r.Free(b)
	require.Zero(t, r.Stats().Dirty)
}

func TestIOErrorSaysWhere(t *testing.T) {
	err := &IOError{Op: "write", Page: 9, Off: 32768, Len: PageSize, Err: syscall.EIO}
	require.Equal(t, "disktable: write 16384 bytes at offset 32768 of a block (page 9): input/output error", err.Error())
	require.True(t, errors.Is(err, ErrIO))
}
