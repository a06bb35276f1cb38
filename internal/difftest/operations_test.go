package difftest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spillway-db/spillway/temptable"
	"github.com/stretchr/testify/require"
)

// The operations of executors, over tables of an id, a number and some bytes.

func TestMariaDBOperations(t *testing.T) {
	operations(t, &engine{db: startMariaDB(t), prefix: "d."}, "varbinary(20)")
}

func TestSQLiteOperations(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	operations(t, &engine{db: db}, "BLOB")
}

func operations(t *testing.T, e *engine, bytes string) {
	rng := rand.New(rand.NewPCG(7, 8))
	left, right := drawPairs(rng, 900), drawPairs(rng, 700)
	e.loadPairs(t, "l", bytes, left)
	e.loadPairs(t, "r", bytes, right)
	for _, tier := range tiers {
		t.Run(tier.name, func(t *testing.T) {
			o := &operator{T: t, engine: e, owner: newOwner(t, tier)}
			t.Run("sets", func(t *testing.T) { o.in(t).sets(left, right) })
			t.Run("windows", func(t *testing.T) { o.in(t).windows(left, tier.where) })
		})
	}
	for i, spec := range indexKinds {
		t.Run("changes/"+spec.Name, func(t *testing.T) {
			for _, tier := range tiers {
				t.Run(tier.name, func(t *testing.T) {
					e.loadPairs(t, "w", bytes, left)
					o := &operator{T: t, engine: e, owner: newOwner(t, tier)}
					o.changes(left, spec, tier.where, rand.New(rand.NewPCG(uint64(i), 1)))
				})
			}
		})
	}
}

// pair is a row: a number and bytes, each NULL if it is nil.
type pair struct {
	a *int64
	s *string
}

func drawPairs(rng *rand.Rand, n int) []pair {
	pairs := make([]pair, n)
	for i := range pairs {
		if rng.IntN(10) > 0 {
			a := rng.Int64N(12) - 4
			pairs[i].a = &a
		}
		if rng.IntN(10) > 0 {
			s := []string{"", "\x00", "a", "a\x00", "A", "a ", "b", "ba", "\xff"}[rng.IntN(9)]
			pairs[i].s = &s
		}
	}
	return pairs
}

func (p pair) literals() (a, s string) {
	a, s = "NULL", "NULL"
	if p.a != nil {
		a = fmt.Sprint(*p.a)
	}
	if p.s != nil {
		s = fmt.Sprintf("x'%x'", *p.s)
	}
	return a, s
}

func (e *engine) loadPairs(t *testing.T, name, bytes string, pairs []pair) {
	e.exec(t, "DROP TABLE IF EXISTS "+e.prefix+name)
	e.exec(t, "CREATE TABLE "+e.prefix+name+" (id INTEGER PRIMARY KEY, a BIGINT, s "+bytes+")")
	var b strings.Builder
	for i, p := range pairs {
		a, s := p.literals()
		fmt.Fprintf(&b, ",(%d,%s,%s)", i, a, s)
	}
	e.exec(t, "INSERT INTO "+e.prefix+name+" VALUES "+b.String()[1:])
}

// operator does here what the engine does there.
type operator struct {
	*testing.T
	*engine
	owner *temptable.Owner
	table *temptable.Table
	ids   []temptable.RowID
}

func newOwner(t *testing.T, tier tier) *temptable.Owner {
	tier.o.Dir = t.TempDir()
	eng, err := temptable.Open(tier.o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, eng.Close()) })
	owner, err := eng.NewOwner("difftest", temptable.Limits{})
	require.NoError(t, err)
	return owner
}

func (o *operator) in(t *testing.T) *operator {
	return &operator{T: t, engine: o.engine, owner: o.owner}
}

// answer is the engine's rows, sorted, as text.
func (o *operator) answer(query string) []string {
	query = strings.NewReplacer("{l}", o.prefix+"l", "{r}", o.prefix+"r", "{w}", o.prefix+"w").Replace(query)
	var lines []string
	for _, row := range o.query(o.T, query) {
		lines = append(lines, strings.Join(row, " "))
	}
	slices.Sort(lines)
	return lines
}

type setter interface {
	SetInt(col int, v int64)
	SetString(col int, v string)
}

func (p pair) set(w setter, col int) {
	if p.a != nil {
		w.SetInt(col, *p.a)
	}
	if p.s != nil {
		w.SetString(col+1, *p.s)
	}
}

// show is a row's number and bytes, from column col on, as the queries show them.
func show(row temptable.Row, col int) string {
	a, s := nullText, nullText
	if !row.IsNull(col) {
		a = fmt.Sprint(row.Int(col))
	}
	if !row.IsNull(col + 1) {
		s = fmt.Sprintf("%X", row.Bytes(col+1))
	}
	return a + " " + s
}

