package temptable

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// model is what a table is, in plain Go: rows ordered by id, and for each unique
// key the row that has it.
type model struct {
	cols    []modelColumn
	rows    []*modelRow // by id
	indexes []*modelIndex
	saves   []modelSave
	top     RowID // plain id behind all rows that were there since the last truncation or rollback
}

// modelRow never changes: an update makes another one.
type modelRow struct {
	id   RowID // as the engine gave it
	vals []modelVal
}

// place is the id without the tag of a checked build.
func plain(id RowID) RowID { return id & (1<<tagBits - 1) }

// modelIndex is an index: the distinct key is one, too.
type modelIndex struct {
	spec IndexSpec
	ix   *Index           // nil: the distinct key
	off  bool             // disabled
	keys map[string]RowID // of a unique one, by plain id

	order []*modelRow // of an ordered one: all rows in its order, equal ones by id
	fresh bool        // order is what it should be
}

type modelSave struct {
	s    Savepoint
	rows []*modelRow
	top  RowID
}

// at is where the row with an id is, or would be.
func (m *model) at(id RowID) (int, bool) {
	return slices.BinarySearchFunc(m.rows, plain(id), func(r *modelRow, id RowID) int {
		switch {
		case plain(r.id) < id:
			return -1
		case plain(r.id) > id:
			return 1
		}
		return 0
	})
}

func (m *model) add(id RowID, vals []modelVal) {
	at, there := m.at(id)
	if there {
		panic(fmt.Sprintf("row id %#x is given twice", id))
	}
	r := &modelRow{id, vals}
	m.rows = slices.Insert(m.rows, at, r)
	m.top = max(m.top, plain(id)+1)
	for _, x := range m.indexes {
		x.put(m, r)
	}
}

func (m *model) remove(at int) {
	for _, x := range m.indexes {
		x.drop(m, m.rows[at])
	}
	m.rows = slices.Delete(m.rows, at, at+1)
}

func (m *model) replace(at int, vals []modelVal) {
	r := &modelRow{m.rows[at].id, vals}
	for _, x := range m.indexes {
		x.drop(m, m.rows[at])
		x.put(m, r)
	}
	m.rows[at] = r
}

// stale says that more rows change than are worth being put in order one by one.
func (m *model) stale() {
	for _, x := range m.indexes {
		x.fresh = false
	}
}

// conflict returns the first index that refuses vals, and the row in the way;
// the row with the id except does not count.
func (m *model) conflict(vals []modelVal, except RowID) (*modelIndex, RowID) {
	for _, x := range m.indexes {
		if x.off {
			continue
		}
		var b [256]byte
		if k, unique := x.key(b[:0], m, vals); unique {
			if id, ok := x.keys[string(k)]; ok && id != plain(except) {
				return x, id
			}
		}
	}
	return nil, 0
}

// key appends the key of a row, and says whether no other may have it.
func (x *modelIndex) key(b []byte, m *model, vals []modelVal) (k []byte, unique bool) {
	if !x.spec.Unique {
		return b, false
	}
	for _, p := range x.spec.Key {
		if vals[p.Col].null && x.spec.NullsDistinct {
			return b, false
		}
		b = m.cols[p.Col].kind.appendModelKey(b, vals[p.Col])
	}
	return b, true
}

func (x *modelIndex) put(m *model, r *modelRow) {
	if x.off {
		return
	}
	var b [256]byte
	if k, unique := x.key(b[:0], m, r.vals); unique {
		x.keys[string(k)] = plain(r.id)
	}
	if x.fresh {
		at, _ := x.place(m, r)
		x.order = slices.Insert(x.order, at, r)
	}
}

func (x *modelIndex) drop(m *model, r *modelRow) {
	if x.off {
		return
	}
	var b [256]byte
	if k, unique := x.key(b[:0], m, r.vals); unique {
		delete(x.keys, string(k))
	}
	if x.fresh {
		at, _ := x.place(m, r)
		x.order = slices.Delete(x.order, at, at+1)
	}
}

// place returns where in x.order a row is, or would be.
func (x *modelIndex) place(m *model, r *modelRow) (int, bool) {
	return slices.BinarySearchFunc(x.order, r, func(a, b *modelRow) int { return x.compareRows(m, a, b) })
}

// compareRows orders rows as the index does: equal ones by id.
func (x *modelIndex) compareRows(m *model, a, b *modelRow) int {
	return cmp.Or(x.compare(m, a.vals, b.vals, len(x.spec.Key)), cmp.Compare(plain(a.id), plain(b.id)))
}

// fill fills a unique index again; it returns false if the rows do not fit.
func (x *modelIndex) fill(m *model) bool {
	x.fresh = false
	if clear(x.keys); !x.spec.Unique {
		return true
	}
	var b [256]byte
	for _, r := range m.rows {
		k, unique := x.key(b[:0], m, r.vals)
		if !unique {
			continue
		}
		if _, there := x.keys[string(k)]; there {
			return false
		}
		x.keys[string(k)] = plain(r.id)
	}
	return true
}

func (m *model) refill() {
	for _, x := range m.indexes {
		if !x.off {
			x.fill(m)
		}
	}
}

