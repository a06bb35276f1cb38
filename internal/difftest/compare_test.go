package difftest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spillway-db/spillway/temptable"
	"github.com/stretchr/testify/require"
)

// engine is a SQL engine to be compared with.
type engine struct {
	db       *sql.DB
	prefix   string // of table names
	groupIDs string // an aggregate: the ids of a group, with commas
}

// rowsEach is the number of rows of a table.
const rowsEach = 700

// compare runs every kind alone, then random rows of several kinds.
func compare(t *testing.T, e *engine, kinds []kind) {
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) { e.compare(t, []kind{k}, uint64(i)) })
	}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("several/", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			some := make([]kind, 2+rng.IntN(3))
			for i := range some {
				some[i] = kinds[rng.IntN(len(kinds))]
			}
			e.compare(t, some, 1000+seed)
		})
	}
}

// compare fills a table, here and there, and asks both the same questions.
func (e *engine) compare(t *testing.T, kinds []kind, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]value, rowsEach)
	for i := range rows {
		for _, k := range kinds {
			rows[i] = append(rows[i], k.draw(rng))
		}
	}
	e.load(t, kinds, rows)
	parts := keyParts(rng, kinds)
	want := answers{groups: e.groups(t, len(kinds)), order: e.order(t, parts), texts: e.texts(t, kinds)}
	require.Len(t, want.groups, e.count(t, len(kinds), "SELECT DISTINCT %[1]s FROM %[2]st"))
	require.Len(t, want.groups, e.count(t, len(kinds), "SELECT %[1]s FROM %[2]st WHERE id < 300 UNION SELECT %[1]s FROM %[2]st WHERE id >= 200"))
	for _, tier := range tiers {
		t.Run(tier.name, func(t *testing.T) {
			o := newOurs(t, tier, kinds, rows)
			requireSame(t, want.groups, sortGroups(o.grouping), "GROUP BY, DISTINCT, UNION")
			requireSame(t, want.texts, o.texts(t, kinds), "values")
			if parts != nil {
				requireSame(t, want.order, o.order(t, parts), "ORDER BY %v", parts)
			}
		})
	}
}

// requireSame shows the first difference only.
func requireSame[T any](t *testing.T, want, got []T, what ...any) {
	for i := range min(len(want), len(got)) {
		require.Equal(t, want[i], got[i], what...)
	}
	require.Len(t, got, len(want), what...)
}

// answers are lists of ids, and of what is stored.
type answers struct {
	groups []string
	order  []int64
	texts  [][]string
}

// keyParts is a random order, ended by the id, or nil if a kind has none.
func keyParts(rng *rand.Rand, kinds []kind) []temptable.KeyPart {
	var parts []temptable.KeyPart
	for i, k := range kinds {
		if k.unordered {
			return nil
		}
		desc := rng.IntN(2) == 0
		parts = append(parts, temptable.KeyPart{Col: i + 1, Desc: desc, NullsLast: desc})
	}
	return append(parts, temptable.KeyPart{})
}

func columnList(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("c", i)
	}
	return strings.Join(names, ", ")
}

func (e *engine) exec(t *testing.T, query string) {
	_, err := e.db.Exec(query)
	require.NoError(t, err, "%.300s", query)
}

func (e *engine) load(t *testing.T, kinds []kind, rows [][]value) {
	e.exec(t, "DROP TABLE IF EXISTS "+e.prefix+"t")
	var ddl strings.Builder
	for i, k := range kinds {
		fmt.Fprintf(&ddl, ", c%d %s", i, k.ddl)
	}
	e.exec(t, "CREATE TABLE "+e.prefix+"t (id INTEGER PRIMARY KEY"+ddl.String()+")")
	for from := 0; from < len(rows); from += 100 {
		var b strings.Builder
		for i, row := range rows[from:min(from+100, len(rows))] {
			fmt.Fprintf(&b, ",(%d", from+i)
			for _, v := range row {
				b.WriteString("," + v.lit)
			}
			b.WriteString(")")
		}
		e.exec(t, "INSERT INTO "+e.prefix+"t VALUES "+b.String()[1:])
	}
}

func (e *engine) query(t *testing.T, query string) [][]string {
	rows, err := e.db.Query(query)
	require.NoError(t, err, query)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(t, err)
	var out [][]string
	for rows.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		require.NoError(t, rows.Scan(into...))
		row := make([]string, len(names))
		for i, c := range cells {
			row[i] = nullText
			if c.Valid {
				row[i] = c.String
			}
		}
		out = append(out, row)
	}
	require.NoError(t, rows.Err())
	return out
}

const nullText = "<NULL>"

func (e *engine) count(t *testing.T, n int, query string) int {
	inner := fmt.Sprintf(query, columnList(n), e.prefix)
	return len(e.query(t, inner))
}

// groups are the ids of each group, ascending, in the order of their first.
func (e *engine) groups(t *testing.T, n int) []string {
	rows := e.query(t, fmt.Sprintf("SELECT %s FROM %st GROUP BY %s", e.groupIDs, e.prefix, columnList(n)))
	groups := make([][]int64, len(rows))
	for i, row := range rows {
		groups[i] = parseIDs(t, row[0])
	}
	return sortGroups(groups)
}

func parseIDs(t *testing.T, list string) []int64 {
	var ids []int64
	for _, s := range strings.Split(list, ",") {
		var id int64
		_, err := fmt.Sscan(s, &id)
		require.NoError(t, err)
		ids = append(ids, id)
	}
	return ids
}

