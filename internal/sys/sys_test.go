package sys

import (
	"errors"
	"io"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// each runs a test on the real system, on the heap, and through Faulty.
func each(t *testing.T, test func(t *testing.T, fs FS)) {
	for name, fs := range map[string]FS{"os": OS(), "heap": Heap(), "faulty": NewFaulty(OS())} {
		t.Run(name, func(t *testing.T) { test(t, fs) })
	}
}

func TestFileReadsBackWhatWasWritten(t *testing.T) {
	each(t, func(t *testing.T, fs FS) {
		f, err := fs.OpenTemp(t.TempDir())
		require.NoError(t, err)
		n, err := f.WriteAt([]byte("hello"), 10)
		require.NoError(t, err)
		require.Equal(t, 5, n)
		buf := make([]byte, 20)
		n, err = f.ReadAt(buf, 8)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, "\x00\x00hello", string(buf[:n]))
		require.NoError(t, f.Punch(0, 4096))
		n, err = f.ReadAt(buf[:5], 10)
		require.NoError(t, err)
		require.Equal(t, make([]byte, 5), buf[:n])
		require.NoError(t, f.Truncate(12))
		size, err := f.Size()
		require.NoError(t, err)
		require.EqualValues(t, 12, size)
		n, err = f.ReadAt(buf, 0)
		require.Equal(t, 12, n)
		require.ErrorIs(t, err, io.EOF)
		require.NoError(t, f.Close())
	})
}

func TestMappingAliasesTheFile(t *testing.T) {
	each(t, func(t *testing.T, fs FS) {
		f, err := fs.OpenTemp(t.TempDir())
		require.NoError(t, err)
		mem, err := f.Map(0, 1<<20)
		require.NoError(t, err)
		require.Len(t, mem, 1<<20)
		require.NoError(t, f.Allocate(4096, 8192))
		require.NoError(t, fs.Advise(mem[4096:12288], Populate))
		mem[5000] = 7
		var b [1]byte
		_, err = f.ReadAt(b[:], 5000)
		require.NoError(t, err)
		require.Equal(t, byte(7), b[0])
		_, err = f.WriteAt([]byte{9}, 5001)
		require.NoError(t, err)
		require.Equal(t, byte(9), mem[5001])
		require.NoError(t, f.Close())
		require.Equal(t, byte(7), mem[5000], "the mapping outlives the descriptor")
		require.NoError(t, fs.Unmap(mem))
	})
}

func TestAnonIsAlignedAndZero(t *testing.T) {
	each(t, func(t *testing.T, fs FS) {
		for _, n := range []int{4096, 65536, 2 << 20, 6 << 20} {
			mem, err := fs.Anon(n)
			require.NoError(t, err)
			require.Len(t, mem, n)
			mem[0], mem[n-1] = 1, 1
			if _, heap := fs.(*heapFS); !heap {
				align := uintptr(min(n, 2<<20))
				require.Zero(t, uintptr(unsafe.Pointer(&mem[0]))%align)
			}
			require.NoError(t, fs.Advise(mem, Huge))
			require.NoError(t, fs.Advise(mem, NoHuge))
			require.NoError(t, fs.Advise(mem, NoDump))
			require.NoError(t, fs.Advise(mem, NoFork))
			require.NoError(t, fs.Advise(mem, Release))
			require.Zero(t, mem[0])
			require.NoError(t, fs.Unmap(mem))
		}
		for _, n := range []int{0, -1, 12288, 3 << 20} {
			_, err := fs.Anon(n)
			require.ErrorIs(t, err, syscall.EINVAL)
		}
	})
}

