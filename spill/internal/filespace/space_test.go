package filespace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// open makes a space over a Faulty heap, and checks at the end that nothing
// was left open.
func open(t *testing.T, o Options) (*Space, *sys.Faulty) {
	fs := sys.NewFaulty(sys.Heap())
	o.FS = fs
	if o.Dirs == nil {
		o.Dirs = []string{"dir"}
	}
	s := New(o)
	t.Cleanup(func() {
		fs.Heal()
		require.NoError(t, s.Close())
		files, mappings := fs.Live()
		require.Zero(t, files)
		require.Zero(t, mappings)
		st := s.Stats()
		require.Zero(t, st.Used)
		require.Zero(t, st.Idle)
		require.Zero(t, st.Cold)
		require.Zero(t, st.Files)
		require.Equal(t, st.FilesCreated, st.FilesRemoved)
	})
	return s, fs
}

func get(t *testing.T, s *Space, n int) Piece {
	p, _, err := s.AllocWarm(n)
	require.NoError(t, err)
	require.Equal(t, n, p.Size())
	return p
}

func TestNothingIsTouchedBeforeTheFirstPiece(t *testing.T) {
	s, fs := open(t, Options{Limit: 64 * mib, Map: true})
	_, _, ok := s.Take(MinPiece)
	require.False(t, ok)
	require.NoError(t, s.Trim(0))
	require.Zero(t, fs.Calls().Total())
}

func TestASmallTableTakesOneMiB(t *testing.T) {
	s, _ := open(t, Options{Limit: -1, Map: true})
	s.Free(get(t, s, MinPiece))
	st := s.Stats()
	require.EqualValues(t, mib, st.Used)
	require.EqualValues(t, mib, st.Idle)
	require.EqualValues(t, mib-MinPiece, st.Cold)
}

func TestStepsGrowWithTheSpace(t *testing.T) {
	s, fs := open(t, Options{Limit: -1})
	var held []Piece
	used := []int64{}
	for range 32 * mib / (512 * kib) {
		held = append(held, get(t, s, 512*kib))
		if u := s.Stats().Used; len(used) == 0 || used[len(used)-1] != u {
			used = append(used, u)
		}
	}
	require.Equal(t, []int64{1 * mib, 2 * mib, 4 * mib, 8 * mib, 16 * mib, 24 * mib, 32 * mib}, used)
	require.EqualValues(t, 7, fs.Calls()[sys.OpAllocate])
	require.EqualValues(t, 1, fs.Calls()[sys.OpOpen])
	for _, p := range held {
		s.Free(p)
	}
}

func TestReuseMakesNoCallAndNoAllocation(t *testing.T) {
	s, fs := open(t, Options{Limit: -1, Map: true})
	p := get(t, s, 64*kib)
	s.Free(p)
	calls := fs.Calls()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		ready := s.Ready(64*kib) && s.Ready(MinPiece) && !s.Ready(128*kib)
		q, cold, ok := s.Take(64 * kib)
		if !ready || !ok || cold || q != p {
			panic("not reused")
		}
		s.Free(q)
	}))
	require.Equal(t, calls, fs.Calls())
}

func TestPiecesHoldWhatIsWritten(t *testing.T) {
	for _, mapped := range []bool{false, true} {
		s, _ := open(t, Options{Limit: -1, Map: mapped})
		a, b := get(t, s, 32*kib), get(t, s, MinPiece)
		require.NotEqual(t, a.Page(), b.Page())
		n, err := a.WriteAt([]byte("xyz"), 32*kib-3)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		_, err = b.WriteAt([]byte{'b'}, 0)
		require.NoError(t, err)
		got := make([]byte, 3)
		_, err = a.ReadAt(got, 32*kib-3)
		require.NoError(t, err)
		require.Equal(t, "xyz", string(got))
		if mapped {
			require.Len(t, a.Bytes(), 32*kib)
			require.Equal(t, 32*kib, cap(a.Bytes()))
			require.Equal(t, "xyz", string(a.Bytes()[32*kib-3:]))
		} else {
			require.Nil(t, a.Bytes())
		}
		for _, off := range []int{-1, 32*kib - 2, 1 << 30} {
			_, err = a.ReadAt(got, off)
			require.ErrorIs(t, err, syscall.EINVAL)
			_, err = a.WriteAt(got, off)
			require.ErrorIs(t, err, syscall.EINVAL)
		}
		s.Free(a)
		s.Free(b)
		require.True(t, Piece{}.IsZero())
		require.False(t, a.IsZero())
	}
}

