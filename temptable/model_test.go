package temptable

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The model: what a table is, in plain Go. Rows are text; equality is equality
// of the key columns' text. It shares no code with the engine.
type model struct {
	rows   []modelRow
	byKey  map[string]int
	keyCol []int // nil: not distinct
}

type modelRow struct {
	vals []modelVal
	id   RowID
}

type modelVal struct {
	null bool
	i    int64
	s    string
}

func (v modelVal) text() string {
	if v.null {
		return "N"
	}
	return fmt.Sprintf("V%d/%d:%s", v.i, len(v.s), v.s)
}

func (m *model) key(vals []modelVal) string {
	var b strings.Builder
	for _, c := range m.keyCol {
		b.WriteString(vals[c].text())
	}
	return b.String()
}

// insert returns the row that is there, if vals are a duplicate.
func (m *model) insert(vals []modelVal) (at int, added bool) {
	if m.keyCol != nil {
		k := m.key(vals)
		if at, ok := m.byKey[k]; ok {
			return at, false
		}
		m.byKey[k] = len(m.rows)
	}
	m.rows = append(m.rows, modelRow{vals: vals})
	return len(m.rows) - 1, true
}

func (m *model) truncate() { m.rows, m.byKey = nil, map[string]int{} }

// harness drives a table and its model with one stream of random numbers.
type harness struct {
	t       *testing.T
	r       *rand.Rand
	eng     *Engine
	tab     *Table
	m       *model
	w       *Writer
	cursors []*modelCursor
	batch   Batch
	buf     RowBuffer
	domain  int
	long    int
	counts  map[string]int
	tiers   [3]int
}

type modelCursor struct {
	c  *Cursor
	at int
}

func newHarness(t *testing.T, seed uint64, o Options) *harness {
	r := rand.New(rand.NewPCG(seed, 1))
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	eng, err := Open(o)
	require.NoError(t, err)
	h := &harness{t: t, r: r, eng: eng, counts: map[string]int{}, domain: 1 << r.IntN(14), long: 40}
	if r.IntN(4) == 0 {
		h.long = 9000
	}
	h.newTable()
	return h
}

func (h *harness) newTable() {
	var cols []Column
	types := []Type{TypeInt, TypeVarchar, TypeTime, TypeBigInt, TypeBlob}
	for i := range 1 + h.r.IntN(5) {
		cols = append(cols, Column{Name: fmt.Sprint("c", i), Type: types[h.r.IntN(len(types))], NotNull: h.r.IntN(2) == 0})
	}
	h.m = &model{byKey: map[string]int{}}
	var opts []SchemaOption
	switch h.r.IntN(4) {
	case 0: // duplicates are welcome
	case 1:
		k := h.r.IntN(len(cols))
		h.m.keyCol = []int{k}
		opts = append(opts, Distinct(k))
	default:
		for i := range cols {
			h.m.keyCol = append(h.m.keyCol, i)
		}
		opts = append(opts, Distinct())
	}
	s, err := NewSchema(cols, opts...)
	require.NoError(h.t, err)
	owner, err := h.eng.NewOwner("model", Limits{})
	require.NoError(h.t, err)
	h.tab, err = owner.Create(context.Background(), s)
	require.NoError(h.t, err)
	h.w = h.tab.Writer(context.Background())
}

func (h *harness) vals() []modelVal {
	s := h.tab.schema
	vals := make([]modelVal, s.NumCols())
	for i := range vals {
		vals[i] = h.val(s.Column(i))
	}
	return vals
}

func (h *harness) val(c Column) modelVal {
	if !c.NotNull && h.r.IntN(8) == 0 {
		return modelVal{null: true}
	}
	n := h.r.IntN(h.domain)
	switch c.Type {
	case TypeVarchar, TypeBlob:
		base := fmt.Sprintf("%x", n*n+n)
		if n%7 == 3 {
			base += strings.Repeat(string(rune('a'+n%5)), n%h.long)
		}
		return modelVal{s: base[:len(base)-n%2]}
	case TypeTime:
		return modelVal{i: int64(n-h.domain/2) * 1e6}
	}
	return modelVal{i: int64(n - h.domain/2)}
}

