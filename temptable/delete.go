package temptable

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spillway-db/spillway/internal/sys"
)

// Delete removes the row with the given id. Its id is void, and its place may be
// used again once no cursor and no savepoint is open. Cursors pass over it.
//
// Errors: ErrRowGone if there is no such row; ErrTableFailed and what it wraps;
// ErrClosed; ErrConcurrentUse; ErrSealed; the context's. On an error the table
// is as it was.
//
// Cost: O(1), and O(log n) for each index that is not unique and hashed, however
// many rows have the same key.
func (t *Table) Delete(ctx context.Context, id RowID) error {
	err := canceled(ctx, "delete from", t.name)
	if err == nil {
		err = t.deleteOne(id)
	}
	if err != nil {
		return fmt.Errorf("temptable: delete row %#x from %s: %w", uint64(id), t.name, err)
	}
	return nil
}

func (t *Table) deleteOne(id RowID) error {
	if err := t.begin(); err != nil {
		return err
	}
	defer t.endCalling()
	return t.lost(t.deleteGuarded(id))
}

// DeleteBatch deletes rows in the order of their ids in the slice. On an error
// exactly rows [0, n) are deleted.
func (t *Table) DeleteBatch(ctx context.Context, ids []RowID) (n int, err error) {
	for n < len(ids) && err == nil {
		if err = t.Delete(ctx, ids[n]); err == nil {
			n++
		}
	}
	return n, err
}

func (t *Table) deleteGuarded(id RowID) (err error) {
	if t.space.MayMap() {
		t.armed = true
		defer func() { t.armed = false }()
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	return t.deleteRow(id)
}

// deleteRow takes the row out of the indexes, then marks its slot.
func (t *Table) deleteRow(id RowID) error {
	p, err := t.locate(id)
	if err != nil {
		return err
	}
	t.more()
	u := t.undo()
	if err := t.logDelete(&p); err != nil {
		return err
	}
	if err := t.unindex(&p); err != nil {
		t.unstore(u, 0)
		return err
	}
	t.changes.row(p.id)
	t.setRows(t.rows - 1)
	return t.must(t.erase(&p))
}

// unindex takes the row out of all indexes, or out of none.
func (t *Table) unindex(p *place) error {
	if len(t.ext.indexes) == 0 {
		return nil
	}
	row, err := t.oldRow(p)
	if err != nil {
		return err
	}
	return t.indexesDelete(row, p.id)
}

// oldRow copies the row that is going to change.
func (t *Table) oldRow(p *place) ([]byte, error) {
	row, err := t.fetchBy(p.to, &t.pin, &t.ext.wide)
	if err != nil {
		return nil, err
	}
	t.ext.old = append(t.ext.old[:0], row...)
	t.pin.Unpin()
	return t.ext.old, nil
}

// erase gives the row's slots back, or only marks the row deleted while a
// savepoint is open.
func (t *Table) erase(p *place) error {
	if len(t.ext.saves) > 0 {
		return t.writeHead(p.id, makeHeader(p.homeRoom(), flagDeleted), 0)
	}
	if err := t.discardPieces(p.next); err != nil {
		return err
	}
	if p.forwarded() {
		if err := t.discard(p.to); err != nil {
			return err
		}
	}
	return t.discard(p.id)
}

// writeHead writes a slot's header and link, nothing else.
func (t *Table) writeHead(id RowID, h uint16, link RowID) error {
	slot, err := t.space.Arena.Write(id, slotHead, &t.pin)
	if err != nil {
		return err
	}
	setHeader(slot, h)
	if link != 0 {
		setSlotLink(slot, link)
	}
	t.pin.Unpin()
	return nil
}

// must is for a step that can fail only by an I/O error, when what comes before
// it cannot be taken back: the table is failed then.
func (t *Table) must(err error) error {
	if err == nil {
		return nil
	}
	return t.fail(err)
}
