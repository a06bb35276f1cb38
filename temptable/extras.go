package temptable

import (
	"github.com/spillway-db/spillway/internal/invariants"
)

// extras is what a table has that was more than filled: places of deleted rows,
// indexes beside the distinct one, savepoints.
type extras struct {
	free     *freeSlots  // nil: nothing was deleted yet
	indexes  []*Index    // in use; the distinct one first, if there is one
	declared []*Index    // all that were added, disabled ones included
	saves    []savepoint // open ones, the newest last
	saveSeq  uint64      // savepoints ever made
	log      RowID       // the newest entry of the undo log

	old  []byte // the row that is deleted or updated, whole
	wide []byte // for reading it

	patch *rowWriter // of Handle

	gens map[RowID]uint16 // invariants: how often a slot was used again
}

// more returns the extras, which the table has from now on.
func (t *Table) more() *extras {
	if t.ext == nil {
		t.ext = &extras{}
		if t.index != nil {
			t.ext.indexes = []*Index{t.distinctIndex()}
		}
	}
	return t.ext
}

// release gives up what a dropped table does not need. Its indexes keep their
// names: a writer may still be asked for its last conflict, at any time, since
// the table's owner may have been closed meanwhile.
func (e *extras) release() {
	if e != nil {
		e.free, e.saves, e.old, e.wide, e.patch = nil, nil, nil, nil, nil
	}
}

// clearExtras empties what there is, for Truncate.
func (t *Table) clearExtras() {
	e := t.ext
	if e == nil {
		return
	}
	for _, x := range e.indexes {
		x.clear()
	}
	if e.free != nil {
		*e.free = freeSlots{}
	}
	e.saves, e.log, t.floor = e.saves[:0], 0, 0
}

// tagBits is where the generation of a slot is in an id that a caller sees, in a
// checked build.
const tagBits = 48

// tag makes the id that a caller sees of a row's id: the same, but in a checked
// build the generation of its slot is in the upper bits.
func (t *Table) tag(id RowID) RowID {
	if invariants.Enabled && t.ext != nil && id != 0 {
		return id | RowID(t.ext.gens[id])<<tagBits
	}
	return id
}

// untag undoes tag. It reports false for the id of a row whose slot was used
// again since.
func (t *Table) untag(id RowID) (RowID, bool) {
	if !invariants.Enabled {
		return id, true
	}
	plain := id & (1<<tagBits - 1)
	return plain, t.tag(plain) == id
}

// renew notes that a slot is used again.
func (t *Table) renew(id RowID) {
	if invariants.Enabled {
		if t.ext.gens == nil {
			t.ext.gens = make(map[RowID]uint16)
		}
		t.ext.gens[id]++
	}
}
