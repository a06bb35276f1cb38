package temptable

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spillway-db/spillway/spill"
	"github.com/stretchr/testify/require"
)

// harness drives a table and its model with one stream of random numbers. It
// compares directly: a call of require for each value would cost more than all
// else.
type harness struct {
	t       testing.TB
	ctx     context.Context
	r       *rand.Rand
	seed    uint64
	budget  string
	eng     *Engine
	owner   *Owner
	tab     *Table
	limits  Limits // of each table
	m       *model
	w       *Writer
	u       *Updater
	cursors []*modelCursor
	lookups []*modelLookup
	batch   Batch
	out     Batch
	res     []Result
	buf     RowBuffer
	gone    []RowID // ids of rows that were deleted, of slots not used again
	domain  int
	texts   modelTexts
	ops     []modelOp
	weights int
	step    int
	last    string
	failed  *atomic.Bool
	tally   *tally
}

// modelCursor is an open cursor and what the model knows of it.
type modelCursor struct {
	c    *Cursor
	id   RowID // plain id of the row it is on; 0: none
	next RowID // where it goes on: the rows from this id on are to come
}

type modelOp struct {
	name   string
	weight int
	f      func()
	roomy  bool // must not be refused memory
}

// tally counts what was done. An operation is one of harness.operations, which
// may make many calls of the engine: a walk of 100 rows is one operation, and a
// batch is one call.
type tally struct {
	ops     map[string]int
	steps   int // operations
	idle    int // operations that found nothing to do: no cursor to close. They do not count
	calls   int // of the engine
	batched int // rows in batches
	tiers   [3]int
	spread  int // steps with bytes on two tiers or more
	refused int // calls that a limit refused
}

func newTally() *tally { return &tally{ops: map[string]int{}} }

func (c *tally) add(d *tally) {
	for k, n := range d.ops {
		c.ops[k] += n
	}
	for i, n := range d.tiers {
		c.tiers[i] += n
	}
	c.steps += d.steps
	c.idle += d.idle
	c.calls += d.calls
	c.batched += d.batched
	c.spread += d.spread
	c.refused += d.refused
}

// String is the histogram.
func (c *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d operations, %d more found nothing to do; %d calls and %d rows in batches; on RAM, mmap, disk: %v; on two tiers or more: %.1f %%; refused by a limit: %d\n",
		c.steps, c.idle, c.calls, c.batched, c.tiers, 100*float64(c.spread)/float64(c.steps), c.refused)
	names := make([]string, 0, len(c.ops))
	for k := range c.ops {
		names = append(names, k)
	}
	sort.Slice(names, func(i, j int) bool { return c.ops[names[i]] > c.ops[names[j]] })
	for _, k := range names {
		fmt.Fprintf(&b, "%14s %9d  %5.2f %%\n", k, c.ops[k], 100*float64(c.ops[k])/float64(c.steps))
	}
	return b.String()
}

func newHarness(t testing.TB, seed uint64, b modelBudget, failed *atomic.Bool) *harness {
	r := rand.New(rand.NewPCG(seed, 1))
	if b.engine.Dir == "" {
		b.engine.Dir = t.TempDir()
	}
	eng, err := Open(b.engine)
	require.NoError(t, err)
	h := &harness{t: t, ctx: context.Background(), r: r, seed: seed, eng: eng, budget: b.name, limits: b.table, failed: failed, tally: newTally()}
	if h.texts.long = 40; r.IntN(4) == 0 {
		h.texts.long = 9000
	}
	h.ops = h.operations()
	for _, o := range h.ops {
		h.weights += o.weight
	}
	h.newTable()
	return h
}

// fail reports a difference between the table and its model.
func (h *harness) fail(format string, args ...any) {
	h.t.Helper()
	h.failed.Store(true)
	h.t.Fatalf("budget %s, seed %d, step %d, %s: %s", h.budget, h.seed, h.step, h.last, fmt.Sprintf(format, args...))
}

func (h *harness) must(err error) {
	if err != nil {
		h.t.Helper()
		h.fail("%v", err)
	}
}

// refused reports whether a limit refused the call, which then changed nothing.
func (h *harness) refused(err error) bool {
	if err == nil {
		return false
	}
	var le *LimitError
	if (errors.As(err, &le) || errors.Is(err, spill.ErrLimit)) && !errors.Is(err, ErrTableFailed) {
		h.tally.refused++
		return true
	}
	h.t.Helper()
	h.fail("%v", err)
	return false
}

