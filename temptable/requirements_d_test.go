package temptable_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spillway-db/spillway/temptable"
	"github.com/stretchr/testify/require"
)

// REQUIREMENTS D, line by line, through the public API on each tier. Lines of other
// parts that are tested elsewhere:
//
//	A.1, A.2     TestNoThrashAtAnyFill, TestTwoTablesAtTheLimit
//	A.3          TestBudgetIsNeverPassed, TestBudgetShrinksBelowUse
//	A.4          TestSmallTableIsCheap
//	A.5          TestEveryCallFailsOnce, TestCountersAfterFailures
//	A.6          TestLargeModel, TestUpdateKeepsTheID, TestGiB
//	A.7          allocator: the pieces' tests; TestStaleValuesAreSpoiled
//	A.8          internal/sys and spill: injected ENOMEM, EMFILE
//	B.9          TestModel (every operation on budgets of three tiers)
//	B.10         TestEveryRowAtTheBoundary
//	B.11         TestEveryCallFailsOnce, TestFullDevice
//	B.12         TestBudgetIsNeverPassed
//	B.13         hashindex: its disk tests; BenchmarkLarge
//	B.14         TestCraftedKeysCollide; D.22 below (one key for all rows)
//	B.15         below
//	E.27, E.28   TestEachLimitHasItsError, TestFullDevice
//	E.29         TestSnapshotsUnderWriters, TestTableCounters
//	E.30         TestBlockChurn
//	E.31         allocator: the owners' tests
//	G.39         TestBudgetShrinksBelowUse, TestStaleValuesAreSpoiled
//	G.40         TestEachLimitHasItsError; below
//	G.41         allocator: the moves' tests; TestTwoTablesAtTheLimit
//	G.42         allocator: the contention benchmarks

// reqTiers are budgets that a table of reqRows leaves RAM with, or not.
var reqTiers = []struct {
	tier temptable.Tier
	o    temptable.Options
}{
	{temptable.RAM, temptable.Options{MaxRAM: 64 << 20, MaxMmap: temptable.Disabled, MaxDisk: temptable.Disabled}},
	{temptable.Mmap, temptable.Options{MaxRAM: 64 << 10, MaxMmap: 64 << 20, MaxDisk: temptable.Disabled}},
	{temptable.Disk, temptable.Options{MaxRAM: 512 << 10, MaxMmap: temptable.Disabled, MaxDisk: 64 << 20}},
}

const reqRows = 2500

var reqPadding = make([]byte, 400)

// onTiers runs a test of a line with a table of (a, b, padding) on each tier.
func onTiers(t *testing.T, line string, opts []temptable.SchemaOption, f func(r *req)) {
	for _, m := range reqTiers {
		t.Run(line+"/"+m.tier.String(), func(t *testing.T) {
			m.o.Dir = t.TempDir()
			eng, err := temptable.Open(m.o)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, eng.Close()) })
			owner, err := eng.NewOwner("test", temptable.Limits{})
			require.NoError(t, err)
			schema, err := temptable.NewSchema([]temptable.Column{
				{Name: "a", Type: temptable.TypeBigInt, NotNull: true},
				{Name: "b", Type: temptable.TypeBigInt, NotNull: true},
				{Name: "padding", Type: temptable.TypeVarbinary, Length: 1000}}, opts...)
			require.NoError(t, err)
			tab, err := owner.Create(context.Background(), schema)
			require.NoError(t, err)
			f(&req{T: t, tab: tab, w: tab.Writer(context.Background()), tier: m.tier})
		})
	}
}

// req is a test under way. Its methods fail it on any error.
type req struct {
	*testing.T
	tab  *temptable.Table
	w    *temptable.Writer
	tier temptable.Tier
	buf  temptable.RowBuffer
}

func (r *req) insert(a, b int64) (temptable.RowID, bool) {
	r.w.SetInt(0, a)
	r.w.SetInt(1, b)
	r.w.SetBytes(2, reqPadding)
	id, added, err := r.w.Insert()
	require.NoError(r, err)
	return id, added
}

func (r *req) index(spec temptable.IndexSpec) *temptable.Index {
	x, err := r.tab.AddIndex(context.Background(), spec)
	require.NoError(r, err)
	return x
}

func (r *req) get(id temptable.RowID) [2]int64 {
	row, err := r.tab.Get(id, &r.buf)
	require.NoError(r, err)
	return [2]int64{row.Int(0), row.Int(1)}
}