func TestSizesThatAreNone(t *testing.T) {
	s, fs := open(t, Options{Limit: -1, FileSize: 4 * mib})
	require.Equal(t, 4*mib, s.Largest())
	for _, n := range []int{-1, 0, 1, MinPiece / 2, MinPiece + 1, 8 * mib, 16 * mib} {
		_, _, err := s.Alloc(n)
		require.ErrorIs(t, err, ErrSize, n)
		_, _, ok := s.Take(n)
		require.False(t, ok)
		require.False(t, s.Ready(n))
	}
	require.Zero(t, fs.Calls().Total())
}

func TestTheLimitBoundsBytesAndTakesSmallerSteps(t *testing.T) {
	s, _ := open(t, Options{Limit: 3*mib + 48*kib, Map: true})
	var held []Piece
	for {
		p, _, err := s.AllocWarm(MinPiece)
		if err != nil {
			require.ErrorIs(t, err, ErrLimit)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, Error{Kind: ErrLimit, Want: MinPiece, Used: 3*mib + 48*kib, Limit: 3*mib + 48*kib}, *e)
			break
		}
		held = append(held, p)
		require.LessOrEqual(t, s.Stats().Used, int64(3*mib+48*kib))
	}
	require.Len(t, held, (3*mib+48*kib)/MinPiece, "every byte of the limit was had")
	require.EqualValues(t, 1, s.Stats().Files)
	for _, p := range held {
		s.Free(p)
	}
	require.EqualValues(t, 3*mib+48*kib, s.Stats().Idle)
}

func TestLimitsBelowAPiece(t *testing.T) {
	for _, limit := range []int64{0, 1, MinPiece - 1} {
		s, fs := open(t, Options{Limit: limit})
		_, _, err := s.Alloc(MinPiece)
		require.ErrorIs(t, err, ErrLimit)
		require.Zero(t, fs.Calls().Total())
	}
	s, _ := open(t, Options{Limit: MinPiece})
	s.Free(get(t, s, MinPiece))
}

func TestTheLimitCanBeMoved(t *testing.T) {
	s, _ := open(t, Options{Limit: 8 * mib, FileSize: 8 * mib})
	a := get(t, s, 8*mib)
	_, _, err := s.Alloc(MinPiece)
	require.ErrorIs(t, err, ErrLimit)
	require.NoError(t, s.SetLimit(16*mib))
	b := get(t, s, 8*mib)
	require.NoError(t, s.SetLimit(1*mib))
	require.EqualValues(t, 16*mib, s.Stats().Used, "what is held stays")
	s.Free(b)
	s.Free(a)
	require.NoError(t, s.SetLimit(8*mib))
	require.EqualValues(t, 8*mib, s.Stats().Used, "the highest empty file went")
	require.NoError(t, s.SetLimit(0))
	require.Zero(t, s.Stats().Used)
	require.NoError(t, s.SetLimit(-1))
	s.Free(get(t, s, 8*mib))
}

func TestHighFilesRunEmptyAndAreTrimmed(t *testing.T) {
	s, _ := open(t, Options{Limit: -1, FileSize: mib, Map: true})
	var held []Piece
	for range 4 {
		held = append(held, get(t, s, mib))
	}
	s.Free(held[1])
	s.Free(held[3])
	p := get(t, s, mib)
	require.Equal(t, held[1], p, "the lowest file first")
	require.NoError(t, s.Trim(4*mib))
	require.Equal(t, 4, s.Stats().Files, "kept")
	require.NoError(t, s.Trim(0))
	require.Equal(t, 3, s.Stats().Files)
	require.EqualValues(t, 3*mib, s.Stats().Used)
	q := get(t, s, mib)
	require.Equal(t, held[3].Page(), q.Page(), "the number is used again")
	s.Free(held[0])
	s.Free(p)
	s.Free(held[2])
	require.EqualValues(t, 3*mib, s.Stats().Idle)
	s.Free(q)
}

