package temptable

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime/debug"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/internal/sys"
)

// Savepoint is a state of a table to go back to. It is open from
// Table.Savepoint until Release, a RollbackTo an earlier one, or Truncate.
type Savepoint struct {
	t   *Table
	seq uint64
}

// savepoint is what the table knows of one.
type savepoint struct {
	seq  uint64
	mark allocator.Mark
	end  RowID // of the rows at that time
	rows int64
	log  RowID
}

// While a savepoint is open, no byte before its end changes but the first 16 of
// a row's slot, and those are in the log first: its entries are pieces among the
// rows, so they spill, and they end with the rows when the table is rolled back.
//
//	u16 header | u48 the entry before | u8 what was done, u8 mark, u48 the row | the 16 bytes
const (
	logLen  = 32
	logRow  = 8
	logHead = 16
)

const (
	logDeleted = iota + 1 // the row: its first bytes are old
	logMoved              // the row, to another slot: its first bytes are old
	logSpare              // slots, the first of which is named, are given up
)

// Savepoint makes a state to which RollbackTo can go back. Savepoints nest.
// Until it is released nothing that is deleted makes room, and rows before it
// that change are kept twice. Cost: O(1), no memory.
func (t *Table) Savepoint() (Savepoint, error) {
	if err := t.begin(); err != nil {
		return Savepoint{}, fmt.Errorf("temptable: savepoint of %s: %w", t.name, err)
	}
	defer t.end()
	e := t.more()
	e.saveSeq++
	e.saves = append(e.saves, savepoint{seq: e.saveSeq, mark: t.space.Arena.Mark(),
		end: t.space.Arena.End(), rows: t.rows, log: e.log})
	t.floor = t.space.Arena.End()
	return Savepoint{t, e.saveSeq}, nil
}

// level returns how many savepoints were open when s was made.
func (s Savepoint) level() (int, error) {
	if s.t != nil && s.t.ext != nil {
		for i, v := range s.t.ext.saves {
			if v.seq == s.seq {
				return i, nil
			}
		}
	}
	return 0, ErrSavepoint
}

// Release ends the savepoint, and those that were made after it; what was done
// since stays. ErrSavepoint if it is not open. Cost: O(changes since).
func (s Savepoint) Release() error {
	if s.t == nil {
		return fmt.Errorf("temptable: release: %w", ErrSavepoint)
	}
	if err := s.t.begin(); err != nil {
		return fmt.Errorf("temptable: release of %s: %w", s.t.name, err)
	}
	defer s.t.end()
	n, err := s.level()
	if err == nil {
		err = s.t.releaseGuarded(n)
	}
	if err != nil {
		return fmt.Errorf("temptable: release of %s: %w", s.t.name, s.t.lost(err))
	}
	return nil
}