// scan returns all rows, sorted.
func (r *req) scan() (all [][2]int64) {
	for row, err := range r.tab.Rows(context.Background()) {
		require.NoError(r, err)
		all = append(all, [2]int64{row.Int(0), row.Int(1)})
	}
	return sortPairs(all)
}

func sortPairs(p [][2]int64) [][2]int64 {
	slices.SortFunc(p, comparePairs)
	return p
}

func comparePairs(p, q [2]int64) int { return cmp.Or(cmp.Compare(p[0], q[0]), cmp.Compare(p[1], q[1])) }

// spilled makes sure that the test was about the tier that it names.
func (r *req) spilled() {
	require.Positive(r, r.tab.Stats().Bytes[r.tier].Total())
}

func TestRequirementD20(t *testing.T) {
	onTiers(t, "D.20 a duplicate is a result; a later violation undoes the earlier", nil, func(r *req) {
		first := r.index(temptable.IndexSpec{Name: "first", Key: temptable.Asc(0), Unique: true})
		second := r.index(temptable.IndexSpec{Name: "second", Key: temptable.Asc(1), Unique: true, Ordered: true})
		third := r.index(temptable.IndexSpec{Name: "third", Key: temptable.Asc(0, 1)})
		for i := range int64(reqRows) {
			id, added := r.insert(2*i, i)
			require.True(r, added)
			other, added := r.insert(2*i+1, i)
			require.False(r, added)
			require.Equal(r, id, other)
			require.Equal(r, temptable.Conflict{Index: second, Row: id}, r.w.Conflict())
		}
		for _, x := range []*temptable.Index{first, second, third} {
			require.Equal(r, reqRows, x.Len())
		}
		_, added := r.insert(1, -1)
		require.True(r, added, "the first index has forgotten the rows that the second refused")
		r.spilled()
	})
}

func TestRequirementD21(t *testing.T) {
	onTiers(t, "D.21 an ordered index goes everywhere", nil, func(r *req) {
		x := r.index(temptable.IndexSpec{Name: "ab", Key: temptable.Asc(0, 1), Ordered: true})
		rng := rand.New(rand.NewPCG(1, 2))
		var all [][2]int64
		for i := range int64(reqRows) {
			p := [2]int64{2 * rng.Int64N(60), 2 * i}
			all = append(all, p)
			r.insert(p[0], p[1])
		}
		r.spilled()
		w := &walker{req: r, c: x.Cursor(), all: sortPairs(all)}
		defer w.c.Close()
		w.ends()
		for a := int64(-1); a <= 121; a++ {
			w.prefix(a)
			if a%3 != 0 {
				continue // comparing takes a while
			}
			w.sides(a, 2*rng.Int64N(reqRows)+rng.Int64N(2))
			w.ranges(a, a+rng.Int64N(20))
		}
		w.groups()
		w.changing()
	})
}

// walker compares a cursor with sorted pairs.
type walker struct {
	*req
	c   *temptable.IndexCursor
	all [][2]int64
}

type stepFunc func(context.Context) (bool, error)

// take follows the cursor to its end.
func (w *walker) take(first, next stepFunc) (got [][2]int64) {
	for ok, err := first(context.Background()); ; ok, err = next(context.Background()) {
		require.NoError(w, err)
		if !ok {
			return got
		}
		row, err := w.c.Row()
		require.NoError(w, err)
		got = append(got, [2]int64{row.Int(0), row.Int(1)})
	}
}

func (w *walker) where(keep func(p [2]int64) bool) (want [][2]int64) {
	for _, p := range w.all {
		if keep(p) {
			want = append(want, p)
		}
	}
	return want
}

func backward(p [][2]int64) [][2]int64 {
	p = slices.Clone(p)
	slices.Reverse(p)
	return p
}

func (w *walker) ends() {
	require.Equal(w, w.all, w.take(w.c.First, w.c.Next))
	require.Equal(w, backward(w.all), w.take(w.c.Last, w.c.Prev))
}

func (w *walker) prefix(a int64) {
	w.c.SetInt(0, a)
	find := func(ctx context.Context) (bool, error) { return w.c.FindPrefix(ctx, 1) }
	require.Equal(w, w.where(func(p [2]int64) bool { return p[0] == a }), w.take(find, w.c.NextSame))
}