func TestRestClosesWhatWasEmptyForAWhole(t *testing.T) {
	s, _ := open(t, Options{Limit: -1, FileSize: mib})
	p := get(t, s, mib)
	require.True(t, s.Free(p))
	again, err := s.Rest(0)
	require.NoError(t, err)
	require.True(t, again)
	p = get(t, s, mib)
	s.Free(p)
	again, _ = s.Rest(0)
	require.True(t, again, "it was in use meanwhile")
	require.Equal(t, 1, s.Stats().Files)
	again, _ = s.Rest(mib)
	require.False(t, again, "what is kept does not count")
	again, _ = s.Rest(0)
	require.False(t, again)
	require.Zero(t, s.Stats().Files)
}

func TestCloseTakesNothingFromAHolder(t *testing.T) {
	s, fs := open(t, Options{Limit: -1, Map: true, FileSize: mib})
	a, b := get(t, s, mib), get(t, s, mib)
	s.Free(b)
	require.NoError(t, s.Close())
	a.Bytes()[mib-1] = 1
	files, mappings := fs.Live()
	require.Equal(t, []int{1, 1}, []int{files, mappings})
	_, _, err := s.Alloc(MinPiece)
	require.ErrorIs(t, err, ErrClosed)
	_, _, ok := s.Take(MinPiece)
	require.False(t, ok)
	s.Free(a)
	require.Zero(t, s.Stats().Files)
	require.NoError(t, s.Close())
}

func TestPrepareMakesWarmPieces(t *testing.T) {
	s, fs := open(t, Options{Limit: 12 * mib, Map: true})
	require.NoError(t, s.Prepare(context.Background(), 12*mib, s.Largest(), MinPiece))
	require.EqualValues(t, 12*mib, s.Stats().Idle)
	require.Zero(t, s.Stats().Cold)
	calls := fs.Calls()
	var held []Piece
	for range 12 {
		require.True(t, s.Ready(mib))
		held = append(held, get(t, s, mib))
	}
	require.False(t, s.Ready(mib))
	require.Equal(t, calls, fs.Calls())
	require.ErrorIs(t, s.Prepare(context.Background(), MinPiece, MinPiece, MinPiece), ErrLimit)
	for _, p := range held {
		s.Free(p)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, s.Prepare(ctx, mib, mib, MinPiece), context.Canceled)
}

func TestPrepareTakesFragments(t *testing.T) {
	s, _ := open(t, Options{Limit: 2 * mib, FileSize: 2 * mib, Map: true})
	a := get(t, s, MinPiece)
	require.NoError(t, s.Prepare(context.Background(), 2*mib-MinPiece, s.Largest(), MinPiece))
	require.Zero(t, s.Stats().Cold)
	s.Free(a)
}

func TestWithoutPreallocationFilesAreWrittenOnce(t *testing.T) {
	var warnings []string
	s, fs := open(t, Options{Limit: -1, OnWarn: func(m string) { warnings = append(warnings, m) }})
	fs.FailAll(sys.OpAllocate, errors.ErrUnsupported)
	p := get(t, s, 64*kib)
	require.EqualValues(t, 4, fs.Calls()[sys.OpWrite], "1 MiB in 256 KiB")
	require.EqualValues(t, mib, s.Stats().Filled)
	q := get(t, s, 64*kib)
	s.Free(p)
	s.Free(q)
	s.Free(get(t, s, 64*kib))
	require.EqualValues(t, mib, s.Stats().Filled)
	require.EqualValues(t, 1, fs.Calls()[sys.OpAllocate], "asked once")
	require.Equal(t, howWritten, s.Stats().Dirs[0].How)
	require.Len(t, warnings, 1)
}

