package legacy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

var modelCols = []Column{{Width: 2}, {}, {Width: 6}, {Width: 8}}

// randomBatch has n rows of few distinct values, a tenth of them NULL.
func randomBatch(rnd *rand.Rand, n int) *Batch {
	b := newBatch(modelCols)
	for k := range n {
		for c := range modelCols {
			v := &b.Cols[c]
			v.setValid(k, rnd.IntN(10) > 0)
			x := rnd.Int64N(5) - 2
			if modelCols[c].Width > 0 {
				v.I64 = append(v.I64, x)
				continue
			}
			v.Bytes = append(v.Bytes, "\x00ab|cd"[:x+2]...)
			v.Off = append(v.Off, int32(len(v.Bytes)))
		}
	}
	b.N = n
	return b
}

// text is an unambiguous form of row k.
func text(cols []Column, b *Batch, k int) (s string) {
	for c := range cols {
		v := &b.Cols[c]
		switch {
		case v.null(k):
			s += "NULL,"
		case cols[c].Width > 0:
			s += fmt.Sprintf("%d,", v.I64[k])
		default:
			s += fmt.Sprintf("%q,", v.bytes(k))
		}
	}
	return s
}

func TestAgainstModel(t *testing.T) {
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		cfg := Config{Policy: Policy(seed % 2), MaxRAM: rnd.Int64N(2 * miB), Dir: t.TempDir(), Cycles: 1 + rnd.IntN(3)}
		tab, err := Create(t.Context(), cfg, modelCols)
		require.NoError(t, err)
		var want []string
		seen := map[string]bool{}
		for range 3 {
			b := randomBatch(rnd, 4000)
			require.NoError(t, tab.Insert(t.Context(), b))
			for k := range b.N {
				if s := text(modelCols, b, k); !seen[s] {
					seen[s] = true
					want = append(want, s)
				}
			}
		}
		require.Equal(t, want, allRows(t, tab))
		require.NoError(t, tab.Drop())
		require.Zero(t, tab.alloc.store.live)
		r := tab.Result()
		require.Equal(t, len(want), r.Unique)
		require.Equal(t, 12000, r.Unique+r.Duplicates)
	}
}

func allRows(t testing.TB, tab *Table) (rows []string) {
	require.NoError(t, tab.Scan(t.Context(), func(b *Batch) error {
		for k := range b.N {
			rows = append(rows, text(tab.cols, b, k))
		}
		return nil
	}))
	return rows
}

// The last element may be alone on its page when its row is rejected.
func TestElementPages(t *testing.T) {
	tab, err := Create(t.Context(), Config{MaxRAM: 64 * miB, Dir: t.TempDir()}, []Column{{Width: 8}})
	require.NoError(t, err)
	defer tab.Drop()
	b := newBatch(tab.cols)
	for i := range 2 * pageElements {
		b.Cols[0].I64 = append(b.Cols[0].I64, int64(i))
	}
	b.N = 2 * pageElements
	require.NoError(t, tab.Insert(t.Context(), b))
	full := tab.alloc.counts
	require.NoError(t, tab.Insert(t.Context(), b))
	require.Equal(t, full.files, tab.alloc.counts.files)
	require.Len(t, allRows(t, tab), 2*pageElements)
}

func TestSizes(t *testing.T) {
	require.Equal(t, 65520, pageSize)
	require.Equal(t, 2047, pageElements)
	b := loadJoinit(t, 1)
	require.Equal(t, 128, chunkSize(rowSize(joinitCols, b, 0)))
	require.Equal(t, 40, chunkSize(nodeSize))
	require.Equal(t, 512*miB, blockSize(40, 100))
	require.Equal(t, 3*miB+blockHeader, blockSize(0, 3*miB))
}

func TestIntegersKeepTheirSign(t *testing.T) {
	c := Column{Width: 3, Unit: 1e6}
	for _, x := range []int64{0, 1, -1, 3020399, -3020399} {
		var mem [3]byte
		putValue(mem[:], &c, &Vector{I64: []int64{x * 1e6}}, 0)
		require.Equal(t, x, c.extend(mem[:]))
		require.Equal(t, x*1e6, c.integer(x))
	}
	c = Column{Width: 4, Unsigned: true}
	require.EqualValues(t, 1<<32-1, c.extend([]byte{255, 255, 255, 255}))
}