// numbered is a query of a table whose n-th row of equal ones differs from the
// others, so that set operations on it are those with ALL.
func numbered(table string) string {
	return "SELECT a, s, ROW_NUMBER() OVER (PARTITION BY a, s ORDER BY id) AS n FROM " + table
}

const hexS = "SELECT a, " + "CASE WHEN s IS NOT NULL THEN HEX(s) END FROM "

func (o *operator) sets(left, right []pair) {
	for _, op := range []string{"INTERSECT", "EXCEPT"} {
		plain := hexS + "(SELECT a, s FROM {l} " + op + " SELECT a, s FROM {r}) q"
		requireSame(o.T, o.answer(plain), o.setOperation(left, right, op, false), op)
		all := hexS + "(" + numbered("{l}") + " " + op + " " + numbered("{r}") + ") q"
		requireSame(o.T, o.answer(all), o.setOperation(left, right, op, true), op, " ALL")
	}
}

// setOperation counts the left side by group, then takes the right side's rows off.
func (o *operator) setOperation(left, right []pair, op string, all bool) (lines []string) {
	ctx := context.Background()
	t := create(o.T, o.owner, []temptable.Column{
		{Name: "a", Type: temptable.TypeBigInt}, {Name: "s", Type: temptable.TypeVarbinary, Length: 20},
		{Name: "n", Type: temptable.TypeBigInt, NotNull: true}}, temptable.Distinct(0, 1))
	how := temptable.Replace
	if all {
		how = temptable.Add
	}
	u, err := t.Upserter(ctx, temptable.Fold{Col: 2, Op: how})
	require.NoError(o, err)
	for _, p := range left {
		p.set(u, 0)
		u.SetInt(2, 1)
		_, _, err := u.Upsert()
		require.NoError(o, err)
	}
	c := t.Index("distinct").Cursor()
	defer c.Close()
	for _, p := range right {
		p.set(c, 0)
		found, err := c.Find(ctx)
		require.NoError(o, err)
		if !found {
			continue
		}
		row, err := c.Row()
		require.NoError(o, err)
		if row.Int(2) > 0 {
			if op == "INTERSECT" {
				lines = append(lines, show(row, 0))
			}
			_, err := t.Handle(c.ID()).AddInt(2, -1)
			require.NoError(o, err)
		}
	}
	for row, err := range t.Rows(ctx) {
		require.NoError(o, err)
		for n := int64(0); op == "EXCEPT" && n < row.Int(2); n++ {
			lines = append(lines, show(row, 0))
		}
	}
	require.NoError(o, t.Drop())
	slices.Sort(lines)
	return lines
}

// fill makes a table of id, a, s and enough padding to leave RAM.
func (o *operator) fill(pairs []pair, where temptable.Tier) {
	o.table = create(o.T, o.owner, []temptable.Column{{Name: "id", Type: temptable.TypeBigInt, NotNull: true},
		{Name: "a", Type: temptable.TypeBigInt}, {Name: "s", Type: temptable.TypeVarbinary, Length: 20},
		{Name: "padding", Type: temptable.TypeVarbinary}})
	w := o.table.Writer(context.Background())
	for i, p := range pairs {
		w.SetInt(0, int64(i))
		p.set(w, 1)
		w.SetBytes(3, padding)
		id, _, err := w.Insert()
		require.NoError(o, err)
		o.ids = append(o.ids, id)
	}
	require.Positive(o, o.table.Stats().Bytes[where].Total())
}

func (o *operator) addIndex(spec temptable.IndexSpec) *temptable.Index {
	x, err := o.table.AddIndex(context.Background(), spec)
	require.NoError(o, err)
	return x
}

// windows numbers the rows of each partition, and looks two rows back by the ids
// that were saved on the way.
func (o *operator) windows(pairs []pair, where temptable.Tier) {
	o.fill(pairs, where)
	x := o.addIndex(temptable.IndexSpec{Name: "order", Ordered: true, Key: temptable.Asc(1, 2, 0)})
	c := x.Cursor()
	defer c.Close()
	var buf temptable.RowBuffer
	var lines []string
	var partition []temptable.RowID
	ctx, last := context.Background(), ""
	for ok, err := c.Next(ctx); ok; ok, err = c.Next(ctx) {
		require.NoError(o, err)
		row, err := c.Row()
		require.NoError(o, err)
		key, lag := strings.Fields(show(row, 1))[0], nullText
		if key != last {
			last, partition = key, partition[:0]
		}
		partition = append(partition, c.ID())
		id, n := row.Int(0), len(partition)
		if n > 2 {
			before, err := o.table.Get(partition[n-3], &buf)
			require.NoError(o, err)
			lag = fmt.Sprint(before.Int(0))
		}
		lines = append(lines, fmt.Sprintf("%d %d %s", id, n, lag))
	}
	slices.Sort(lines)
	requireSame(o.T, o.answer("SELECT id, ROW_NUMBER() OVER w AS n, LAG(id, 2) OVER w AS before_it FROM {l} "+
		"WINDOW w AS (PARTITION BY a ORDER BY s, id)"), lines, "windows")
}