func TestAFailedStepGivesItsSpaceBack(t *testing.T) {
	for _, written := range []bool{false, true} {
		s, fs := open(t, Options{Limit: -1, FileSize: 16 * mib})
		fs.LimitFree(5*mib + 100*kib)
		if written {
			fs.FailAll(sys.OpAllocate, errors.ErrUnsupported)
		}
		a := get(t, s, 4*mib)
		_, _, err := s.Alloc(4 * mib)
		require.ErrorIs(t, err, ErrNoSpace)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.ErrorContains(t, err, "dir")
		require.EqualValues(t, mib+100*kib, fs.Free())
		require.EqualValues(t, 4*mib, s.Stats().Used)
		b := get(t, s, 64*kib)
		require.EqualValues(t, 5*mib, s.Stats().Used, "a smaller step fitted")
		require.EqualValues(t, 100*kib, fs.Free())
		s.Free(a)
		s.Free(b)
		require.NoError(t, s.Trim(0))
		require.EqualValues(t, 5*mib+100*kib, fs.Free())
	}
}

// A step that fails in a hole of a file is punched out again.
func TestAFailedStepInTheMiddleOfAFile(t *testing.T) {
	s, fs := open(t, Options{Limit: -1, FileSize: 12 * mib})
	a := get(t, s, MinPiece) // grows at 8 MiB, in the smaller end
	require.EqualValues(t, 9*mib, s.files[0].size)
	fs.LimitFree(3 * mib)
	_, _, err := s.Alloc(8 * mib)
	require.ErrorIs(t, err, ErrNoSpace)
	require.EqualValues(t, 3*mib, fs.Free())
	require.EqualValues(t, 1, fs.Calls()[sys.OpPunch])
	s.Free(a)
}

func TestTheNextDirectoryServesWhenOneIsFull(t *testing.T) {
	s, fs := open(t, Options{Limit: -1, Dirs: []string{"one", "two"}, FileSize: mib})
	a := get(t, s, mib)
	fs.FailAt(sys.OpAllocate, 1, syscall.EDQUOT)
	b := get(t, s, mib)
	require.Equal(t, "two", b.f.dir.path)
	fs.FailAll(sys.OpOpen, syscall.EMFILE)
	_, _, err := s.Alloc(mib)
	require.ErrorIs(t, err, ErrTooManyFiles)
	require.ErrorContains(t, err, "one")
	require.ErrorContains(t, err, "two")
	s.Free(a)
	s.Free(b)
}

func TestTheReserveIsLeft(t *testing.T) {
	s, fs := open(t, Options{Limit: -1, Reserve: 10 * mib})
	fs.LimitFree(11*mib + 64*kib)
	a := get(t, s, MinPiece)
	b := get(t, s, 512*kib)
	require.EqualValues(t, 10*mib+64*kib, fs.Free())
	c := get(t, s, 256*kib)
	_, _, err := s.Alloc(512 * kib)
	require.ErrorIs(t, err, ErrReserve)
	require.EqualValues(t, 10*mib+64*kib, fs.Free())
	d := get(t, s, 128*kib)
	e := get(t, s, 64*kib)
	f := get(t, s, 64*kib)
	require.EqualValues(t, 10*mib, fs.Free(), "a small step fitted")
	for _, p := range []Piece{a, b, c, d, e, f} {
		s.Free(p)
	}
}