// A packed moment has whole seconds above 24 bits of microseconds.
func TestPackedIntegers(t *testing.T) {
	x := int64(123456789)<<24 | 987650
	for unit, width := range map[int64]int{1: 6, 10: 6, 1e6 << 3: 4} {
		c := Column{Width: width, Unit: unit, Packed: true, Unsigned: true}
		in := x
		if unit == 1e6<<3 {
			in = x >> 27 << 27 // whole steps of eight seconds
		}
		mem := make([]byte, width)
		putValue(mem, &c, &Vector{I64: []int64{in}}, 0)
		require.Equal(t, in, c.integer(c.extend(mem)))
	}
}

// Floats are equal as numbers, strings by their keys; the first row stays.
func TestEqualityIsTheColumns(t *testing.T) {
	lower := func(dst, v []byte) []byte { return append(dst, bytes.ToLower(v)...) }
	cols := []Column{{Width: 4, Float: true}, {Width: 8, Float: true}, {Key: lower}}
	b := newBatch(cols)
	for _, r := range []struct {
		f float32
		s string
	}{{0, "a"}, {float32(math.Copysign(0, -1)), "A"}, {1.5, "a"}, {1.5, "B"}, {1.5, "b"}} {
		for c := range 2 {
			b.Cols[c].F64 = append(b.Cols[c].F64, float64(r.f))
		}
		b.Cols[2].Bytes = append(b.Cols[2].Bytes, r.s...)
		b.Cols[2].Off = append(b.Cols[2].Off, int32(len(b.Cols[2].Bytes)))
		b.N++
	}
	for c := range b.Cols {
		b.Cols[c].Valid = nil
	}
	tab, err := Create(t.Context(), Config{MaxRAM: miB, Dir: t.TempDir()}, cols)
	require.NoError(t, err)
	require.NoError(t, tab.Insert(t.Context(), b))
	require.NoError(t, tab.Scan(t.Context(), func(out *Batch) error {
		require.Equal(t, []float64{0, 1.5, 1.5}, out.Cols[0].F64)
		require.Equal(t, []float64{0, 1.5, 1.5}, out.Cols[1].F64)
		require.Equal(t, "aaB", string(out.Cols[2].Bytes))
		return nil
	}))
	require.NoError(t, tab.Drop())
}

// The recording accounts for every block, by the path that made it.
func TestRecords(t *testing.T) {
	b := loadJoinit(t, 1)
	b.N = 10000
	cfg := Config{MaxRAM: miB, Dir: t.TempDir(), Cycles: 2, Record: true}
	tab, err := Create(t.Context(), cfg, joinitCols)
	require.NoError(t, err)
	require.NoError(t, tab.Insert(t.Context(), b))
	require.NoError(t, tab.Insert(t.Context(), b))
	require.NoError(t, tab.Drop())
	var blocks, files, bytes int64
	paths := map[string]bool{}
	for _, r := range tab.Records() {
		blocks += r.Blocks
		if r.File {
			files += r.Blocks
			bytes += r.Bytes
		}
		for frames := runtime.CallersFrames(r.Stack); ; {
			f, more := frames.Next()
			paths[f.Function[strings.LastIndex(f.Function, "/")+1:]] = true
			if !more {
				break
			}
		}
	}
	res := tab.Result()
	require.Positive(t, files)
	require.EqualValues(t, res.Blocks, blocks)
	require.EqualValues(t, res.Files, files)
	require.Equal(t, res.Filled, bytes)
	require.True(t, paths["legacy.(*allocator).makeOwn"], paths)
	require.True(t, paths["legacy.(*Table).insert"])
	require.False(t, paths["legacy.recorder.take"])
}

func TestConfigOutOfRange(t *testing.T) {
	for _, cfg := range []Config{{MaxRAM: -1}, {Cycles: -2}, {RowSlack: 4}} {
		_, err := Create(t.Context(), cfg, joinitCols)
		require.ErrorContains(t, err, "out of range")
	}
}

func TestCancelStopsWithinACycle(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := Config{MaxRAM: 12 * miB, Dir: t.TempDir(), Cycles: Full}
	cfg.OnFile = func(files int) {
		if files == 3 {
			cancel()
		}
	}
	tab, err := Create(ctx, cfg, joinitCols)
	require.NoError(t, err)
	b := loadJoinit(t, 32768)
	require.NoError(t, tab.Insert(ctx, b))
	require.ErrorIs(t, tab.Insert(ctx, b), context.Canceled)
	require.Equal(t, 3, tab.Result().Files)
	require.NoError(t, tab.Drop())
	require.Zero(t, tab.alloc.store.live)
	requireEmpty(t, cfg.Dir)
}