func sortGroups(groups [][]int64) []string {
	for _, g := range groups {
		slices.Sort(g)
	}
	slices.SortFunc(groups, func(a, b []int64) int { return int(a[0] - b[0]) })
	out := make([]string, len(groups))
	for i, g := range groups {
		out[i] = fmt.Sprint(g)
	}
	return out
}

func (e *engine) order(t *testing.T, parts []temptable.KeyPart) []int64 {
	if parts == nil {
		return nil
	}
	var by []string
	for _, p := range parts[:len(parts)-1] {
		dir := "ASC"
		if p.Desc {
			dir = "DESC"
		}
		by = append(by, fmt.Sprintf("c%d %s", p.Col-1, dir))
	}
	var ids []int64
	for _, row := range e.query(t, fmt.Sprintf("SELECT id FROM %st ORDER BY %s, id", e.prefix, strings.Join(by, ", "))) {
		ids = append(ids, parseIDs(t, row[0])...)
	}
	return ids
}

func (e *engine) texts(t *testing.T, kinds []kind) [][]string {
	sel := "1"
	for i, k := range kinds {
		if k.sel != "" {
			sel += ", " + fmt.Sprintf(k.sel, fmt.Sprint("c", i))
		}
	}
	rows := e.query(t, fmt.Sprintf("SELECT %s FROM %st ORDER BY id", sel, e.prefix))
	for i := range rows {
		rows[i] = rows[i][1:]
	}
	return rows
}

// tier is a budget so small that tables spill to it.
type tier struct {
	name  string
	where temptable.Tier
	o     temptable.Options
}

var tiers = []tier{
	{"ram", temptable.RAM, temptable.Options{MaxRAM: 32 << 20, MaxMmap: temptable.Disabled, MaxDisk: temptable.Disabled}},
	{"mmap", temptable.Mmap, temptable.Options{MaxRAM: 64 << 10, MaxMmap: 1 << 30, MaxDisk: temptable.Disabled}},
	{"disk", temptable.Disk, temptable.Options{MaxRAM: 1 << 20, MaxMmap: temptable.Disabled}},
}

// padding makes the rows long enough to leave RAM.
var padding = make([]byte, 2000)

// ours are the same rows here: all of them behind an id, and the distinct ones.
type ours struct {
	all      *temptable.Table
	grouping [][]int64
}

func newOurs(t *testing.T, tier tier, kinds []kind, rows [][]value) *ours {
	tier.o.Dir = t.TempDir()
	eng, err := temptable.Open(tier.o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, eng.Close()) })
	owner, err := eng.NewOwner("difftest", temptable.Limits{})
	require.NoError(t, err)
	cols := []temptable.Column{{Name: "id", Type: temptable.TypeBigInt, NotNull: true}}
	for _, k := range kinds {
		cols = append(cols, k.col)
	}
	o := &ours{}
	distinct := create(t, owner, cols[1:], temptable.Distinct())
	o.all = create(t, owner, append(cols, temptable.Column{Name: "padding", Type: temptable.TypeVarbinary}))
	o.fill(t, distinct, rows)
	require.Positive(t, o.all.Stats().Bytes[tier.where].Total())
	return o
}

func create(t *testing.T, owner *temptable.Owner, cols []temptable.Column, opts ...temptable.SchemaOption) *temptable.Table {
	schema, err := temptable.NewSchema(cols, opts...)
	require.NoError(t, err)
	table, err := owner.Create(context.Background(), schema)
	require.NoError(t, err)
	return table
}

func (o *ours) fill(t *testing.T, distinct *temptable.Table, rows [][]value) {
	w, all := distinct.Writer(context.Background()), o.all.Writer(context.Background())
	groupOf := make(map[temptable.RowID]int)
	for id, row := range rows {
		all.SetInt(0, int64(id))
		for i, v := range row {
			v.set(w, i)
			v.set(all, i+1)
		}
		all.SetBytes(len(row)+1, padding)
		_, _, err := all.Insert()
		require.NoError(t, err)
		first, added, err := w.Insert()
		require.NoError(t, err)
		if added {
			groupOf[first] = len(o.grouping)
			o.grouping = append(o.grouping, nil)
		}
		g := groupOf[first]
		o.grouping[g] = append(o.grouping[g], int64(id))
	}
	require.EqualValues(t, len(o.grouping), distinct.Len())
}

func (o *ours) order(t *testing.T, parts []temptable.KeyPart) (ids []int64) {
	ctx := context.Background()
	x, err := o.all.AddIndex(ctx, temptable.IndexSpec{Name: "order", Key: parts, Ordered: true})
	require.NoError(t, err)
	c := x.Cursor()
	defer c.Close()
	for {
		ok, err := c.Next(ctx)
		require.NoError(t, err)
		if !ok {
			return ids
		}
		row, err := c.Row()
		require.NoError(t, err)
		ids = append(ids, row.Int(0))
	}
}

func (o *ours) texts(t *testing.T, kinds []kind) (out [][]string) {
	var buf []byte
	for row, err := range o.all.Rows(context.Background()) {
		require.NoError(t, err)
		cells := []string{}
		for i, k := range kinds {
			switch {
			case k.sel == "":
			case row.IsNull(i + 1):
				cells = append(cells, nullText)
			default:
				buf = row.AppendText(buf[:0], i+1)
				cells = append(cells, k.show(buf))
			}
		}
		out = append(out, cells)
	}
	return out
}