func TestKindsOfFailure(t *testing.T) {
	for _, c := range []struct {
		op   sys.Op
		errs []error
		kind error
	}{
		{sys.OpOpen, []error{syscall.EMFILE, syscall.ENFILE}, ErrTooManyFiles},
		{sys.OpOpen, []error{syscall.ENOENT, syscall.EACCES, syscall.EROFS, syscall.ENOTDIR, syscall.EPERM}, ErrDir},
		{sys.OpStat, []error{syscall.ENOENT}, ErrDir},
		{sys.OpMap, []error{syscall.ENOMEM}, ErrTooManyMaps},
		{sys.OpMap, []error{syscall.ENODEV}, ErrIO},
		{sys.OpAllocate, []error{syscall.ENOSPC}, ErrNoSpace},
		{sys.OpAllocate, []error{syscall.EDQUOT}, ErrQuota},
		{sys.OpAllocate, []error{syscall.EFBIG}, ErrFileSize},
		{sys.OpAllocate, []error{syscall.EIO}, ErrIO},
		{sys.OpPopulate, []error{syscall.EFAULT, syscall.EIO}, sys.ErrFault},
		{sys.OpAdvise, []error{syscall.EINVAL}, ErrIO},
	} {
		for _, errno := range c.errs {
			s, fs := open(t, Options{Limit: -1, Map: true, NoDump: true, NoFork: true, FileSize: mib})
			fs.FailAll(c.op, errno)
			_, _, err := s.AllocWarm(64 * kib)
			require.ErrorIs(t, err, c.kind, errno)
			require.ErrorIs(t, err, errno)
			require.True(t, strings.HasPrefix(err.Error(), "spill 65536 bytes: "), err.Error())
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "dir", e.Dir)
			require.Zero(t, s.Stats().Used-s.Stats().Idle)
			fs.Heal()
			s.Free(get(t, s, 64*kib))
		}
	}
}

// Every call fails in turn: nothing is lost, and the space works afterwards.
func TestEveryCallFailsInTurn(t *testing.T) {
	for n := int64(1); n < 60; n++ {
		s, fs := open(t, Options{Limit: 4 * mib, Map: true, FileSize: mib, Reserve: 1, NoDump: true, Dirs: []string{"a", "b"}})
		fs.LimitFree(3*mib + 200*kib)
		fs.FailAny(n, syscall.EIO)
		var held []Piece
		for range 8 {
			if p, _, err := s.AllocWarm(512 * kib); err == nil {
				held = append(held, p)
			}
			st := s.Stats()
			require.LessOrEqual(t, st.Used, int64(4*mib))
			require.Equal(t, st.Used, 3*mib+200*kib-fs.Free())
		}
		_ = s.Prepare(context.Background(), mib, mib, MinPiece)
		for _, p := range held {
			s.Free(p)
		}
		_ = s.Trim(0)
		require.Zero(t, s.Stats().Used)
		require.EqualValues(t, 3*mib+200*kib, fs.Free())
	}
}

func TestAnOutOfReachFileIsSetAside(t *testing.T) {
	s, fs := open(t, Options{Limit: -1, Map: true, FileSize: mib})
	a := get(t, s, MinPiece)
	fs.FailAt(sys.OpPopulate, 1, syscall.EFAULT)
	b := get(t, s, MinPiece)
	require.NotEqual(t, a.f, b.f, "the next file served")
	st := s.Stats()
	require.Equal(t, 1, st.BadFiles)
	require.EqualValues(t, 2*mib, st.Used)
	require.EqualValues(t, mib-MinPiece, st.Idle)
	s.Free(a)
	require.Zero(t, s.Stats().BadFiles, "closed with the last piece")
	require.EqualValues(t, mib, s.Stats().Used)
	s.Free(b)
}

func TestAFaultSetsItsFileAside(t *testing.T) {
	s, _ := open(t, Options{Limit: -1, Map: true, FileSize: mib})
	a, b := get(t, s, MinPiece), get(t, s, MinPiece)
	require.False(t, s.Owns(1))
	require.False(t, s.Faulted(1))
	addr := address(a.Bytes()) + 5
	require.True(t, s.Owns(addr))
	require.True(t, s.Faulted(addr))
	require.True(t, s.Faulted(addr))
	st := s.Stats()
	require.EqualValues(t, 2, st.Faults)
	require.Equal(t, 1, st.BadFiles)
	require.Zero(t, st.Idle)
	require.Zero(t, st.Cold)
	c := get(t, s, MinPiece)
	require.NotEqual(t, a.f, c.f)
	s.Free(a)
	require.Equal(t, 2, s.Stats().Files)
	s.Free(b)
	require.Equal(t, 1, s.Stats().Files)
	s.Free(c)
}

