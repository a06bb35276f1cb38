package temptable

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spillway-db/spillway/hashindex"
)

// A change of a row goes to all indexes or to none. An insert: find looks for
// conflicts in all, reserve makes sure of memory in all, publish cannot fail.

// find looks for a row that forbids row. If there is none, reserve may follow.
func (x *Index) find(row []byte) (other RowID, err error) {
	x.row, x.planned = row, false
	if x.hashed(row) {
		h, err := x.view.keyHash(row)
		if err != nil {
			return 0, err
		}
		slot, id, err := x.hash.Find(h, &x.keyReader)
		x.slot = slot
		return RowID(id), err
	}
	if x.key, err = x.treeKey(x.key[:0], row); err != nil || !x.exclusive(row) {
		return 0, err
	}
	x.want, x.planned = x.key, true
	id, err := x.tree.Reserve(x.key, 0, true, &x.keyReader)
	return RowID(id), err
}

// reserve makes sure that publish cannot fail, for the row that find was asked
// about, which is stored at id by now.
func (x *Index) reserve(id RowID) (err error) {
	switch {
	case x.hashed(x.row):
		x.slot, err = x.hash.Reserve(x.slot, &x.keyReader)
	case !x.planned:
		x.want, x.planned = x.key, true
		_, err = x.tree.Reserve(x.key, uint64(id), false, &x.keyReader)
	}
	return err
}

func (x *Index) publish(id RowID) {
	if x.hashed(x.row) {
		x.hash.Publish(x.slot, uint64(id))
		return
	}
	x.tree.Publish(uint64(id))
	x.planned = false
}

// cancel forgets what find and reserve have prepared.
func (x *Index) cancel() {
	if x.planned {
		x.tree.Cancel()
		x.planned = false
	}
	x.moving = 0
}

// add is find, reserve and publish for a row without a conflict.
func (x *Index) add(row []byte, id RowID) (other RowID, err error) {
	other, err = x.find(row)
	if err == nil && other == 0 {
		err = x.reserve(id)
	}
	if err != nil || other != 0 {
		x.cancel()
		return other, err
	}
	x.publish(id)
	return 0, nil
}

// remove takes the row at id out. row is what is stored there.
func (x *Index) remove(row []byte, id RowID) error {
	if x.hashed(row) {
		return x.removeHashed(row, id)
	}
	var err error
	if x.gone, err = x.treeKey(x.gone[:0], row); err != nil {
		return err
	}
	return x.removeKey(x.gone, id)
}

func (x *Index) removeHashed(row []byte, id RowID) error {
	h, err := x.view.keyHash(row)
	if err != nil {
		return err
	}
	x.row = row
	found, err := x.hash.Remove(h, uint64(id), &x.keyReader)
	if err != nil {
		return err
	}
	return x.check(found, id)
}

func (x *Index) removeKey(key []byte, id RowID) error {
	x.want = key
	found, err := x.tree.Delete(key, uint64(id), &x.keyReader)
	if err != nil {
		return err
	}
	return x.check(found, id)
}

func (x *Index) check(found bool, id RowID) error {
	if found {
		return nil
	}
	return fmt.Errorf("%w: index %s has lost row %#x", ErrCorrupt, x.spec.Name, uint64(id))
}

// addIndexed is add for a table with extras: the row goes to every index. The
// distinct one has been asked already, and slot is its answer.
func (t *Table) addIndexed(row []byte, slot hashindex.Slot) (id RowID, added bool, err error) {
	if other, err := t.indexesFind(row, slot); other != 0 || err != nil {
		return other, false, err
	}
	u := t.undo()
	if id, err = t.store(row); err != nil {
		t.indexesCancel()
		return 0, false, err
	}
	if err = t.indexesReserve(id); err != nil {
		t.indexesCancel()
		t.unstore(u, id)
		return 0, false, err
	}
	for _, x := range t.ext.indexes {
		x.publish(id)
	}
	t.setRows(t.rows + 1)
	return t.tag(id), true, nil
}