func TestCallsAreCounted(t *testing.T) {
	each(t, func(t *testing.T, fs FS) {
		old := fs.Calls()
		f, err := fs.OpenTemp(t.TempDir())
		require.NoError(t, err)
		require.NoError(t, f.Allocate(0, 4096))
		mem, err := f.Map(0, 4096)
		require.NoError(t, err)
		require.NoError(t, fs.Advise(mem, Populate))
		require.NoError(t, fs.Advise(mem, NoDump))
		require.NoError(t, fs.Unmap(mem))
		require.NoError(t, f.Close())
		got := fs.Calls().Sub(old)
		require.Equal(t, Counts{OpOpen: 1, OpAllocate: 1, OpMap: 1, OpPopulate: 1, OpAdvise: 1, OpUnmap: 1, OpClose: 1}, got)
		require.EqualValues(t, 7, got.Total())
	})
}

func TestOpNames(t *testing.T) {
	seen := map[string]bool{}
	for op := Op(0); op < NumOps; op++ {
		require.NotEmpty(t, op.String())
		require.False(t, seen[op.String()])
		seen[op.String()] = true
	}
	require.Equal(t, "Op(-1)", Op(-1).String())
}

func TestStat(t *testing.T) {
	each(t, func(t *testing.T, fs FS) {
		d, err := fs.Stat(t.TempDir())
		require.NoError(t, err)
		require.NotEmpty(t, d.Type)
		require.Positive(t, d.Free)
		require.GreaterOrEqual(t, d.Total, d.Free)
	})
}

func TestHeapFileMappedOnceCannotGrowBeyondItsMapping(t *testing.T) {
	f, err := Heap().OpenTemp("")
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("abc"), 0)
	require.NoError(t, err)
	mem, err := f.Map(0, 4096)
	require.NoError(t, err)
	require.Equal(t, "abc", string(mem[:3]))
	require.NoError(t, f.Allocate(0, 4096))
	require.ErrorIs(t, f.Allocate(0, 4097), syscall.EFBIG)
	require.ErrorIs(t, f.Truncate(5000), syscall.EFBIG)
	_, err = f.Map(0, 8192)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.ErrorIs(t, f.Truncate(-1), syscall.EINVAL)
	require.ErrorIs(t, f.Allocate(-1, 5), syscall.EINVAL)
	require.ErrorIs(t, f.Punch(-1, 5), syscall.EINVAL)
	require.ErrorIs(t, f.DisableCoW(), errors.ErrUnsupported)
	_, err = f.ReadAt(mem, -1)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = f.Map(-1, 1)
	require.ErrorIs(t, err, syscall.EINVAL)
}

func TestFaultyFailsTheCallsThatItWasToldTo(t *testing.T) {
	fs := NewFaulty(Heap())
	fs.FailAt(OpOpen, 2, syscall.EMFILE)
	_, err := fs.OpenTemp("")
	require.NoError(t, err)
	_, err = fs.OpenTemp("")
	require.ErrorIs(t, err, syscall.EMFILE)
	f, err := fs.OpenTemp("")
	require.NoError(t, err)

	fs.FailAny(3, syscall.EIO)
	require.NoError(t, f.Allocate(0, 4096))
	_, err = f.WriteAt([]byte("x"), 0)
	require.NoError(t, err)
	_, err = f.ReadAt(make([]byte, 1), 0)
	require.ErrorIs(t, err, syscall.EIO)
	_, err = f.ReadAt(make([]byte, 1), 0)
	require.NoError(t, err)

	fs.FailAll(OpAllocate, syscall.EDQUOT)
	require.ErrorIs(t, f.Allocate(0, 1), syscall.EDQUOT)
	require.ErrorIs(t, f.Allocate(0, 1), syscall.EDQUOT)
	fs.Heal()
	require.NoError(t, f.Allocate(0, 1))
}