func TestOldKernelsTouchByHand(t *testing.T) {
	s, fs := open(t, Options{Limit: -1, Map: true, FileSize: mib})
	fs.FailAll(sys.OpPopulate, errors.ErrUnsupported)
	s.Free(get(t, s, mib))
	require.Zero(t, s.Stats().Cold)
}

func TestAPieceThatCannotBeWarmedForWantOfMemoryStaysCold(t *testing.T) {
	s, fs := open(t, Options{Limit: -1, Map: true, FileSize: mib})
	fs.FailAll(sys.OpPopulate, syscall.ENOMEM)
	fs.FailAll(sys.OpSize, syscall.EIO)
	s.Free(get(t, s, mib))
	require.EqualValues(t, mib, s.Stats().Cold)
}

func TestPiecesAreFoundByTheirMemory(t *testing.T) {
	s, _ := open(t, Options{Limit: -1, Map: true, FileSize: mib})
	a, b := get(t, s, mib), get(t, s, 64*kib)
	require.Equal(t, b, s.At(b.Bytes()[:10], 64*kib))
	require.True(t, s.At(make([]byte, 10), 64*kib).IsZero())
	s.Free(a)
	require.NoError(t, s.Trim(0))
	require.Equal(t, b, s.At(b.Bytes(), 64*kib))
	s.Free(b)
}

func TestCopyOnWrite(t *testing.T) {
	cow := func(refuse bool) sys.FS { return &cowFS{FS: sys.Heap(), refuse: refuse} }
	for _, c := range []struct {
		refuse, mapped bool
		how            string
		err            error
	}{
		{false, true, howNoCoW, nil},
		{false, false, howNoCoW, nil},
		{true, false, howCoW, nil},
		{true, true, howAllocated, ErrCoW},
	} {
		s := New(Options{FS: cow(c.refuse), Dirs: []string{"d"}, Limit: -1, Map: c.mapped})
		p, _, err := s.Alloc(MinPiece)
		require.ErrorIs(t, err, c.err)
		if c.err == nil {
			s.Free(p)
		} else {
			require.ErrorIs(t, err, errors.ErrUnsupported)
			require.Zero(t, s.Stats().Files)
		}
		require.Equal(t, c.how, s.Stats().Dirs[0].How)
		require.NoError(t, s.Close())
	}
}

type cowFS struct {
	sys.FS
	refuse bool
}

func (c *cowFS) Stat(dir string) (sys.DirInfo, error) {
	d, err := c.FS.Stat(dir)
	d.CoW, d.InRAM = true, true
	return d, err
}

func (c *cowFS) OpenTemp(dir string) (sys.File, error) {
	f, err := c.FS.OpenTemp(dir)
	return &cowFile{f, c.refuse}, err
}

type cowFile struct {
	sys.File
	refuse bool
}

func (c *cowFile) DisableCoW() error {
	if c.refuse {
		return c.File.DisableCoW()
	}
	return nil
}

func TestADirectoryInRAMDrawsAWarning(t *testing.T) {
	var warnings []string
	s := New(Options{FS: &cowFS{FS: sys.Heap()}, Dirs: []string{"d"}, Limit: -1, FileSize: mib,
		OnWarn: func(m string) { warnings = append(warnings, m) }})
	a, _, err := s.Alloc(mib)
	require.NoError(t, err)
	b, _, err := s.Alloc(mib)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.True(t, s.Stats().Dirs[0].InRAM)
	s.Free(a)
	s.Free(b)
	require.NoError(t, s.Close())
}

func TestRandomOperationsAgreeWithAModel(t *testing.T) {
	for _, mapped := range []bool{true, false} {
		t.Run(fmt.Sprint("mapped=", mapped), func(t *testing.T) { runModel(t, mapped) })
	}
}

