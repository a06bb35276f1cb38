package temptable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/stretchr/testify/require"
)

// blobBudgets are budgets so small that rows leave RAM at once.
var blobBudgets = []benchMode{
	{"ram", Options{MaxRAM: 64 << 20, MaxMmap: Disabled, MaxDisk: Disabled}},
	{"mmap", Options{MaxRAM: 256 << 10, MaxMmap: 1 << 30, MaxDisk: Disabled}},
	{"disk", Options{MaxRAM: 512 << 10, MaxMmap: Disabled}},
}

func onTinyBudgets(t *testing.T, f func(t *testing.T, owner *Owner)) {
	for _, m := range blobBudgets {
		t.Run(m.name, func(t *testing.T) {
			_, owner := openTest(t, m.o)
			f(t, owner)
		})
	}
}

// pattern is n bytes, the last 8 of which are the seed.
type pattern struct {
	seed uint64
	n    int64
	at   int64
}

// noise is what patterns repeat.
var noise = func() []byte {
	b := make([]byte, 1<<16)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(b)
	return b
}()

func (p *pattern) Read(b []byte) (int, error) {
	if p.at == p.n {
		return 0, io.EOF
	}
	k := copy(b[:min(int64(len(b)), p.n-p.at)], noise[p.at%int64(len(noise)):])
	for i := max(p.at, p.n-8); i < p.at+int64(k); i++ {
		b[i-p.at] = byte(p.seed >> (8 * (p.n - 1 - i)))
	}
	p.at += int64(k)
	return k, nil
}

func (p *pattern) text() string {
	b, _ := io.ReadAll(&pattern{seed: p.seed, n: p.n})
	return string(b)
}

var blobCols = []Column{{Name: "id", Type: TypeInt}, {Name: "a", Type: TypeBlob}, {Name: "v", Type: TypeVarchar, Length: 20}, {Name: "b", Type: TypeBlob}}

func blobTable(t *testing.T, owner *Owner, opts ...SchemaOption) *Table {
	s, err := NewSchema(blobCols, opts...)
	require.NoError(t, err)
	return createTest(t, owner, s)
}

// A value has one hash and one equality, whether it was streamed or set, at
// every length around the limits of pieces.
func TestStreamedEqualsSet(t *testing.T) {
	onTinyBudgets(t, func(t *testing.T, owner *Owner) {
		for _, opts := range [][]SchemaOption{{Distinct()}, {Distinct(1, 3)}, {Distinct(3)}} {
			tab := blobTable(t, owner, opts...)
			w := tab.Writer(context.Background())
			for _, n := range []int64{0, 1, 4095, 4096, 4097, 2*pieceData - 1, 2 * pieceData, 2*pieceData + 1, 100_000} {
				for _, streamedFirst := range []bool{true, false} {
					seed := rand.Uint64() | 1<<63
					set := func(streamed bool) (RowID, bool) {
						w.SetInt(0, n)
						p := &pattern{seed: seed, n: n}
						if streamed {
							w.SetReader(1, iotest.HalfReader(&pattern{seed: 1, n: n}))
							w.SetReader(3, p)
						} else {
							w.SetString(1, (&pattern{seed: 1, n: n}).text())
							w.SetString(3, p.text())
						}
						id, added, err := w.Insert()
						require.NoError(t, err)
						return id, added
					}
					id, added := set(streamedFirst)
					require.True(t, added || n < 2)
					again, added := set(!streamedFirst)
					require.False(t, added, "%d bytes", n)
					require.Equal(t, id, again)
					again, added = set(streamedFirst)
					require.False(t, added, "%d bytes", n)
					require.Equal(t, id, again)
				}
			}
			require.NoError(t, tab.Drop())
		}
	})
}

// TestLargeModel holds tables with streamed values against a map, through all
// that rows go through: duplicates, deletes, updates, savepoints, scans.
func TestLargeModel(t *testing.T) {
	onTinyBudgets(t, func(t *testing.T, owner *Owner) {
		for seed := range uint64(rounds(10)) {
			m := &largeModel{t: t, rng: rand.New(rand.NewPCG(seed, 3)), rows: map[RowID][4]string{}}
			m.tab = blobTable(t, owner, Distinct(0, 1, 3))
			if seed%2 == 0 {
				_, err := m.tab.AddIndex(context.Background(), IndexSpec{Name: "b", Key: Asc(3), Unique: false})
				require.NoError(t, err)
				_, err = m.tab.AddIndex(context.Background(), IndexSpec{Name: "id", Key: Asc(0), Ordered: true})
				require.NoError(t, err)
			}
			m.run(40)
			require.NoError(t, m.tab.Drop())
		}
	})
}

