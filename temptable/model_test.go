package temptable

import (
	"fmt"
	"slices"
	"testing"
)

// model is what a table is, in plain Go: rows ordered by id, and for each unique
// key the row that has it.
type model struct {
	cols    []modelColumn
	rows    []modelRow // by id
	indexes []*modelIndex
	saves   []modelSave
	top     RowID // plain id behind all rows that were there since the last truncation or rollback
}

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
}

type modelSave struct {
	s    Savepoint
	rows []modelRow
	top  RowID
}

// at is where the row with an id is, or would be.
func (m *model) at(id RowID) (int, bool) {
	return slices.BinarySearchFunc(m.rows, plain(id), func(r modelRow, id RowID) int {
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
	m.rows = slices.Insert(m.rows, at, modelRow{id, vals})
	m.top = max(m.top, plain(id)+1)
	for _, x := range m.indexes {
		x.put(m, id, vals)
	}
}

func (m *model) remove(at int) {
	for _, x := range m.indexes {
		x.drop(m, m.rows[at].vals)
	}
	m.rows = slices.Delete(m.rows, at, at+1)
}

func (m *model) replace(at int, vals []modelVal) {
	for _, x := range m.indexes {
		x.drop(m, m.rows[at].vals)
	}
	for _, x := range m.indexes {
		x.put(m, m.rows[at].id, vals)
	}
	m.rows[at].vals = vals
}

// conflict returns the first index that refuses vals, and the row in the way;
// the row with the id except does not count.
func (m *model) conflict(vals []modelVal, except RowID) (*modelIndex, RowID) {
	for _, x := range m.indexes {
		if k, unique := x.key(m, vals); unique && !x.off {
			if id, ok := x.keys[k]; ok && id != plain(except) {
				return x, id
			}
		}
	}
	return nil, 0
}

// key returns the key of a row, and whether no other may have it.
func (x *modelIndex) key(m *model, vals []modelVal) (k string, unique bool) {
	if !x.spec.Unique {
		return "", false
	}
	var b [64]byte
	buf := b[:0]
	for _, p := range x.spec.Key {
		if vals[p.Col].null && x.spec.NullsDistinct {
			return "", false
		}
		buf = m.cols[p.Col].kind.appendModelKey(buf, vals[p.Col])
	}
	return string(buf), true
}

func (x *modelIndex) put(m *model, id RowID, vals []modelVal) {
	if k, unique := x.key(m, vals); unique && !x.off {
		x.keys[k] = plain(id)
	}
}

func (x *modelIndex) drop(m *model, vals []modelVal) {
	if k, unique := x.key(m, vals); unique && !x.off {
		delete(x.keys, k)
	}
}

// fill fills a unique index again; it returns false if the rows do not fit.
func (x *modelIndex) fill(m *model) bool {
	x.keys = map[string]RowID{}
	for _, r := range m.rows {
		k, unique := x.key(m, r.vals)
		if _, there := x.keys[k]; there && unique {
			return false
		}
		if unique {
			x.keys[k] = plain(r.id)
		}
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
func (x *modelIndex) sorted(m *model) []modelRow {
	rows := slices.Clone(m.rows)
	slices.SortStableFunc(rows, func(a, b modelRow) int { return x.compare(m, a.vals, b.vals, len(x.spec.Key)) })
	return rows
}

// tinyBudgets put a table of a few thousand rows on every combination of tiers.
var tinyBudgets = map[string]Options{
	"ram":           {MaxRAM: 64 << 20, MaxMmap: Disabled, MaxDisk: Disabled},
	"ram-mmap":      {MaxRAM: 64 << 10, MaxMmap: 64 << 20, MaxDisk: Disabled},
	"ram-disk":      {MaxRAM: 96 << 10, MaxMmap: Disabled, MaxDisk: 64 << 20},
	"ram-mmap-disk": {MaxRAM: 96 << 10, MaxMmap: 128 << 10, MaxDisk: 64 << 20},
	"roomy":         {MaxRAM: 1 << 20, MaxMmap: 1 << 20, MaxDisk: 64 << 20},
}

// modelSeeds is how many tables each budget gets.
func modelSeeds() int {
	if raceEnabled || testing.Short() {
		return 1
	}
	return 6
}

func TestModel(t *testing.T) {
	total := newTally()
	for name, o := range tinyBudgets {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(modelSeeds()) {
				h := newHarness(t, seed, o)
				h.run(2000)
				h.close()
				total.add(h.tally)
			}
		})
	}
	t.Log(total)
}