func (h *harness) newTable() {
	h.domain = 1 << h.r.IntN(14)
	if h.r.IntN(4) > 0 {
		h.domain = 256 << h.r.IntN(6)
	}
	m := &model{}
	var cols []Column
	n := 1 + h.r.IntN(5)
	wide := h.r.IntN(n + n/2 + 1) // maybe none
	for i := range n {
		c := randomModelColumn(h.r, i)
		if i == wide {
			c = wideModelColumn(i)
		}
		m.cols = append(m.cols, c)
		cols = append(cols, c.Column)
	}
	var opts []SchemaOption
	var key []int
	switch h.r.IntN(4) {
	case 0: // duplicates are welcome
	case 1, 2:
		key = []int{h.r.IntN(len(cols))}
		opts = append(opts, Distinct(key...))
	default:
		key = seq(len(cols))
		opts = append(opts, Distinct())
	}
	s, err := NewSchema(cols, opts...)
	h.must(err)
	if key != nil {
		m.indexes = append(m.indexes, &modelIndex{spec: IndexSpec{Key: Asc(key...), Unique: true}, keys: map[string]RowID{}})
	}
	h.owner, err = h.eng.NewOwner("model", Limits{})
	h.must(err)
	h.tab, err = h.owner.Create(h.ctx, s)
	h.must(err)
	h.tab.SetLimits(h.limits)
	h.m = m
	h.w = h.tab.Writer(h.ctx)
	h.u = h.tab.Updater(h.ctx)
	h.gone = h.gone[:0]
	for range h.r.IntN(3) {
		h.addIndex()
	}
}

func (h *harness) vals() []modelVal {
	return h.fill(make([]modelVal, len(h.m.cols)))
}

func (h *harness) fill(vals []modelVal) []modelVal {
	for i := range vals {
		vals[i] = h.m.cols[i].value(h.r, h.domain, &h.texts)
	}
	return vals
}

// set describes vals[i], which may be left out if it is NULL in a new row.
func set(s *setters, k modelKind, i int, v modelVal) {
	switch {
	case v.null:
		s.SetNull(i)
	case k == modelInt:
		s.SetInt(i, v.i)
	case k == modelFloat:
		s.SetFloat(i, v.f)
	default:
		s.SetString(i, v.s)
	}
}

func (h *harness) setAll(s *setters, vals []modelVal) {
	for i, v := range vals {
		if v.null && h.r.IntN(2) == 0 {
			continue
		}
		set(s, h.m.cols[i].kind, i, v)
	}
}

func (h *harness) read(row Row, i int) modelVal {
	v := modelVal{null: row.IsNull(i)}
	switch h.m.cols[i].kind {
	case modelInt:
		v.i = row.Int(i)
	case modelFloat:
		v.f = row.Float(i)
	default:
		v.s = string(row.Bytes(i))
	}
	return v
}

func (h *harness) same(row Row, vals []modelVal) {
	for i, v := range vals {
		if got := h.read(row, i); !got.same(v) {
			h.t.Helper()
			h.fail("column %d is %+v, want %+v", i, got, v)
		}
	}
}

// took compares what became of a row with what the model says.
func (h *harness) took(vals []modelVal, res Result) {
	x, other := h.m.conflict(vals, 0)
	if res.Added != (x == nil) {
		h.t.Helper()
		h.fail("row %v: %+v, the model's conflict %v with %#x", vals, res, x, other)
	}
	if res.Added {
		h.m.add(res.ID, vals)
		return
	}
	if plain(res.ID) != other || res.Index != h.nth(x) {
		h.fail("refused by %#x of index %d, want %#x of %d", res.ID, res.Index, other, h.nth(x))
	}
}

func (h *harness) nth(x *modelIndex) int32 {
	n := int32(slices.Index(h.m.indexes, x))
	if h.tab.index == nil {
		n++
	}
	return n
}

func (h *harness) insert() {
	vals := h.vals()
	h.setAll(&h.w.setters, vals)
	h.tally.calls++
	id, added, err := h.w.Insert()
	if h.refused(err) {
		return
	}
	res := Result{ID: id, Added: added}
	if c := h.w.Conflict(); c.Index != nil {
		res.Index = int32(c.Index.nth)
	}
	h.took(vals, res)
}

func (h *harness) insertBatch() { h.load(h.r.IntN(80)) }

// refill loads an empty table: now and then enough for index segments to split
// and trees to become high.
func (h *harness) refill() {
	n := 100
	if h.r.IntN(48) == 0 {
		n = 2000
	}
	h.load(n/2 + h.r.IntN(n))
}

// load inserts n rows as a batch.
func (h *harness) load(n int) {
	rows := h.rows(n)
	h.m.stale()
	h.tally.calls++
	done, err := h.tab.InsertBatch(h.ctx, &h.batch, h.res)
	if !h.refused(err) && done != n {
		h.fail("%d of %d rows done", done, n)
	}
	for k, vals := range rows[:done] {
		h.took(vals, h.res[k])
	}
}