func TestCancelStopsWithinAFill(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := systemCalls()
	writes := 0
	c.write = func(fd int, p []byte) (int, error) {
		if writes++; writes == 300 {
			cancel()
		}
		return unix.Write(fd, p)
	}
	_, err := mappedFile(ctx, c, t.TempDir(), 8*miB)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 512, writes)
}

func requireEmpty(t testing.TB, dir string) {
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// faulty fails the n-th of all calls with errno; 0 fails none.
type faulty struct {
	calls
	n, fail int
	fds     int
}

func newFaulty(fail int) *faulty {
	f := &faulty{fail: fail}
	real := systemCalls()
	f.calls = calls{
		open: func(dir string) (int, error) {
			if f.fails() {
				return -1, unix.EMFILE
			}
			f.fds++
			return real.open(dir)
		},
		write: func(fd int, p []byte) (int, error) {
			if f.fails() {
				return -1, unix.ENOSPC
			}
			return real.write(fd, p)
		},
		mmap: func(fd, size, prot, flags int) ([]byte, error) {
			if f.fails() {
				return nil, unix.ENOMEM
			}
			return real.mmap(fd, size, prot, flags)
		},
		close: func(fd int) error {
			f.fds--
			return errors.Join(real.close(fd), f.failure(unix.EIO))
		},
		munmap: func(mem []byte) error {
			return errors.Join(real.munmap(mem), f.failure(unix.EINVAL))
		},
	}
	return f
}

func (f *faulty) fails() bool { f.n++; return f.n == f.fail }

func (f *faulty) failure(err error) error {
	if f.fails() {
		return err
	}
	return nil
}

// tiny makes a table that needs two files and a cycle, and drops it.
func tiny(t testing.TB, f *faulty) (dropped *Table, err error) {
	cfg := Config{MaxRAM: 0, Dir: t.TempDir(), Cycles: 2}
	ctx := t.Context()
	tab, err := create(ctx, cfg.withDefaults(), []Column{{}}, f.calls)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tab.Drop()) }()
	for i := range 5 {
		if err := tab.Insert(ctx, wide(i%4, 900<<10)); err != nil {
			return tab, err
		}
	}
	return tab, nil
}

// wide is one row of n bytes that depends on i.
func wide(i, n int) *Batch {
	s := make([]byte, n)
	binary.LittleEndian.PutUint32(s, uint32(i))
	return &Batch{N: 1, Cols: []Vector{{Off: []int32{0, int32(n)}, Bytes: s}}}
}

func TestEveryCallFails(t *testing.T) {
	f := newFaulty(0)
	_, err := tiny(t, f)
	require.NoError(t, err)
	total := f.n
	require.Greater(t, total, 700)
	for n := 1; n <= total; n++ {
		if n > 20 && n < total-20 && n%97 != 0 {
			continue // writes, all alike
		}
		f := newFaulty(n)
		tab, err := tiny(t, f)
		require.Error(t, err, "call %d", n)
		require.Zero(t, f.fds, "call %d", n)
		if tab != nil && !errors.Is(err, unix.EINVAL) {
			require.Zero(t, tab.alloc.store.live, "call %d", n)
		}
	}
}

func TestErrnoIsMatched(t *testing.T) {
	c := systemCalls()
	c.write = func(int, []byte) (int, error) { return -1, unix.ENOSPC }
	_, err := mappedFile(t.Context(), c, t.TempDir(), miB)
	require.ErrorIs(t, err, unix.ENOSPC)
	require.ErrorContains(t, err, "1048576 bytes")
	_, err = mappedFile(t.Context(), systemCalls(), t.TempDir()+"/none", miB)
	require.ErrorIs(t, err, unix.ENOENT)
}

func TestUnlinkedFile(t *testing.T) {
	dir := t.TempDir()
	fd, err := openUnlinked(dir)
	require.NoError(t, err)
	requireEmpty(t, dir)
	require.NoError(t, unix.Close(fd))
	_, err = openUnlinked(dir + "/none")
	require.Error(t, err)
}
