package sys

import (
	"math"
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestAnonLeavesNoMappingBehind(t *testing.T) {
	fs := OS()
	before := countMappings(t)
	var all [][]byte
	for range 50 {
		for _, n := range []int{4096, 1 << 20, 4 << 20} {
			mem, err := fs.Anon(n)
			require.NoError(t, err)
			all = append(all, mem)
		}
	}
	for _, mem := range all {
		require.NoError(t, fs.Unmap(mem))
	}
	require.InDelta(t, before, countMappings(t), 10)
}

func TestErrorsCarryTheErrnoAndTheDirectory(t *testing.T) {
	fs := Default()
	if _, heap := fs.(*heapFS); heap {
		fs = OS()
	}
	_, err := fs.OpenTemp("/nonexistent/dir")
	require.ErrorIs(t, err, syscall.ENOENT)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "/nonexistent/dir")
	_, err = fs.Stat("/nonexistent/dir")
	require.ErrorIs(t, err, syscall.ENOENT)
}

type region struct {
	mem    []byte
	asked  int
	denies bool
}

func (r *region) Faulted(addr uintptr) bool {
	r.asked++
	lo := uintptr(unsafe.Pointer(&r.mem[0]))
	return !r.denies && addr >= lo && addr < lo+uintptr(len(r.mem))
}

func (r *region) store(i int) (err error) {
	defer Recover(&err, r, debug.SetPanicOnFault(true))
	r.mem[i] = 1
	return nil
}

func truncated(t *testing.T) *region {
	fs := OS()
	f, err := fs.OpenTemp(t.TempDir())
	require.NoError(t, err)
	mem, err := f.Map(0, 64<<10)
	require.NoError(t, err)
	require.NoError(t, f.Allocate(0, 64<<10))
	t.Cleanup(func() {
		require.NoError(t, f.Close())
		require.NoError(t, fs.Unmap(mem))
	})
	mem[40000] = 1
	require.NoError(t, f.Truncate(32<<10))
	return &region{mem: mem}
}

func TestAFaultBecomesAnError(t *testing.T) {
	r := truncated(t)
	require.NoError(t, r.store(100))
	require.Zero(t, r.asked)
	err := r.store(40000)
	require.ErrorIs(t, err, ErrFault)
	var fault *FaultError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, uintptr(unsafe.Pointer(&r.mem[0]))+40000, fault.Addr)
	require.Equal(t, 1, r.asked)
	require.ErrorContains(t, err, "access to mapped memory failed at 0x")
	require.False(t, debug.SetPanicOnFault(false), "the old setting is back")
}

func (r *region) copyOut(dst []byte) (err error) {
	defer Recover(&err, r, debug.SetPanicOnFault(true))
	copy(dst, r.mem)
	return nil
}

func TestAFaultInsideMemmoveBecomesAnError(t *testing.T) {
	r := truncated(t)
	require.ErrorIs(t, r.copyOut(make([]byte, 64<<10)), ErrFault)
}

func TestPopulateSaysWhatWouldFault(t *testing.T) {
	r := truncated(t)
	err := OS().Advise(r.mem, Populate)
	require.Error(t, err)
	require.ErrorIs(t, err, syscall.EFAULT)
}

func TestOtherPanicsPass(t *testing.T) {
	r := truncated(t)
	r.denies = true
	require.Panics(t, func() { _ = r.store(40000) })
	require.Panics(t, func() { _ = r.store(1 << 20) }, "out of range")
	require.PanicsWithValue(t, "mine", func() { _ = guarded(r, func() { panic("mine") }) })
	require.Panics(t, func() {
		_ = guarded(r, func() { var p *int; *p = 1 })
	})
	require.False(t, debug.SetPanicOnFault(false))
}

func guarded(r *region, f func()) (err error) {
	defer Recover(&err, r, debug.SetPanicOnFault(true))
	f()
	return nil
}

func TestAnonUnaddressableSize(t *testing.T) {
	_, err := OS().Anon(math.MaxInt / 4 &^ (2<<20 - 1))
	require.ErrorIs(t, err, syscall.ENOMEM)
}

func TestGuardDoesNotAllocate(t *testing.T) {
	r := &region{mem: make([]byte, 10)}
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = r.store(1) }))
}

func BenchmarkGuard(b *testing.B) {
	r := &region{mem: make([]byte, 10)}
	b.Run("impl=guarded", func(b *testing.B) {
		for b.Loop() {
			_ = r.store(1)
		}
	})
	b.Run("impl=bare", func(b *testing.B) {
		for b.Loop() {
			_ = r.bare(1)
		}
	})
}

func (r *region) bare(i int) error {
	r.mem[i] = 1
	return nil
}

func TestFailuresOfTheKernelComeOut(t *testing.T) {
	fs := OS()
	dir := t.TempDir()
	f, err := fs.OpenTemp(dir)
	require.NoError(t, err)
	_, err = f.ReadAt(make([]byte, 1), -1)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = f.WriteAt(make([]byte, 1), -1)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorIs(t, f.Allocate(-1, 1), syscall.EINVAL)
	require.ErrorIs(t, f.Punch(0, 0), syscall.EINVAL)
	require.ErrorIs(t, f.Truncate(-1), syscall.EINVAL)
	_, err = f.Map(1, 4096)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, dir)
	require.NoError(t, f.Close())
	_, err = f.Size()
	require.ErrorIs(t, err, syscall.EBADF)
	require.ErrorIs(t, f.Close(), syscall.EBADF)
	require.Error(t, f.DisableCoW())
	mem := make([]byte, 3*4096)
	unaligned := mem[1 : 2*4096]
	require.ErrorIs(t, fs.Unmap(unaligned), syscall.EINVAL)
	require.ErrorIs(t, fs.Advise(unaligned, Huge), syscall.EINVAL)
	require.NoError(t, fs.Advise(nil, Huge))
}