// runModel checks that pieces never overlap, keep their bytes, and that the
// counters agree with what is held.
func runModel(t *testing.T, mapped bool) {
	r := rand.New(rand.NewPCG(7, 7))
	s, fs := open(t, Options{Limit: 6 * mib, Map: mapped, FileSize: 2*mib + 48*kib})
	type held struct {
		p    Piece
		mark byte
	}
	var all []held
	owner := map[uint64]bool{}
	var bytes int64
	for range 3000 {
		switch k := r.IntN(20); {
		case k < 10:
			n := MinPiece << r.IntN(6)
			p, _, err := s.AllocWarm(n)
			if err != nil {
				require.ErrorIs(t, err, ErrLimit)
				break
			}
			for u := range uint64(n / MinPiece) {
				require.False(t, owner[p.Page()+u])
				owner[p.Page()+u] = true
			}
			h := held{p, byte(r.IntN(256))}
			fillPiece(t, p, h.mark)
			all = append(all, h)
			bytes += int64(n)
		case k < 18 && len(all) > 0:
			i := r.IntN(len(all))
			checkPiece(t, all[i].p, all[i].mark)
			for u := range uint64(all[i].p.Size() / MinPiece) {
				delete(owner, all[i].p.Page()+u)
			}
			bytes -= int64(all[i].p.Size())
			s.Free(all[i].p)
			all = append(all[:i], all[i+1:]...)
		case k == 18:
			_, err := s.Rest(int64(r.IntN(4 * mib)))
			require.NoError(t, err)
		case k == 19:
			_ = s.Prepare(context.Background(), int64(r.IntN(mib)), 64*kib, MinPiece)
		}
		st := s.Stats()
		require.Equal(t, bytes, st.Held)
		require.LessOrEqual(t, st.Used, int64(6*mib))
		require.GreaterOrEqual(t, st.Cold, int64(0))
		files, _ := fs.Live()
		require.Equal(t, st.Files, files)
	}
	for _, h := range all {
		checkPiece(t, h.p, h.mark)
		s.Free(h.p)
	}
}

func fillPiece(t *testing.T, p Piece, mark byte) {
	for off := 0; off < p.Size(); off += MinPiece {
		if mem := p.Bytes(); mem != nil {
			mem[off], mem[off+MinPiece-1] = mark, mark
			continue
		}
		_, err := p.WriteAt([]byte{mark}, off)
		require.NoError(t, err)
		_, err = p.WriteAt([]byte{mark}, off+MinPiece-1)
		require.NoError(t, err)
	}
}

func checkPiece(t *testing.T, p Piece, mark byte) {
	var b [1]byte
	for off := 0; off < p.Size(); off += MinPiece {
		for _, at := range []int{off, off + MinPiece - 1} {
			_, err := p.ReadAt(b[:], at)
			require.NoError(t, err)
			require.Equal(t, mark, b[0])
		}
	}
}

func TestManyGoroutinesNeverExceedTheLimit(t *testing.T) {
	s, fs := open(t, Options{Limit: 4 * mib, Map: true, FileSize: mib})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(uint64(g), 3))
			for range 300 {
				n := MinPiece << r.IntN(5)
				p, _, err := s.AllocWarm(n)
				if err != nil {
					if !errors.Is(err, ErrLimit) {
						panic(err)
					}
					continue
				}
				mem := p.Bytes()
				mem[0], mem[n-1] = byte(g), byte(g)
				if r.IntN(20) == 0 {
					_ = s.Trim(0)
				}
				if mem[0] != byte(g) || mem[n-1] != byte(g) {
					panic("somebody else wrote here")
				}
				s.Free(p)
			}
		}()
	}
	wg.Wait()
	require.LessOrEqual(t, s.Stats().Peak, int64(4*mib))
	require.Zero(t, s.Stats().Held)
	_, mappings := fs.Live()
	require.Equal(t, s.Stats().Files, mappings)
}