type largeModel struct {
	t    *testing.T
	rng  *rand.Rand
	tab  *Table
	rows map[RowID][4]string
}

func (m *largeModel) run(steps int) {
	ctx := context.Background()
	w, u := m.tab.Writer(ctx), m.tab.Updater(ctx)
	for range steps {
		switch m.rng.IntN(8) {
		case 0:
			for id := range m.rows {
				require.NoError(m.t, m.tab.Delete(ctx, id))
				delete(m.rows, id)
				break
			}
		case 1:
			m.update(u)
		case 2:
			m.rollback(w)
		default:
			m.insert(w)
		}
		m.check(m.rng.IntN(2) == 0)
	}
}

func (m *largeModel) value() string {
	n := pick(m.rng, 0, 3, 4096, 4097, 9000, 30_000)
	return (&pattern{seed: m.rng.Uint64N(3), n: int64(n)}).text()
}

func (m *largeModel) insert(w *Writer) {
	row := [4]string{fmt.Sprint(m.rng.IntN(3)), m.value(), "v", m.value()}
	w.SetInt(0, int64(row[0][0]-'0'))
	w.SetString(2, row[2])
	for _, col := range []int{3, 1} {
		if m.rng.IntN(4) == 0 {
			w.SetString(col, row[col])
		} else {
			w.SetReader(col, strings.NewReader(row[col]))
		}
	}
	id, added, err := w.Insert()
	require.NoError(m.t, err)
	dup := RowID(0)
	for k, have := range m.rows {
		if have[0] == row[0] && have[1] == row[1] && have[3] == row[3] {
			dup = k
		}
	}
	require.Equal(m.t, dup == 0, added)
	if added {
		m.rows[id] = row
	} else {
		require.Equal(m.t, dup, id)
	}
}

func (m *largeModel) update(u *Updater) {
	for id, row := range m.rows {
		_, err := u.Load(id)
		require.NoError(m.t, err)
		row[2] += "u"
		if len(row[2]) > 20 {
			row[2] = "w"
		}
		u.SetString(2, row[2])
		ok, err := u.Update()
		require.NoError(m.t, err)
		require.True(m.t, ok)
		m.rows[id] = row
		return
	}
}

// rollback does some changes and takes them back.
func (m *largeModel) rollback(w *Writer) {
	s, err := m.tab.Savepoint()
	require.NoError(m.t, err)
	before := map[RowID][4]string{}
	for k, v := range m.rows {
		before[k] = v
	}
	for range 3 {
		m.insert(w)
	}
	for id := range m.rows {
		require.NoError(m.t, m.tab.Delete(context.Background(), id))
		delete(m.rows, id)
		break
	}
	if m.rng.IntN(2) == 0 {
		require.NoError(m.t, s.RollbackTo(context.Background()))
		m.rows = before
	}
	require.NoError(m.t, s.Release())
}

func (m *largeModel) check(skip bool) {
	ctx := context.Background()
	require.EqualValues(m.t, len(m.rows), m.tab.Len())
	c := m.tab.Cursor(ScanOptions{SkipLarge: skip})
	defer c.Close()
	n := 0
	for {
		ok, err := c.Next(ctx)
		require.NoError(m.t, err)
		if !ok {
			break
		}
		n++
		row, ok := m.rows[c.ID()]
		require.True(m.t, ok)
		require.Equal(m.t, row[2], c.Row().String(2))
		for _, col := range []int{1, 3} {
			require.EqualValues(m.t, len(row[col]), c.Row().Len(col))
			if skip {
				var b bytes.Buffer
				k, err := c.Stream(ctx, col, &b)
				require.NoError(m.t, err)
				require.EqualValues(m.t, len(row[col]), k)
				require.True(m.t, row[col] == b.String())
			} else {
				require.True(m.t, row[col] == c.Row().String(col))
			}
		}
	}
	require.Equal(m.t, len(m.rows), n)
	var batch Batch
	c2 := m.tab.Cursor(ScanOptions{})
	defer c2.Close()
	k, err := c2.ReadBatch(ctx, &batch)
	require.NoError(m.t, err)
	require.Equal(m.t, len(m.rows), k)
}