var indexKinds = []temptable.IndexSpec{
	{Name: "hash", Key: temptable.Asc(1)},
	{Name: "ordered", Key: temptable.Asc(1, 2), Ordered: true},
	{Name: "unique", Key: temptable.Asc(0), Unique: true},
	{Name: "unique ordered", Key: []temptable.KeyPart{{Col: 0, Desc: true}}, Unique: true, Ordered: true},
}

// changes deletes, and changes the key of, rows that are found through the index,
// and compares what is left, by a scan and through the index.
func (o *operator) changes(pairs []pair, spec temptable.IndexSpec, where temptable.Tier, rng *rand.Rand) {
	ctx := context.Background()
	o.fill(pairs, where)
	x := o.addIndex(spec)
	o.addIndex(temptable.IndexSpec{Name: "beside", Key: temptable.Asc(2, 1), Ordered: true})
	col, name, span := spec.Key[0].Col, "a", int64(12)
	if col == 0 {
		name, span = "id", int64(len(pairs))
	}
	u := o.table.Updater(ctx)
	for n := range 40 {
		k := rng.Int64N(span) - int64(4*col)
		ids := o.find(x, k)
		switch {
		case n%3 == 0 && (name == "id" || n%12 == 0):
			o.exec(o.T, fmt.Sprintf("DELETE FROM %sw WHERE %s = %d", o.prefix, name, k))
			for _, id := range ids {
				require.NoError(o, o.table.Delete(ctx, id))
			}
		default:
			to := k + 1 + rng.Int64N(3)
			if name == "id" {
				to = 10000 + int64(n)
			}
			o.exec(o.T, fmt.Sprintf("UPDATE %sw SET %s = %d, s = x'%02x' WHERE %s = %d", o.prefix, name, to, n, name, k))
			for _, id := range ids {
				o.update(u, id, col, to, byte(n))
			}
		}
	}
	want := o.answer("SELECT id, a, CASE WHEN s IS NOT NULL THEN HEX(s) END FROM {w}")
	requireSame(o.T, want, o.scan(), "scan")
	if spec.Ordered {
		requireSame(o.T, want, o.walk(x), "index")
	}
	requireSame(o.T, want, o.walk(o.table.Index("beside")), "the index beside it")
}

func (o *operator) update(u *temptable.Updater, id temptable.RowID, col int, to int64, s byte) {
	_, err := u.Load(id)
	require.NoError(o, err)
	u.SetInt(col, to)
	u.SetBytes(2, []byte{s})
	ok, err := u.Update()
	require.NoError(o, err)
	require.True(o, ok)
}

// find returns the ids of the rows whose first key column is k.
func (o *operator) find(x *temptable.Index, k int64) (ids []temptable.RowID) {
	ctx := context.Background()
	c := x.Cursor()
	defer c.Close()
	if x == o.table.Index("unique") || x == o.table.Index("unique ordered") {
		c.SetInt(0, k)
	} else {
		c.SetInt(1, k)
	}
	for ok, err := c.FindPrefix(ctx, 1); ok; ok, err = c.NextSame(ctx) {
		require.NoError(o, err)
		ids = append(ids, c.ID())
	}
	return ids
}

func (o *operator) scan() (lines []string) {
	for row, err := range o.table.Rows(context.Background()) {
		require.NoError(o, err)
		lines = append(lines, fmt.Sprint(row.Int(0), " ", show(row, 1)))
	}
	slices.Sort(lines)
	return lines
}

func (o *operator) walk(x *temptable.Index) (lines []string) {
	ctx := context.Background()
	c := x.Cursor()
	defer c.Close()
	for ok, err := c.First(ctx); ok; ok, err = c.Next(ctx) {
		require.NoError(o, err)
		row, err := c.Row()
		require.NoError(o, err)
		lines = append(lines, fmt.Sprint(row.Int(0), " ", show(row, 1)))
	}
	slices.Sort(lines)
	return lines
}