func (w *walker) sides(a, b int64) {
	key := [2]int64{a, b}
	for side, has := range map[temptable.Bound]func(order int) bool{
		temptable.AtOrAfter:  func(o int) bool { return o >= 0 },
		temptable.After:      func(o int) bool { return o > 0 },
		temptable.AtOrBefore: func(o int) bool { return o <= 0 },
		temptable.Before:     func(o int) bool { return o < 0 },
	} {
		want, next := w.where(func(p [2]int64) bool { return has(comparePairs(p, key)) }), w.c.Next
		if side == temptable.AtOrBefore || side == temptable.Before {
			want, next = backward(want), w.c.Prev
		}
		w.c.SetInt(0, a)
		w.c.SetInt(1, b)
		seek := func(ctx context.Context) (bool, error) { return w.c.Seek(ctx, side, 2) }
		require.Equal(w, want, w.take(seek, next), "%v %v", side, key)
	}
	w.c.SetInt(0, a)
	w.c.SetInt(1, b)
	require.Equal(w, w.where(func(p [2]int64) bool { return p == key }), w.take(w.c.Find, w.c.NextSame))
}

// ranges reads from lo to hi, each in and out, both ways.
func (w *walker) ranges(lo, hi int64) {
	want := w.where(func(p [2]int64) bool { return p[0] >= lo && p[0] < hi })
	w.c.SetInt(0, hi)
	require.NoError(w, w.c.Stop(temptable.Before, 1))
	w.c.SetInt(0, lo)
	up := func(ctx context.Context) (bool, error) { return w.c.Seek(ctx, temptable.AtOrAfter, 1) }
	require.Equal(w, want, w.take(up, w.c.Next))
	w.c.SetInt(0, lo)
	require.NoError(w, w.c.Stop(temptable.AtOrAfter, 1))
	w.c.SetInt(0, hi)
	down := func(ctx context.Context) (bool, error) { return w.c.Seek(ctx, temptable.Before, 1) }
	require.Equal(w, backward(want), w.take(down, w.c.Prev))
	require.NoError(w, w.c.Stop(0, 0))
}

// groups is the loose scan: the first row of each a.
func (w *walker) groups() {
	var want [][2]int64
	for i, p := range w.all {
		if i == 0 || w.all[i-1][0] != p[0] {
			want = append(want, p)
		}
	}
	next := func(ctx context.Context) (bool, error) { return w.c.NextGroup(ctx, 1) }
	require.Equal(w, want, w.take(w.c.First, next))
}

// changing walks while rows are added, changed and deleted in front of the cursor,
// at it and behind it: what it steps over must not be a copy of what was.
func (w *walker) changing() {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(3, 4))
	u := w.tab.Updater(ctx)
	ok, err := w.c.First(ctx)
	for n := int64(0); ok && err == nil; ok, err = w.c.Next(ctx) {
		row, e := w.c.Row()
		require.NoError(w, e)
		at := [2]int64{row.Int(0), row.Int(1)}
		i, found := slices.BinarySearchFunc(w.all, at, comparePairs)
		require.True(w, found)
		require.Zero(w, i, "all before it are gone")
		w.all = w.all[1:]
		if n++; n%5 == 0 {
			add := [2]int64{at[0] + rng.Int64N(3), 2*rng.Int64N(reqRows) + 1}
			if j, have := slices.BinarySearchFunc(w.all, add, comparePairs); !have && comparePairs(add, at) > 0 {
				w.insert(add[0], add[1])
				w.all = slices.Insert(w.all, j, add)
			}
		}
		switch id := w.c.ID(); n % 7 {
		case 1:
			require.NoError(w, w.tab.Delete(ctx, id))
			_, err := w.c.Row()
			require.ErrorIs(w, err, temptable.ErrRowGone)
		case 2:
			_, err := u.Load(id)
			require.NoError(w, err)
			u.SetInt(1, -n)
			_, err = u.Update()
			require.NoError(w, err)
			require.Equal(w, [2]int64{at[0], -n}, w.get(id))
		}
	}
	require.NoError(w, err)
	require.Empty(w, w.all)
}