func isText(t Type) bool { return t == TypeVarchar || t == TypeBlob }

func (h *harness) set(vals []modelVal) {
	for i, v := range vals {
		switch {
		case v.null && h.r.IntN(2) == 0: // left alone: NULL
		case v.null:
			h.w.SetNull(i)
		case isText(h.tab.schema.Column(i).Type):
			h.w.SetString(i, v.s)
		default:
			h.w.SetInt(i, v.i)
		}
	}
}

func (h *harness) same(row Row, vals []modelVal) {
	for i, v := range vals {
		require.Equal(h.t, v.null, row.IsNull(i))
		if isText(h.tab.schema.Column(i).Type) {
			require.Equal(h.t, v.s, row.String(i))
		} else {
			require.Equal(h.t, v.i, row.Int(i))
		}
	}
}

func (h *harness) took(at int, added bool, res Result) {
	require.Equal(h.t, added, res.Added)
	if added {
		h.m.rows[at].id = res.ID
	}
	require.Equal(h.t, h.m.rows[at].id, res.ID)
}

func (h *harness) insert() {
	vals := h.vals()
	h.set(vals)
	at, added := h.m.insert(vals)
	id, got, err := h.w.Insert()
	require.NoError(h.t, err)
	h.took(at, added, Result{id, got})
}

func (h *harness) insertBatch() {
	n := h.r.IntN(300)
	var rows [][]modelVal
	for range n {
		rows = append(rows, h.vals())
	}
	b := h.columns(rows)
	res := make([]Result, n)
	done, err := h.tab.InsertBatch(context.Background(), b, res)
	require.NoError(h.t, err)
	require.Equal(h.t, n, done)
	for k, vals := range rows {
		at, added := h.m.insert(vals)
		h.took(at, added, res[k])
	}
}