// compare orders two rows by the first n columns of a key.
func (x *modelIndex) compare(m *model, a, b []modelVal, n int) int {
	for _, p := range x.spec.Key[:n] {
		if c := comparePart(p, m.cols[p.Col].kind, a[p.Col], b[p.Col]); c != 0 {
			return c
		}
	}
	return 0
}

// sorted returns the rows in the order of an index, equal ones by id.
func (x *modelIndex) sorted(m *model) []*modelRow {
	if !x.fresh {
		x.order = append(x.order[:0], m.rows...)
		slices.SortFunc(x.order, func(a, b *modelRow) int { return x.compareRows(m, a, b) })
		x.fresh = true
	}
	return x.order
}

// tinyBudgets put a table of a few thousand rows on every combination of tiers.
var tinyBudgets = map[string]Options{
	"ram":           {MaxRAM: 64 << 20, MaxMmap: Disabled, MaxDisk: Disabled},
	"ram-mmap":      {MaxRAM: 64 << 10, MaxMmap: 64 << 20, MaxDisk: Disabled},
	"ram-disk":      {MaxRAM: 96 << 10, MaxMmap: Disabled, MaxDisk: 64 << 20},
	"ram-mmap-disk": {MaxRAM: 96 << 10, MaxMmap: 128 << 10, MaxDisk: 64 << 20},
	"roomy":         {MaxRAM: 1 << 20, MaxMmap: 1 << 20, MaxDisk: 64 << 20},
}

// modelBudget is what an engine and each of its tables may take.
type modelBudget struct {
	name   string
	engine Options
	table  Limits
}

// modelBudgets are for tables of some hundred rows: what the table has for
// itself decides where they lie, and the engine has room for the rest.
var modelBudgets = []modelBudget{
	{"ram", Options{MaxRAM: 64 << 20, MaxMmap: Disabled, MaxDisk: Disabled}, Limits{}},
	{"ram-mmap", Options{MaxRAM: 1 << 20, MaxMmap: 64 << 20, MaxDisk: Disabled}, Limits{RAM: 4 << 10}},
	{"ram-disk", Options{MaxRAM: 1 << 20, MaxMmap: Disabled, MaxDisk: 64 << 20}, Limits{RAM: 32 << 10}},
	{"ram-mmap-disk", Options{MaxRAM: 1 << 20, MaxMmap: 8 << 20, MaxDisk: 64 << 20}, Limits{RAM: 4 << 10, Mmap: 64 << 10}},
	{"tiny", Options{MaxRAM: 96 << 10, MaxMmap: 128 << 10, MaxDisk: 64 << 20}, Limits{}},
}

// sessionOps is how many operations an engine serves.
const sessionOps = 20_000

// modelOps is how many operations the model test does: SPILLWAY_MODEL_OPS, or
// what CI has time for. One of them is eight calls of the engine on average, and
// a batch of n rows is one call: the default is some 40 million calls.
func modelOps() int {
	if n, err := strconv.Atoi(os.Getenv("SPILLWAY_MODEL_OPS")); err == nil {
		return n
	}
	if raceEnabled || testing.Short() {
		return 50_000
	}
	return 5_000_000
}

// modelSeed is SPILLWAY_MODEL_SEED, or any.
func modelSeed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SPILLWAY_MODEL_SEED"), 10, 64); err == nil {
		return n
	}
	return uint64(rand.Uint32())
}

// modelRun is TestModel under way.
type modelRun struct {
	sessions int
	ops      int    // of each session
	random   uint64 // the last sessions' seeds, one of each budget, begin here
	failed   atomic.Bool
	mu       sync.Mutex
	total    *tally
}

// TestModel compares tables with models of them, operation by operation, in
// sessions: an engine each, of one budget after the other. Their seeds are fixed
// but for those of the last ones, which are printed: SPILLWAY_MODEL_SEED repeats
// them.
func TestModel(t *testing.T) {
	all := modelOps()
	sessions := max(2*len(modelBudgets), all/sessionOps)
	r := &modelRun{sessions: sessions, ops: all / sessions, random: modelSeed(), total: newTally()}
	t.Logf("random seed: SPILLWAY_MODEL_SEED=%d", r.random)
	t.Cleanup(func() { r.report(t) })
	gc := debug.SetGCPercent(400) // models are garbage most of the time
	t.Cleanup(func() { debug.SetGCPercent(gc) })
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		t.Run(fmt.Sprint("worker", w), func(t *testing.T) {
			t.Parallel()
			for s := w; s < sessions && !r.failed.Load(); s += workers {
				r.session(t, s)
			}
		})
	}
}

func (r *modelRun) session(t *testing.T, s int) {
	seed, b := uint64(s), modelBudgets[s%len(modelBudgets)]
	if s >= r.sessions-len(modelBudgets) {
		seed += r.random
	}
	h := newHarness(t, seed, b, &r.failed)
	h.run(r.ops)
	h.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total.add(h.tally)
}

// report prints the histogram, and holds it to what it must be.
func (r *modelRun) report(t *testing.T) {
	t.Log(r.total)
	if t.Failed() || r.total.steps < 1_000_000 {
		return
	}
	if 10*r.total.spread < 3*r.total.steps {
		t.Errorf("tables are on two tiers or more in %d of %d operations", r.total.spread, r.total.steps)
	}
	for name, n := range r.total.ops {
		if 100*n < r.total.steps {
			t.Errorf("%s is but %d of %d operations", name, n, r.total.steps)
		}
	}
}