// rows makes n rows, and h.batch of them.
func (h *harness) rows(n int) [][]modelVal {
	rows := make([][]modelVal, n)
	cols := len(h.m.cols)
	all := make([]modelVal, n*cols)
	for k := range rows {
		rows[k] = h.fill(all[k*cols:][:cols:cols])
	}
	h.columns(rows)
	h.tally.batched += n
	h.res = slices.Grow(h.res[:0], n)[:n]
	return rows
}

// columns makes h.batch of rows.
func (h *harness) columns(rows [][]modelVal) {
	b := &h.batch
	b.Reset()
	b.N = len(rows)
	for len(b.Cols) < len(h.m.cols) {
		b.Cols = append(b.Cols, Vector{})
	}
	b.Cols = b.Cols[:len(h.m.cols)]
	for i := range h.m.cols {
		v := &b.Cols[i]
		v.Off = append(v.Off[:0], 0)
		if v.Valid = nil; !h.m.cols[i].NotNull {
			v.Valid = make([]uint64, (len(rows)+63)/64)
		}
		for k, row := range rows {
			v.I64 = append(v.I64, row[i].i)
			v.F64 = append(v.F64, row[i].f)
			v.Bytes = append(v.Bytes, row[i].s...)
			v.Off = append(v.Off, int32(len(v.Bytes)))
			if v.Valid != nil && !row[i].null {
				v.Valid[k/64] |= 1 << (k % 64)
			}
		}
	}
}

// anyRow returns the place of some row in the model.
func (h *harness) anyRow() (int, bool) {
	if len(h.m.rows) == 0 {
		return 0, false
	}
	return h.r.IntN(len(h.m.rows)), true
}

func (h *harness) get() {
	at, ok := h.anyRow()
	if !ok {
		return
	}
	h.tally.calls++
	row, err := h.tab.Get(h.m.rows[at].id, &h.buf)
	h.must(err)
	h.same(row, h.m.rows[at].vals)
}

// getGone reads a deleted row whose slot cannot have been used again.
func (h *harness) getGone() {
	if len(h.gone) == 0 {
		return
	}
	id := h.gone[h.r.IntN(len(h.gone))]
	if _, there := h.m.at(id); there {
		return
	}
	h.tally.calls += 3
	if _, err := h.tab.Get(id, &h.buf); !errors.Is(err, ErrRowGone) {
		h.fail("get deleted row: %v", err)
	}
	if err := h.tab.Delete(h.ctx, id); !errors.Is(err, ErrRowGone) {
		h.fail("delete deleted row: %v", err)
	}
	if _, err := h.u.Load(id); !errors.Is(err, ErrRowGone) {
		h.fail("load deleted row: %v", err)
	}
}

func (h *harness) delete() {
	if at, ok := h.anyRow(); ok {
		h.deleteAt(at)
	}
}

func (h *harness) deleteAt(at int) bool {
	id := h.m.rows[at].id
	h.tally.calls++
	if h.refused(h.tab.Delete(h.ctx, id)) {
		return false
	}
	h.m.remove(at)
	if len(h.gone) < 64 {
		h.gone = append(h.gone, id)
	}
	return true
}

// deleteMany deletes a run of rows, so that slots of all kinds come free.
func (h *harness) deleteMany() {
	at, ok := h.anyRow()
	for n := h.r.IntN(60); ok && n > 0 && at < len(h.m.rows); n-- {
		ok = h.deleteAt(at)
	}
}

func (h *harness) update() {
	if at, ok := h.anyRow(); ok {
		h.updateAt(at)
	}
}

func (h *harness) updateAt(at int) {
	id := h.m.rows[at].id
	h.tally.calls += 2
	row, err := h.u.Load(id)
	h.must(err)
	h.same(row, h.m.rows[at].vals)
	vals := slices.Clone(h.m.rows[at].vals)
	for range 1 + h.r.IntN(len(vals)) {
		i := h.r.IntN(len(vals))
		vals[i] = h.m.cols[i].value(h.r, h.domain, &h.texts)
		set(&h.u.setters, h.m.cols[i].kind, i, vals[i])
	}
	ok, err := h.u.Update()
	if h.refused(err) {
		return
	}
	x, other := h.m.conflict(vals, id)
	if ok != (x == nil) {
		h.fail("update to %v: %t, the model's conflict is %v with %#x", vals, ok, x, other)
	}
	if ok {
		h.m.replace(at, vals)
		return
	}
	if c := h.u.Conflict(); plain(c.Row) != other || int32(c.Index.nth) != h.nth(x) {
		h.fail("refused by %#x, want %#x", c.Row, other)
	}
}