// indexesFind looks for a row that forbids row, and notes which index says so.
func (t *Table) indexesFind(row []byte, slot hashindex.Slot) (other RowID, err error) {
	for _, x := range t.ext.indexes {
		if x.nth == 0 {
			x.row, x.slot = row, slot
			continue
		}
		if other, err = x.find(row); err != nil {
			t.indexesCancel()
			return 0, err
		}
		if other != 0 {
			t.clash = int32(x.nth)
			t.indexesCancel()
			return t.tag(other), nil
		}
	}
	return 0, nil
}

func (t *Table) indexesReserve(id RowID) (err error) {
	for _, x := range t.ext.indexes {
		if err = x.reserve(id); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) indexesCancel() {
	t.pin.Unpin()
	for _, x := range t.ext.indexes {
		x.cancel()
	}
}

// indexesDelete takes the row at id out of every index, or out of none. Trees
// come first: what they may fail to do is taken back before a hash index, which
// cannot fail, has changed.
func (t *Table) indexesDelete(row []byte, id RowID) error {
	for i, x := range t.ext.indexes {
		if x.hashed(row) {
			continue
		}
		if err := x.remove(row, id); err != nil {
			return t.restore(err, row, id, t.ext.indexes[:i])
		}
	}
	for _, x := range t.ext.indexes {
		if x.hashed(row) {
			if err := x.remove(row, id); err != nil {
				return t.must(err)
			}
		}
	}
	return nil
}

// restore puts the row back into the trees among the indexes, after err. If that
// fails, too, the table has failed.
func (t *Table) restore(err error, row []byte, id RowID, indexes []*Index) error {
	for _, x := range indexes {
		if x.hashed(row) {
			continue
		}
		if _, e := x.add(row, id); e != nil {
			return t.must(e)
		}
	}
	return err
}

// indexesCompare finds out which indexes an update concerns, and looks in those
// for a row that forbids it.
func (t *Table) indexesCompare(p *place, row []byte) (other RowID, err error) {
	if len(t.ext.indexes) == 0 {
		return 0, nil
	}
	old, err := t.oldRow(p)
	if err != nil {
		return 0, err
	}
	for _, x := range t.ext.indexes {
		if err = x.compare(old, row); err != nil {
			break
		}
		if !x.changes {
			continue
		}
		if other, err = x.find(row); err != nil {
			break
		}
		if other != 0 {
			t.clash = int32(x.nth)
			break
		}
	}
	if err != nil || other != 0 {
		t.indexesCancel()
	}
	return t.tag(other), err
}

// compare sets whether the two rows differ for the index.
func (x *Index) compare(old, row []byte) (err error) {
	if x.hashed(old) || x.hashed(row) {
		var same bool
		same, err = x.t.keyEqual(x.view, old, row)
		x.changes = !same
		return err
	}
	if x.key, err = x.treeKey(x.key[:0], row); err != nil {
		return err
	}
	x.gone, err = x.treeKey(x.gone[:0], old)
	x.changes = !bytes.Equal(x.key, x.gone)
	return err
}

// indexesMove changes the key of the row at id, from that of t.ext.old to that
// of the row that indexesCompare was called with, in every index or in none.
func (t *Table) indexesMove(id RowID) error {
	for _, x := range t.ext.indexes {
		if x.changes {
			if err := x.prepare(id); err != nil {
				t.indexesCancel()
				return err
			}
		}
	}
	for i, x := range t.ext.indexes {
		if x.changes && (!x.hashed(t.ext.old) || !x.hashed(x.row)) {
			if err := x.move(t.ext.old, id); err != nil {
				t.moveBack(id, t.ext.indexes[:i])
				t.indexesCancel()
				return err
			}
		}
	}
	for _, x := range t.ext.indexes {
		if x.changes && x.hashed(t.ext.old) && x.hashed(x.row) {
			if err := x.removeKeeping(t.ext.old, id); err != nil {
				return t.must(err)
			}
			x.hash.Publish(x.slot, uint64(id))
		}
		x.moving = 0
	}
	return nil
}

// removeKeeping is removeHashed that leaves x.row alone.
func (x *Index) removeKeeping(row []byte, id RowID) error {
	keep := x.row
	err := x.removeHashed(row, id)
	x.row = keep
	return err
}

// prepare gets what the move will need. A tree's reservation does not outlast
// the removal that comes before it is used, but its nodes stay at hand.
func (x *Index) prepare(id RowID) error {
	err := x.reserve(id)
	if x.planned {
		x.tree.Cancel()
		x.planned = false
		if err == nil {
			err = x.tree.Stock()
		}
	}
	return err
}

// move takes the row out under its old key and adds it under the new one, or
// leaves all as it is.
func (x *Index) move(old []byte, id RowID) error {
	row := x.row
	if err := x.remove(old, id); err != nil {
		return err
	}
	x.row = row
	x.moving, x.moved = id, x.key
	err := x.reserve(id)
	if err == nil {
		x.publish(id)
		return nil
	}
	x.cancel()
	if _, e := x.add(old, id); e != nil {
		return x.t.must(e)
	}
	return err
}

// moveBack undoes the moves of the trees among the indexes.
func (t *Table) moveBack(id RowID, indexes []*Index) {
	for _, x := range indexes {
		if !x.changes || x.hashed(t.ext.old) && x.hashed(x.row) {
			continue
		}
		if err := x.unmove(t.ext.old, id); err != nil {
			_ = t.must(err)
		}
	}
}

func (x *Index) unmove(old []byte, id RowID) error {
	err := x.remove(x.row, id)
	x.moving = 0
	if err == nil {
		_, err = x.add(old, id)
	}
	return err
}

// takeConflict returns the conflict that was noted, with the row that caused it.
func (t *Table) takeConflict(other RowID) Conflict {
	c := Conflict{t.nthIndex(t.clash), other}
	t.clash = 0
	return c
}

// nthIndex returns the index that Result.Index means.
func (t *Table) nthIndex(n int32) *Index {
	if n == 0 {
		return t.Index(distinctName)
	}
	return t.ext.declared[n-1]
}

// build adds all rows of the table to an empty index; on an error it is empty
// again.
func (x *Index) build(ctx context.Context) (err error) {
	s := x.t.scan(positionOf(0))
	defer s.Close()
	for {
		ok, err := s.nextLocked(ctx)
		if err == nil && ok {
			var other RowID
			if other, err = x.add(s.row.buf, s.id); other != 0 {
				err = &ConflictError{Index: x.spec.Name, Row: x.t.tag(s.id), Other: x.t.tag(other)}
			}
		}
		if err != nil {
			x.free()
			return err
		}
		if !ok {
			return nil
		}
	}
}

// scan opens a cursor for a call that has the table to itself.
func (t *Table) scan(from position) *Cursor {
	return &Cursor{t: t, at: from, seen: t.changes.version, inside: true}
}

// nextLocked is Next inside of a call that has the table to itself.
func (c *Cursor) nextLocked(ctx context.Context) (bool, error) {
	for {
		if c.step() {
			if header(c.row.buf)&(flagChained|flagForwarded) == 0 {
				return true, nil
			}
			var err error
			c.row.buf, err = c.whole(c.row.buf)
			return err == nil, err
		}
		if err := canceled(ctx, "scan", c.t.name); err != nil {
			return false, err
		}
		if cap(c.buf) == 0 {
			if err := c.t.space.ChargeHeap(cursorBuf); err != nil {
				return false, err
			}
			c.charge += cursorBuf
			c.buf = make([]byte, 0, cursorBuf)
		}
		run, err := c.run()
		if err != nil || len(run) == 0 {
			return false, err
		}
	}
}