func (t *Table) releaseGuarded(n int) (err error) {
	if t.space.MayMap() {
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	e := t.ext
	e.saves = e.saves[:n]
	if n > 0 {
		t.floor = e.saves[n-1].end
		return nil
	}
	t.floor = 0
	return t.forget()
}

// forget frees what was kept for the log's sake, and the log.
func (t *Table) forget() error {
	for id := t.ext.log; id != 0; {
		l, err := t.readLog(id)
		if err != nil {
			return err
		}
		if err = t.forgetEntry(&l); err == nil {
			err = t.discard(id)
		}
		if err != nil {
			return err
		}
		id = l.prev
		t.ext.log = id
	}
	return nil
}

// forgetEntry frees the slots that held a row before it changed.
func (t *Table) forgetEntry(l *logEntry) error {
	if l.what == logSpare {
		return t.discardPieces(l.row)
	}
	h, next := header(l.head[:]), RowID(0)
	switch {
	case h&flagForwarded != 0:
		next = slotLink(l.head[:])
	case h&flagChained != 0:
		next = pieceNext(l.head[:])
	}
	err := t.discardPieces(next)
	if err == nil && l.what == logDeleted {
		err = t.discard(l.row)
	}
	return err
}

// RollbackTo undoes what was done to the rows since the savepoint was made,
// which stays open; those made after it end. Indexes are kept and hold the rows
// that are there. ErrSavepoint if it is not open.
//
// Cost: O(rows inserted and changes made since). It takes no memory but what
// indexes may need for keys that come back; should they be refused it, the table
// has failed.
func (s Savepoint) RollbackTo(ctx context.Context) error {
	if s.t == nil {
		return fmt.Errorf("temptable: roll back: %w", ErrSavepoint)
	}
	if err := s.t.begin(); err != nil {
		return fmt.Errorf("temptable: roll back %s: %w", s.t.name, err)
	}
	defer s.t.endCalling()
	defer s.t.operate(ctx, "spillway.rollback", true).end()
	n, err := s.level()
	if err == nil {
		err = canceled(ctx, "roll back", s.t.name)
	}
	if err == nil {
		err = s.t.rollbackGuarded(n)
	}
	if err != nil {
		return fmt.Errorf("temptable: roll back %s: %w", s.t.name, s.t.lost(err))
	}
	return nil
}

func (t *Table) rollbackGuarded(n int) (err error) {
	if t.space.MayMap() {
		t.armed = true
		defer func() { t.armed = false }()
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	v := &t.ext.saves[n]
	if err := t.unindexFrom(v.end); err != nil {
		return t.must(err)
	}
	if err := t.undoTo(v); err != nil {
		return t.must(err)
	}
	t.ext.saves = t.ext.saves[:n+1]
	t.space.Arena.Release(v.mark)
	t.floor = v.end
	t.setRows(v.rows)
	t.changes.cut(v.end)
	return nil
}

// unindexFrom takes the rows that were inserted since out of the indexes.
func (t *Table) unindexFrom(end RowID) error {
	if len(t.ext.indexes) == 0 {
		return nil
	}
	s := t.scan(positionOf(end))
	defer s.Close()
	for {
		ok, err := s.nextLocked(context.Background())
		if !ok || err != nil {
			return err
		}
		if err := t.indexesDelete(s.row.buf, s.id); err != nil {
			return err
		}
	}
}

// undoTo undoes the changes of rows that are older than the savepoint: all that
// changed leave the indexes, then get their old bytes back, the last change being
// undone first, then come back into the indexes. So no two rows meet in a unique
// index, in whatever order they took each other's keys.
func (t *Table) undoTo(v *savepoint) error {
	for _, f := range []func(RowID, *logEntry) error{t.unindexEntry, t.undoEntry, t.indexEntry} {
		if err := t.eachEntry(v, f); err != nil {
			return err
		}
	}
	t.ext.log = v.log
	return nil
}

// eachEntry calls f for each entry since v about a row that is older.
func (t *Table) eachEntry(v *savepoint, f func(RowID, *logEntry) error) error {
	for id := t.ext.log; id != v.log; {
		l, err := t.readLog(id)
		if err == nil && l.row < v.end && l.what != logSpare {
			err = f(id, &l)
		}
		if err != nil {
			return err
		}
		id = l.prev
	}
	return nil
}

// unindexEntry takes the row out of the indexes at its last entry, which it
// marks. A row that is out, or was deleted, is marked deleted.
func (t *Table) unindexEntry(id RowID, l *logEntry) error {
	if l.what == logMoved {
		h, err := t.slotHeader(l.row)
		if err != nil || h&flagDeleted != 0 {
			return err
		}
		if err := t.unindexRow(l.row); err != nil {
			return err
		}
		if err := t.writeHead(l.row, h|flagDeleted, 0); err != nil {
			return err
		}
	}
	return t.markLast(id)
}

// markLast marks an entry as the last one of its row.
func (t *Table) markLast(id RowID) error {
	e, err := t.space.Arena.Write(id, logLen, &t.pin)
	if err == nil {
		e[logRow+1] = 1
		t.pin.Unpin()
	}
	return err
}

func (t *Table) undoEntry(_ RowID, l *logEntry) error {
	slot, err := t.space.Arena.Write(l.row, slotHead, &t.pin)
	if err == nil {
		copy(slot, l.head[:])
		t.pin.Unpin()
	}
	return err
}

func (t *Table) indexEntry(_ RowID, l *logEntry) error {
	if !l.last {
		return nil
	}
	return t.indexRow(l.row)
}

func (t *Table) unindexRow(id RowID) error {
	p, err := t.locateRow(id)
	if err != nil {
		return err
	}
	return t.unindex(&p)
}

func (t *Table) indexRow(id RowID) error {
	if len(t.ext.indexes) == 0 {
		return nil
	}
	p, err := t.locateRow(id)
	if err != nil {
		return err
	}
	row, err := t.oldRow(&p)
	if err != nil {
		return err
	}
	for _, x := range t.ext.indexes {
		other, err := x.add(row, id)
		if err != nil {
			return err
		}
		if other != 0 {
			return x.check(false, id)
		}
	}
	return nil
}

type logEntry struct {
	prev RowID
	what uint8
	last bool // of its row, as a rollback under way has found
	row  RowID
	head [slotHead]byte
}

func (t *Table) readLog(id RowID) (l logEntry, err error) {
	mem, err := t.space.Arena.Read(id, &t.pin)
	if err != nil {
		return l, err
	}
	l.prev = pieceNext(mem)
	w := binary.LittleEndian.Uint64(mem[logRow:])
	l.what, l.last, l.row = uint8(w), uint8(w>>8) != 0, RowID(w>>16)
	copy(l.head[:], mem[logHead:])
	t.pin.Unpin()
	return l, nil
}

func (t *Table) writeLog(l logEntry) error {
	var buf [logLen]byte
	binary.LittleEndian.PutUint64(buf[:], uint64(t.ext.log)<<16|uint64(makeHeader(logLen, flagPiece)))
	binary.LittleEndian.PutUint64(buf[logRow:], uint64(l.row)<<16|uint64(l.what))
	copy(buf[logHead:], l.head[:])
	id, err := t.space.Arena.Append(buf[:])
	if err == nil {
		t.ext.log = id
	}
	return err
}

// logDelete notes that a row is going to be deleted, if a savepoint is open.
func (t *Table) logDelete(p *place) error {
	if len(t.ext.saves) == 0 {
		return nil
	}
	return t.writeLog(logEntry{what: logDeleted, row: p.id, head: p.head})
}

// logMove notes what an update is going to do, if a savepoint is open.
func (t *Table) logMove(p *place, how moveHow) error {
	switch {
	case len(t.ext.saves) == 0:
	case how == moveAway:
		return t.writeLog(logEntry{what: logMoved, row: p.id, head: p.head})
	case p.spare(how) != 0:
		return t.writeLog(logEntry{what: logSpare, row: p.spare(how)})
	}
	return nil
}