func (h *harness) truncate() {
	h.tally.calls++
	h.must(h.tab.Truncate())
	h.m.rows, h.m.saves, h.m.top, h.gone = nil, nil, 0, h.gone[:0]
	h.m.refill()
	for _, c := range h.cursors {
		c.id, c.next = 0, 0
	}
	for _, l := range h.lookups {
		l.id, l.side = 0, 0
	}
	h.refill()
}

func (h *harness) recreate() {
	h.closeCursors()
	h.must(h.tab.Drop())
	h.must(h.owner.Close())
	h.newTable()
	h.refill()
}

// run does so many operations. It ends when another harness has failed.
func (h *harness) run(steps int) {
	for h.tally.steps < steps && !h.failed.Load() {
		op := h.pick()
		calls := h.tally.calls
		h.last = op.name
		h.squeeze(op)
		if h.step++; h.tally.calls == calls {
			h.tally.idle++
			continue
		}
		h.tally.ops[op.name]++
		if h.tab.Len() != int64(len(h.m.rows)) {
			h.fail("%d rows, want %d", h.tab.Len(), len(h.m.rows))
		}
		h.noteTiers()
		if h.tally.steps%4096 == 0 {
			h.check()
		}
	}
	h.scanBatches()
	h.check()
}

// squeeze runs an operation, one time in eight with so little memory left that
// some allocation in it is refused: then nothing must have changed.
func (h *harness) squeeze(op modelOp) {
	if op.roomy || h.r.IntN(8) != 0 {
		op.f()
		return
	}
	tab := h.tab
	used := tab.Stats().Bytes[RAM].Total()
	tab.SetLimits(Limits{RAM: used + int64(h.r.IntN(6))*4096 + 1, Mmap: Disabled, Disk: Disabled})
	op.f()
	tab.SetLimits(h.limits)
}

func (h *harness) operations() []modelOp {
	return []modelOp{
		{"insert", 120, h.insert, false},
		{"insertBatch", 24, h.insertBatch, false},
		{"get", 50, h.get, false},
		{"getGone", 18, h.getGone, false},
		{"delete", 55, h.delete, false},
		{"deleteMany", 12, h.deleteMany, false},
		{"update", 90, h.update, false},
		{"upsert", 26, h.upsert, false},
		{"upsertBatch", 16, h.upsertBatch, false},
		{"handle", 40, h.handle, false},
		{"openCursor", 28, h.openCursor, false},
		{"cloneCursor", 30, h.cloneCursor, false},
		{"closeCursor", 30, h.closeCursor, false},
		{"next", 60, h.next, false},
		{"prev", 46, h.prev, false},
		{"seek", 28, h.seek, false},
		{"deleteInScan", 30, h.deleteInScan, false},
		{"updateInScan", 30, h.updateInScan, false},
		{"scanBatches", 12, h.scanBatches, false},
		{"addIndex", 24, h.addIndex, false},
		{"toggleIndex", 24, h.toggleIndex, false},
		{"find", 60, h.find, false},
		{"range", 40, h.rangeScan, false},
		{"groups", 28, h.groups, false},
		{"openLookup", 50, h.openLookup, false},
		{"closeLookup", 50, h.closeLookup, false},
		{"walk", 60, h.walkLookup, false},
		{"savepoint", 22, h.savepoint, false},
		{"rollback", 30, h.rollback, true},
		{"release", 30, h.releaseSave, false},
		{"truncate", 11, h.truncate, true},
		{"recreate", 11, h.recreate, true},
	}
}

func (h *harness) pick() modelOp {
	n := h.r.IntN(h.weights)
	for _, o := range h.ops {
		if n -= o.weight; n < 0 {
			return o
		}
	}
	panic("unreachable")
}

func (h *harness) noteTiers() {
	h.tally.steps++
	tiers := 0
	for i := range h.tally.tiers {
		if h.tab.space.Has(Tier(i)) {
			h.tally.tiers[i]++
			tiers++
		}
	}
	if tiers > 1 {
		h.tally.spread++
	}
}

// check verifies the indexes' own structure.
func (h *harness) check() {
	if h.tab.index != nil {
		h.must(h.tab.index.Check())
	}
	for _, x := range h.m.indexes {
		if x.ix == nil || x.off {
			continue
		}
		if x.ix.Len() != len(h.m.rows) {
			h.fail("index %s has %d rows, want %d", x.spec.Name, x.ix.Len(), len(h.m.rows))
		}
	}
}

func (h *harness) close() {
	h.closeCursors()
	h.must(h.eng.Close())
	h.must(h.eng.Close())
	if s := h.eng.Stats(); s.Stats.Tables != [3]int64{} {
		h.fail("after Close: %+v", s)
	}
}