// Every kind of call can fail, and Unmap and Close still do their work.
func TestFaultyCoversEveryKind(t *testing.T) {
	for op := Op(0); op < NumOps; op++ {
		fs := NewFaulty(Heap())
		file, err := fs.OpenTemp("")
		require.NoError(t, err)
		mem, err := file.Map(0, 4096)
		require.NoError(t, err)
		fs.FailAll(op, syscall.EIO)
		_, errOpen := fs.OpenTemp("")
		_, errStat := fs.Stat("")
		_, errAnon := fs.Anon(4096)
		_, errMap := file.Map(0, 4096)
		_, errRead := file.ReadAt(nil, 0)
		_, errWrite := file.WriteAt(nil, 0)
		_, errSize := file.Size()
		errs := map[Op]error{
			OpOpen: errOpen, OpStat: errStat, OpAnon: errAnon, OpMap: errMap, OpRead: errRead, OpWrite: errWrite, OpSize: errSize,
			OpAdvise: fs.Advise(mem, Huge), OpPopulate: fs.Advise(mem, Populate),
			OpAllocate: file.Allocate(0, 1), OpPunch: file.Punch(0, 1), OpTruncate: file.Truncate(0),
			OpDisableCoW: file.DisableCoW(), OpUnmap: fs.Unmap(mem), OpClose: file.Close(),
		}
		require.Len(t, errs, int(NumOps))
		require.ErrorIs(t, errs[op], syscall.EIO, op)
		delete(errs, op)
		for other, err := range errs {
			require.NotErrorIs(t, err, syscall.EIO, other)
		}
		_, errOpen = fs.Stat("")
		require.Equal(t, op == OpStat, errOpen != nil)
	}
}

func TestFaultyCountsWhatIsOpen(t *testing.T) {
	fs := NewFaulty(Heap())
	f, err := fs.OpenTemp("")
	require.NoError(t, err)
	mem, err := f.Map(0, 4096)
	require.NoError(t, err)
	anon, err := fs.Anon(4096)
	require.NoError(t, err)
	files, mappings := fs.Live()
	require.Equal(t, []int{1, 2}, []int{files, mappings})
	fs.FailAll(OpUnmap, syscall.ENOMEM)
	require.ErrorIs(t, fs.Unmap(mem), syscall.ENOMEM)
	require.ErrorIs(t, fs.Unmap(anon), syscall.ENOMEM)
	require.NoError(t, f.Close())
	files, mappings = fs.Live()
	require.Equal(t, []int{0, 0}, []int{files, mappings})
}

func TestFaultyDeviceKeepsAPartOfWhatFailed(t *testing.T) {
	fs := NewFaulty(Heap())
	fs.LimitFree(40 << 10)
	f, err := fs.OpenTemp("")
	require.NoError(t, err)
	require.NoError(t, f.Allocate(0, 16<<10))
	require.NoError(t, f.Allocate(0, 16<<10), "what is there costs nothing")
	require.EqualValues(t, 24<<10, fs.Free())
	require.ErrorIs(t, f.Allocate(16<<10, 32<<10), syscall.ENOSPC)
	require.EqualValues(t, 0, fs.Free())
	n, err := f.WriteAt(make([]byte, 8192), 36<<10)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 4096, n)
	require.NoError(t, f.Truncate(16<<10))
	require.EqualValues(t, 24<<10, fs.Free())
	d, err := fs.Stat("")
	require.NoError(t, err)
	require.EqualValues(t, 24<<10, d.Free)
	require.NoError(t, f.Punch(0, 8192))
	require.EqualValues(t, 32<<10, fs.Free())
	require.NoError(t, f.Close())
	require.EqualValues(t, 40<<10, fs.Free())
}

// region is a Faulter of one mapping.
//
//go:noinline
func TestWhereBytesLie(t *testing.T) {
	mem := make([]byte, 100)
	off, ok := Offset(mem, mem[40:50])
	require.True(t, ok)
	require.Equal(t, 40, off)
	_, ok = Offset(mem[:40], mem[40:])
	require.False(t, ok)
	_, ok = Offset(nil, mem)
	require.False(t, ok)
	require.True(t, Contains(mem, uintptr(unsafe.Pointer(&mem[99]))))
	require.False(t, Contains(mem[:99], uintptr(unsafe.Pointer(&mem[99]))))
	require.False(t, Contains(nil, 0))
}