func TestRequirementD22(t *testing.T) {
	onTiers(t, "D.22 updates of keys with undo; deletes among equal keys; slots are reused", nil, func(r *req) {
		ctx := context.Background()
		equal := r.index(temptable.IndexSpec{Name: "equal", Key: temptable.Asc(1)})
		unique := r.index(temptable.IndexSpec{Name: "unique", Key: temptable.Asc(0), Unique: true})
		ids := make([]temptable.RowID, reqRows)
		for i := range ids {
			ids[i], _ = r.insert(int64(i), 7)
		}
		r.spilled()
		u := r.tab.Updater(ctx)
		for i := 0; i < reqRows; i += 50 {
			_, err := u.Load(ids[i])
			require.NoError(r, err)
			u.SetInt(0, int64(i+1)%reqRows)
			u.SetInt(1, 8)
			ok, err := u.Update()
			require.NoError(r, err)
			require.False(r, ok, "the key is another row's")
			require.Equal(r, [2]int64{int64(i), 7}, r.get(ids[i]))
			_, err = u.Load(ids[i])
			require.NoError(r, err)
			u.SetInt(0, -int64(i)-1)
			ok, err = u.Update()
			require.NoError(r, err)
			require.True(r, ok)
		}
		require.Equal(r, reqRows, equal.Len())
		before := bytesOf(r.tab)
		c := r.tab.Cursor(temptable.ScanOptions{})
		for ok, err := c.Next(ctx); ok; ok, err = c.Next(ctx) {
			require.NoError(r, err)
			require.NoError(r, r.tab.Delete(ctx, c.ID()))
		}
		c.Close()
		require.Zero(r, r.tab.Len()+int64(equal.Len()+unique.Len()))
		for i := range int64(reqRows) {
			r.insert(i, 7)
		}
		require.LessOrEqual(r, bytesOf(r.tab), before*5/4, "their places are used again")
	})
}

func bytesOf(t *temptable.Table) (n int64) {
	for _, b := range t.Stats().Bytes {
		n += b.Total()
	}
	return n
}

func TestRequirementD23(t *testing.T) {
	distinct := []temptable.SchemaOption{temptable.Distinct(0)}
	onTiers(t, "D.23 find, or insert, and update in one call", distinct, func(r *req) {
		u, err := r.tab.Upserter(context.Background(), temptable.Fold{Col: 1, Op: temptable.Add})
		require.NoError(r, err)
		rng := rand.New(rand.NewPCG(1, 2))
		want := make(map[int64]int64)
		for range 4 * reqRows {
			k, d := rng.Int64N(reqRows), rng.Int64N(9)-4
			u.SetInt(0, k)
			u.SetInt(1, d)
			u.SetBytes(2, reqPadding)
			id, added, err := u.Upsert()
			require.NoError(r, err)
			_, there := want[k]
			require.Equal(r, !there, added)
			want[k] += d
			require.Equal(r, [2]int64{k, want[k]}, r.get(id))
		}
		require.Len(r, r.scan(), len(want))
		for _, p := range r.scan() {
			require.Equal(r, want[p[0]], p[1])
		}
		r.spilled()
	})
}

func TestRequirementD24(t *testing.T) {
	onTiers(t, "D.24 reads by saved id; the tail; many cursors", nil, func(r *req) {
		ctx := context.Background()
		tail := r.tab.Cursor(temptable.ScanOptions{})
		defer tail.Close()
		ids := make([]temptable.RowID, reqRows)
		cursors := []*temptable.Cursor{}
		for i := range ids {
			ids[i], _ = r.insert(int64(i), int64(-i))
			ok, err := tail.Next(ctx)
			require.NoError(r, err)
			require.True(r, ok, "rows that were appended after the end come out")
			require.Equal(r, int64(i), tail.Row().Int(0))
			if i%300 == 0 {
				c, err := tail.Clone(ctx)
				require.NoError(r, err)
				cursors = append(cursors, c)
			}
			ok, err = tail.Next(ctx)
			require.NoError(r, err)
			require.False(r, ok)
		}
		r.spilled()
		for n, c := range cursors {
			ok, err := c.Next(ctx)
			require.NoError(r, err)
			require.True(r, ok)
			require.Equal(r, int64(300*n+1), c.Row().Int(0))
			c.Close()
		}
		order := rand.New(rand.NewPCG(1, 2)).Perm(reqRows)
		for _, i := range order {
			require.Equal(r, [2]int64{int64(i), int64(-i)}, r.get(ids[i]))
		}
		r.batches(ids, order)
	})
}