func (h *harness) columns(rows [][]modelVal) *Batch {
	b := &Batch{N: len(rows)}
	for i := range h.tab.schema.NumCols() {
		v := Vector{Off: []int32{0}}
		if !h.tab.schema.Column(i).NotNull {
			v.Valid = make([]uint64, (len(rows)+63)/64)
		}
		for k, row := range rows {
			v.I64 = append(v.I64, row[i].i)
			v.Bytes = append(v.Bytes, row[i].s...)
			v.Off = append(v.Off, int32(len(v.Bytes)))
			if v.Valid != nil && !row[i].null {
				v.Valid[k/64] |= 1 << (k % 64)
			}
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

func (h *harness) get() {
	if len(h.m.rows) == 0 {
		return
	}
	want := h.m.rows[h.r.IntN(len(h.m.rows))]
	row, err := h.tab.Get(want.id, &h.buf)
	require.NoError(h.t, err)
	h.same(row, want.vals)
}

func (h *harness) openCursor() {
	if len(h.cursors) < 4 {
		h.cursors = append(h.cursors, &modelCursor{c: h.tab.Cursor(ScanOptions{})})
	}
}

func (h *harness) closeCursor() {
	if n := len(h.cursors); n > 0 {
		h.cursors[n-1].c.Close()
		h.cursors = h.cursors[:n-1]
	}
}

// follow steps an open cursor, which may have waited at the end.
func (h *harness) follow() {
	if len(h.cursors) == 0 {
		return
	}
	c := h.cursors[h.r.IntN(len(h.cursors))]
	for range h.r.IntN(400) {
		ok, err := c.c.Next(context.Background())
		require.NoError(h.t, err)
		require.Equal(h.t, c.at < len(h.m.rows), ok)
		if !ok {
			return
		}
		require.Equal(h.t, h.m.rows[c.at].id, c.c.ID())
		h.same(c.c.Row(), h.m.rows[c.at].vals)
		c.at++
	}
}

func (h *harness) scanBatches() {
	c := h.tab.Cursor(ScanOptions{})
	defer c.Close()
	at := 0
	for {
		n, err := c.ReadBatch(context.Background(), &h.batch)
		require.NoError(h.t, err)
		if n == 0 {
			break
		}
		for k := range n {
			h.sameInBatch(k, h.m.rows[at].vals)
			at++
		}
	}
	require.Equal(h.t, len(h.m.rows), at)
}

func (h *harness) sameInBatch(k int, vals []modelVal) {
	for i, v := range vals {
		col := &h.batch.Cols[i]
		require.Equal(h.t, v.null, col.isNull(k))
		if isText(h.tab.schema.Column(i).Type) {
			require.Equal(h.t, v.s, string(col.Bytes[col.Off[k]:col.Off[k+1]]))
		} else {
			require.Equal(h.t, v.i, col.I64[k])
		}
	}
}

func (h *harness) truncate() {
	require.NoError(h.t, h.tab.Truncate())
	h.m.truncate()
	for _, c := range h.cursors {
		c.at = 0
	}
}

func (h *harness) recreate() {
	for len(h.cursors) > 0 {
		h.closeCursor()
	}
	require.NoError(h.t, h.tab.Drop())
	h.newTable()
}

func (h *harness) run(steps int) {
	for range steps {
		op := h.pick()
		h.counts[op.name]++
		op.f()
		require.EqualValues(h.t, len(h.m.rows), h.tab.Len())
		h.noteTiers()
	}
	h.scanBatches()
}

type modelOp struct {
	name   string
	weight int
	f      func()
}

func (h *harness) pick() modelOp {
	ops := []modelOp{
		{"insert", 500, h.insert},
		{"insertBatch", 40, h.insertBatch},
		{"get", 200, h.get},
		{"openCursor", 15, h.openCursor},
		{"closeCursor", 10, h.closeCursor},
		{"follow", 40, h.follow},
		{"scanBatches", 2, h.scanBatches},
		{"truncate", 1, h.truncate},
		{"recreate", 1, h.recreate},
	}
	total := 0
	for _, o := range ops {
		total += o.weight
	}
	n := h.r.IntN(total)
	for _, o := range ops {
		if n -= o.weight; n < 0 {
			return o
		}
	}
	panic("unreachable")
}

func (h *harness) noteTiers() {
	for i, n := range h.tab.Stats().Bytes {
		if n.Total() > 0 {
			h.tiers[i]++
		}
	}
}

func (h *harness) close() {
	for len(h.cursors) > 0 {
		h.closeCursor()
	}
	require.NoError(h.t, h.eng.Close())
	require.NoError(h.t, h.eng.Close())
}

// tinyBudgets put a table of a few thousand rows on every combination of tiers.
var tinyBudgets = map[string]Options{
	"ram":           {MaxRAM: 64 << 20, MaxMmap: Disabled, MaxDisk: Disabled},
	"ram-mmap":      {MaxRAM: 64 << 10, MaxMmap: 64 << 20, MaxDisk: Disabled},
	"ram-disk":      {MaxRAM: 96 << 10, MaxMmap: Disabled, MaxDisk: 64 << 20},
	"ram-mmap-disk": {MaxRAM: 96 << 10, MaxMmap: 128 << 10, MaxDisk: 64 << 20},
	"roomy":         {MaxRAM: 1 << 20, MaxMmap: 1 << 20, MaxDisk: 64 << 20},
}

func TestModel(t *testing.T) {
	for name, o := range tinyBudgets {
		t.Run(name, func(t *testing.T) {
			var tiers [3]int
			for seed := range uint64(6) {
				h := newHarness(t, seed, o)
				h.run(4000)
				h.close()
				for i, n := range h.tiers {
					tiers[i] += n
				}
			}
			t.Logf("steps with bytes in RAM, mmap, disk: %v", tiers)
		})
	}
}