// A reader's error, a canceled context, a value above Length and a panic leave
// the table as it was.
func TestStreamedFailures(t *testing.T) {
	boom := errors.New("boom")
	onTinyBudgets(t, func(t *testing.T, owner *Owner) {
		cols := append([]Column(nil), blobCols...)
		cols[1].Length = 50_000
		s, err := NewSchema(cols, Distinct())
		require.NoError(t, err)
		tab := createTest(t, owner, s)
		ctx, cancel := context.WithCancel(context.Background())
		w := tab.Writer(ctx)
		end := tab.space.Arena.End()
		fails := func(want error, col int, r io.Reader) {
			w.SetReader(3, &pattern{n: 10_000})
			w.SetReader(col, r)
			_, _, err := w.Insert()
			require.ErrorIs(t, err, want)
			require.Equal(t, end, tab.space.Arena.End())
		}
		fails(boom, 1, iotest.ErrReader(boom))
		fails(boom, 1, io.MultiReader(&pattern{n: 20_000}, iotest.ErrReader(boom)))
		fails(ErrTooLong, 1, &pattern{n: 50_001})
		fails(ErrTooLong, 2, &pattern{n: 21})
		fails(ErrType, 0, &pattern{n: 1})
		fails(ErrColumn, 9, &pattern{n: 1})
		require.PanicsWithValue(t, "boom", func() {
			w.SetReader(1, io.MultiReader(&pattern{n: 20_000}, panics{}))
			_, _, _ = w.Insert()
		})
		require.Equal(t, end, tab.space.Arena.End())
		w.SetReader(1, &pattern{n: 50_000})
		_, added, err := w.Insert()
		require.NoError(t, err, "the table goes on")
		require.True(t, added)
		end = tab.space.Arena.End()
		cancel()
		fails(context.Canceled, 1, &pattern{n: 50_000})
		require.EqualValues(t, 1, tab.Len())
	})
}

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("boom") }

// Every system call fails once while a value is streamed in and out.
func TestStreamedCallsFail(t *testing.T) {
	for n := int64(1); ; n++ {
		fs := sys.NewFaulty(sys.Default())
		eng, err := Open(Options{MaxRAM: 128 << 10, MaxMmap: 64 << 10, Dir: t.TempDir(), fs: fs})
		require.NoError(t, err)
		owner, err := eng.NewOwner("owner", Limits{})
		require.NoError(t, err)
		before := fs.Calls().Total()
		fs.FailAny(n, syscall.EIO)
		tab := blobTable(t, owner, Distinct())
		w := tab.Writer(context.Background())
		for range 4 {
			w.SetReader(1, &pattern{seed: 7, n: 150_000})
			_, _, err := w.Insert()
			if err == nil {
				err = streamSame(tab)
			}
			if errors.Is(err, ErrTableFailed) {
				break
			}
		}
		if err := eng.Close(); err != nil {
			require.ErrorIs(t, err, syscall.EIO)
		}
		files, mappings := fs.Live()
		require.Zero(t, files)
		require.Zero(t, mappings)
		if fs.Calls().Total()-before < n {
			require.Greater(t, n, int64(5))
			t.Logf("%d calls", n-1)
			return
		}
	}
}

// streamSame reads the only row's value.
func streamSame(tab *Table) error {
	c := tab.Cursor(ScanOptions{SkipLarge: true})
	defer c.Close()
	if _, err := c.Next(context.Background()); err != nil {
		return err
	}
	d := &differs{want: pattern{seed: 7, n: 150_000}}
	n, err := c.Stream(context.Background(), 1, d)
	if err == nil && (d.bad || n != 150_000) {
		err = errors.New("other bytes")
	}
	return err
}

// differs notes whether what is written is the pattern.
type differs struct {
	want pattern
	bad  bool
}

func (d *differs) Write(p []byte) (int, error) {
	want := make([]byte, len(p))
	if _, err := io.ReadFull(&d.want, want); err != nil || !bytes.Equal(p, want) {
		d.bad = true
	}
	return len(p), nil
}

