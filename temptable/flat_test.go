package temptable

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// flatCase is a table of groups whose batches are folded without encoding.
type flatCase struct {
	name  string
	cols  []Column
	keys  []int
	folds []Fold
}

var flatCases = []flatCase{
	{"count", []Column{bigint("k"), bigint("n")}, []int{0}, []Fold{{1, Add}}},
	{"key of two, nullable", []Column{{Name: "a", Type: TypeSmallInt}, bigint("n"), {Name: "b", Type: TypeUTinyInt}}, []int{2, 0}, []Fold{{1, Add}}},
	{"narrow folds", []Column{{Name: "k", Type: TypeInt}, {Name: "n", Type: TypeTinyInt}, {Name: "lo", Type: TypeMediumInt},
		{Name: "hi", Type: TypeUInt, NotNull: true}, bigint("last")}, []int{0}, []Fold{{1, Add}, {2, Least}, {3, Greatest}, {4, Replace}}},
}

func bigint(name string) Column { return Column{Name: name, Type: TypeBigInt, NotNull: true} }

// Whatever the batches hold, UpsertBatch leaves what one Upsert a row would: in
// another table, fed by the setters.
func TestFlatFoldsAreFolds(t *testing.T) {
	for _, fc := range flatCases {
		for name, o := range tinyBudgets {
			t.Run(fc.name+"/"+name, func(t *testing.T) { fc.run(t, o) })
		}
	}
}

func (fc flatCase) run(t *testing.T, o Options) {
	s, err := NewSchema(fc.cols, Distinct(fc.keys...))
	require.NoError(t, err)
	_, owner := openTest(t, o)
	flat, plain := createTest(t, owner, s), createTest(t, owner, s)
	f, err := flat.Upserter(context.Background(), fc.folds...)
	require.NoError(t, err)
	require.True(t, f.fold.flat)
	p, err := plain.Upserter(context.Background(), fc.folds...)
	require.NoError(t, err)
	rng, ids := rand.New(rand.NewPCG(1, 2)), make(map[RowID]RowID)
	for round := range 36 {
		b := fc.batch(rng, round)
		res := make([]Result, b.N)
		n, err := f.UpsertBatch(context.Background(), b, res)
		want, wantErr := fc.one(p, b)
		for i := range min(len(want), n) {
			if want[i].Added {
				ids[want[i].ID] = res[i].ID
			}
			want[i].ID = ids[want[i].ID] // blocks may be of other sizes there
		}
		require.Equal(t, wantErr == nil, err == nil, "%v, not %v", err, wantErr)
		if err != nil {
			require.ErrorIs(t, err, ErrRange)
		}
		require.Equal(t, want, res[:n])
	}
	require.Equal(t, allInts(t, plain), allInts(t, flat))
	require.NoError(t, flat.index.Check())
}

// batch makes rows of few keys, then of many; some batches have NULLs, a
// selection, runs of one key, or a value that does not fit.
func (fc flatCase) batch(rng *rand.Rand, round int) *Batch {
	const places = 700
	b := &Batch{N: places, Cols: make([]Vector, len(fc.cols))}
	for c := range b.Cols {
		v := &b.Cols[c]
		v.I64 = make([]int64, places)
		for i := range v.I64 {
			v.I64[i] = rng.Int64N(min(int64(2+round*round), 100))
			if round%3 == 1 && i > 0 && rng.IntN(8) > 0 {
				v.I64[i] = v.I64[i-1]
			}
		}
		if round%7 == 3 && !fc.cols[c].NotNull {
			v.Valid = make([]uint64, (places+63)/64)
			for i := range v.Valid {
				v.Valid[i] = rng.Uint64() | rng.Uint64()
			}
		}
	}
	if round%5 == 2 {
		b.N = 300
		for range b.N {
			b.Sel = append(b.Sel, rng.Int32N(places))
		}
	}
	if round%4 == 3 {
		c := rng.IntN(len(fc.cols))
		b.Cols[c].I64[rng.IntN(places)] = []int64{math.MaxInt64, math.MinInt64}[rng.IntN(2)]
	}
	return b
}

// one upserts the rows of b one at a time, up to the first error.
func (fc flatCase) one(u *Upserter, b *Batch) (res []Result, err error) {
	res = []Result{}
	for i := range b.N {
		p := i
		if b.Sel != nil {
			p = int(b.Sel[i])
		}
		for c := range b.Cols {
			if !b.Cols[c].isNull(p) {
				u.SetInt(c, b.Cols[c].I64[p])
			}
		}
		id, added, err := u.Upsert()
		if err != nil {
			return res, err
		}
		res = append(res, Result{ID: id, Added: added})
	}
	return res, nil
}

func allInts(t *testing.T, tab *Table) (all [][]int64) {
	for row, err := range tab.Rows(context.Background()) {
		require.NoError(t, err)
		r := make([]int64, 0, 2*row.NumCols())
		for c := range row.NumCols() {
			null := int64(0)
			if row.IsNull(c) {
				null = 1
			}
			r = append(r, null, row.Int(c))
		}
		all = append(all, r)
	}
	return all
}

// A key of one word is hashed anew from the word as its row would be.
func TestWordKeyRehash(t *testing.T) {
	fc := flatCases[1]
	s, err := NewSchema(fc.cols, Distinct(fc.keys...))
	require.NoError(t, err)
	_, owner := openTest(t, Options{MaxRAM: 1 << 20})
	tab := createTest(t, owner, s)
	f, err := tab.newFolder(fc.folds)
	require.NoError(t, err)
	w := newRowWriter(s)
	for a := int64(-3); a < 3; a++ {
		for b := range int64(3) {
			w.begin()
			if a > -3 {
				w.setInt(0, a)
			}
			w.setInt(1, 7)
			if b > 0 {
				w.setInt(2, b)
			}
			row, err := w.finish()
			require.NoError(t, err)
			f.word.want = s.key.word(row)
			got := f.word.Rehash(5)
			tab.key = row
			require.Equal(t, tab.Rehash(5), got)
		}
	}
}