// batches reads the rows in the given order, many at a time, a deleted one among
// them.
func (r *req) batches(ids []temptable.RowID, order []int) {
	gone := order[len(order)/2]
	require.NoError(r, r.tab.Delete(context.Background(), ids[gone]))
	want := make([]temptable.RowID, len(order))
	for k, i := range order {
		want[k] = ids[i]
	}
	rows, calls := make([]temptable.Row, 100), 0
	for done := 0; done < len(order); {
		n, err := r.tab.GetBatch(want[done:], rows, &r.buf)
		calls++
		if err != nil {
			require.ErrorIs(r, err, temptable.ErrRowGone)
			require.Equal(r, gone, order[done])
			done++
		}
		for k := range n {
			i := int64(order[done+k])
			require.Equal(r, [2]int64{i, -i}, [2]int64{rows[k].Int(0), rows[k].Int(1)})
		}
		done += n
	}
	require.Less(r, calls, len(order)/10)
}

func TestRequirementD25(t *testing.T) {
	distinct := []temptable.SchemaOption{temptable.Distinct(0)}
	onTiers(t, "D.25 DISTINCT … LIMIT stops after the k-th first occurrence", distinct, func(r *req) {
		for _, k := range []int64{1, 2, 100, reqRows - 1} {
			require.NoError(r, r.tab.Truncate())
			read := int64(0)
			for ; r.tab.Len() < k; read++ { // each key comes three times
				_, added := r.insert(read/3, read)
				require.Equal(r, read%3 == 0, added)
			}
			require.Equal(r, 3*(k-1)+1, read)
		}
		r.spilled()
	})
}

func TestRequirementD26(t *testing.T) {
	onTiers(t, "D.26 a table that is read once gives memory back meanwhile", nil, func(r *req) {
		for i := range int64(reqRows) {
			r.insert(i, i)
		}
		r.spilled()
		full := bytesOf(r.tab)
		c, err := r.tab.Consume()
		require.NoError(r, err)
		defer c.Close()
		for i := range int64(reqRows) {
			ok, err := c.Next(context.Background())
			require.NoError(r, err)
			require.True(r, ok)
			require.Equal(r, i, c.Row().Int(0))
			if i == reqRows*3/4 {
				require.Less(r, bytesOf(r.tab), full*2/3)
			}
		}
	})
}

func TestRequirementB15(t *testing.T) {
	onTiers(t, "B.15 executed again after a spill", nil, func(r *req) {
		for round := range int64(3) {
			require.NoError(r, r.tab.Truncate())
			var want [][2]int64
			for i := range int64(reqRows) {
				r.insert(i, round)
				want = append(want, [2]int64{i, round})
			}
			require.Equal(r, want, r.scan(), fmt.Sprint("round ", round))
		}
		r.spilled()
	})
}

func TestRequirementG40(t *testing.T) {
	onTiers(t, "G.40 a canceled context is noticed within a block", nil, func(r *req) {
		for i := range int64(reqRows) {
			r.insert(i, i)
		}
		x := r.index(temptable.IndexSpec{Name: "a", Key: temptable.Asc(0), Ordered: true})
		for name, next := range map[string]stepFunc{
			"scan":  r.tab.Cursor(temptable.ScanOptions{}).Next,
			"index": x.Cursor().Next,
		} {
			ctx, cancel := context.WithCancel(context.Background())
			_, err := next(ctx)
			require.NoError(r, err)
			cancel()
			n := 0
			for ; err == nil && n < reqRows; n++ {
				_, err = next(ctx)
			}
			require.ErrorIs(r, err, context.Canceled, name)
			require.LessOrEqual(r, n, 1024)
		}
	})
}

// What Prev knows of a page is void once it has found nothing before a row: then
// the rows that it passes on the way forward are before the cursor again.
func TestPrevForgets(t *testing.T) {
	onTiers(t, "back and forth", nil, func(r *req) {
		ctx := context.Background()
		ids := make([]temptable.RowID, 20)
		for i := range ids {
			ids[i], _ = r.insert(int64(i), 0)
		}
		c := r.tab.Cursor(temptable.ScanOptions{})
		defer c.Close()
		step := func(f stepFunc, want bool) {
			ok, err := f(ctx)
			require.NoError(r, err)
			require.Equal(r, want, ok)
		}
		require.NoError(r, c.Seek(ctx, ids[11]))
		step(c.Prev, true) // stands on row 10, and knows those before it
		require.NoError(r, c.Seek(ctx, ids[0]))
		require.NoError(r, r.tab.Delete(ctx, ids[19])) // what it knows is out of date
		step(c.Prev, false)
		for i := range int64(11) {
			step(c.Next, true)
			require.Equal(r, i, c.Row().Int(0))
		}
		step(c.Prev, true)
		require.Equal(r, int64(9), c.Row().Int(0))
	})
}