// What cannot be done with a large value says so.
func TestLargeRefusals(t *testing.T) {
	_, owner := openTest(t, Options{MaxRAM: 4 << 20, MaxMmap: Disabled})
	tab := blobTable(t, owner)
	w := tab.Writer(context.Background())
	w.SetReader(1, &pattern{n: 8 << 20})
	id, _, err := w.Insert()
	require.NoError(t, err)
	_, err = tab.AddIndex(context.Background(), IndexSpec{Name: "x", Key: Asc(1), Ordered: true})
	require.ErrorIs(t, err, ErrTooLong)
	c := tab.Cursor(ScanOptions{})
	defer c.Close()
	_, err = c.Next(context.Background())
	require.ErrorIs(t, err, ErrRAMLimit, "8 MiB in memory of 4")
	ctx := context.Background()
	_, err = tab.Stream(ctx, id, 0, io.Discard)
	require.ErrorIs(t, err, ErrType)
	_, err = tab.Stream(ctx, id, 9, io.Discard)
	require.ErrorIs(t, err, ErrColumn)
	_, err = tab.Stream(ctx, 1<<40, 1, io.Discard)
	require.ErrorIs(t, err, ErrRowGone)
	_, err = tab.Stream(ctx, id, 1, shortWriter{})
	require.ErrorIs(t, err, io.ErrShortWrite)
	n, err := tab.Stream(ctx, id, 3, io.Discard)
	require.NoError(t, err)
	require.Zero(t, n, "NULL")
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) / 2, nil }

// A collated value that is not in the key is split, one that is in it is not.
func TestStreamedText(t *testing.T) {
	_, owner := openTest(t, Options{MaxRAM: 4 << 20})
	for _, key := range []int{0, 1} {
		s, err := NewSchema([]Column{{Type: TypeInt}, {Type: TypeText, Collation: foldQuick{}}}, Distinct(key))
		require.NoError(t, err)
		tab := createTest(t, owner, s)
		w := tab.Writer(context.Background())
		w.SetInt(0, 1)
		w.SetReader(1, strings.NewReader(strings.Repeat("a", 5000)))
		_, added, err := w.Insert()
		require.NoError(t, err)
		require.True(t, added)
		w.SetInt(0, 1)
		w.SetReader(1, strings.NewReader(strings.Repeat("A", 5000)+" "))
		_, added, err = w.Insert()
		require.NoError(t, err)
		require.False(t, added)
	}
}

// TestGiB streams the largest value in and out with 4 MiB of RAM.
func TestGiB(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("1 GiB on disk")
	}
	eng, owner := openTest(t, Options{MaxRAM: 4 << 20, MaxMmap: Disabled, DiskReserve: Disabled})
	s, err := NewSchema([]Column{{Type: TypeBlob}}, Distinct())
	require.NoError(t, err)
	tab := createTest(t, owner, s)
	w := tab.Writer(context.Background())
	w.SetReader(0, &pattern{seed: 1, n: MaxValueLen})
	id, added, err := w.Insert()
	require.NoError(t, err)
	require.True(t, added)
	d := &differs{want: pattern{seed: 1, n: MaxValueLen}}
	n, err := tab.Stream(context.Background(), id, 0, d)
	require.NoError(t, err)
	require.EqualValues(t, MaxValueLen, n)
	require.False(t, d.bad)
	require.LessOrEqual(t, eng.Stats().Bytes[RAM].Total(), int64(4<<20))
	w.SetReader(0, &pattern{seed: 1, n: MaxValueLen + 1})
	_, _, err = w.Insert()
	require.ErrorIs(t, err, ErrTooLong)
}

// A consuming scan keeps the blocks that pieces of the next row are in.
func TestConsumeLarge(t *testing.T) {
	onTinyBudgets(t, func(t *testing.T, owner *Owner) {
		tab := blobTable(t, owner)
		w := tab.Writer(context.Background())
		const n = 60
		for k := range n {
			w.SetInt(0, int64(k))
			w.SetString(1, (&pattern{seed: uint64(k), n: 20_000}).text())
			w.SetReader(3, &pattern{seed: uint64(k), n: 50_000})
			_, _, err := w.Insert()
			require.NoError(t, err)
		}
		before := tab.Stats().Bytes
		c, err := tab.Consume()
		require.NoError(t, err)
		defer c.Close()
		for k := range n {
			ok, err := c.Next(context.Background())
			require.NoError(t, err)
			require.True(t, ok)
			require.EqualValues(t, k, c.Row().Int(0))
			require.True(t, (&pattern{seed: uint64(k), n: 20_000}).text() == c.Row().String(1))
			require.True(t, (&pattern{seed: uint64(k), n: 50_000}).text() == c.Row().String(3))
		}
		var was, is int64
		for tier := range before {
			was += before[tier].Rows
			is += tab.Stats().Bytes[tier].Rows
		}
		require.Less(t, is, was/2)
	})
}
