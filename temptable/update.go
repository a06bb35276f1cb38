package temptable

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spillway-db/spillway/internal/sys"
)

// Updater changes stored rows, one at a time: Load a row, set columns, Update.
// It has a Writer's setters; columns that are not set keep their values. It
// belongs to one goroutine.
type Updater struct {
	setters
	t        *Table
	ctx      context.Context
	id       RowID
	loaded   bool
	buf      RowBuffer
	conflict Conflict
	count    int
}

// Updater starts a statement. The context is looked at every 1,024 rows.
func (t *Table) Updater(ctx context.Context) *Updater {
	u := &Updater{t: t, ctx: ctx}
	u.init(t.schema)
	return u
}

// Load reads the row to update and returns it as it is; it is valid until the
// next Load. ErrRowGone if there is no such row.
func (u *Updater) Load(id RowID) (Row, error) {
	u.loaded = false
	row, err := u.t.Get(id, &u.buf)
	if err == nil {
		u.load(row.buf)
		u.id, u.loaded = id, true
	}
	return row, err
}

// Update stores the row that was loaded, with the columns that were set since.
// Its id stays the same wherever the row goes. The columns may be key columns:
// if an index forbids the change, ok is false, the table is as it was, and
// Conflict says which index and which row.
//
// Errors: those of the setters; ErrRowGone if no row was loaded, or it was
// deleted since; the limit that refused; ErrTableFailed and what it wraps;
// ErrClosed; ErrConcurrentUse; ErrSealed; the context's. On an error the table
// is as it was.
//
// Cost: in place if the new row fits; otherwise it goes elsewhere, and reading
// it costs a second look. Indexes whose key is the same are not touched.
func (u *Updater) Update() (ok bool, err error) {
	if u.count++; u.count%ctxEvery == 0 {
		err = canceled(u.ctx, "update", u.t.name)
	}
	if err == nil {
		err = u.apply()
	}
	if err != nil {
		return false, fmt.Errorf("temptable: update row %#x of %s: %w", uint64(u.id), u.t.name, err)
	}
	return u.conflict.Row == 0, nil
}

// Conflict says what forbade the last Update: the zero Conflict if nothing did.
func (u *Updater) Conflict() Conflict { return u.conflict }

func (u *Updater) apply() error {
	u.conflict = Conflict{}
	if !u.loaded {
		return ErrRowGone
	}
	u.loaded = false
	row, err := u.finish()
	if err != nil {
		return err
	}
	if err := u.t.begin(); err != nil {
		return err
	}
	defer u.t.endCalling()
	other, err := u.t.updateGuarded(u.id, row)
	if other != 0 {
		u.conflict = u.t.takeConflict(other)
	}
	return u.t.lost(err)
}

func (t *Table) updateGuarded(id RowID, row []byte) (other RowID, err error) {
	if t.space.MayMap() {
		t.armed = true
		defer func() { t.armed = false }()
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	return t.updateRow(id, row)
}

// updateRow replaces the row with the given id. other is a row that forbids it.
//
// The order: conflicts are looked for; then whatever can be refused is asked
// for; then the indexes change, while the old row is there to be compared with;
// then the row.
func (t *Table) updateRow(id RowID, row []byte) (other RowID, err error) {
	p, err := t.locate(id)
	if err != nil {
		return 0, err
	}
	t.more()
	if other, err = t.indexesCompare(&p, row); other != 0 || err != nil {
		return other, err
	}
	m, err := t.prepareMove(&p, row)
	if err != nil {
		t.indexesCancel()
		return 0, err
	}
	if err := t.indexesMove(p.id); err != nil {
		t.unstore(m.undo, m.store)
		return 0, err
	}
	t.changes.row(p.id)
	return 0, t.must(t.finishMove(&p, &m, row))
}

// move says where an updated row goes.
type move struct {
	how   moveHow
	store RowID // what was stored for it: the row, or the pieces behind the first
	undo  undo
}

type moveHow uint8

const (
	moveHome moveHow = iota // to the slot that its id names
	moveIn                  // to the slot where it is, which is not that one
	moveAway                // to a new slot
)

// prepareMove decides where the row goes, and stores what must be stored
// elsewhere. On an error the table is as it was.
func (t *Table) prepareMove(p *place, row []byte) (m move, err error) {
	m.undo = t.undo()
	m.how = t.chooseMove(p, firstLen(row))
	if err = t.logMove(p, m.how); err != nil {
		return m, err
	}
	switch {
	case m.how == moveAway:
		m.store, err = t.storeAs(row, flagMoved)
	case header(row)&flagChained != 0:
		m.store, err = t.storePieces(row)
	}
	if err != nil {
		t.unstore(m.undo, m.store)
	}
	return m, err
}

// firstLen is the length of the slot that an encoded row needs: all of it, or
// that of its first piece.
func firstLen(row []byte) int {
	if header(row)&flagChained != 0 {
		return maxPiece
	}
	return len(row)
}

// chooseMove prefers the slot that the id names, so that a row that shrinks is
// no longer forwarded. While a savepoint is open, what lies before it is left as
// it is.
func (t *Table) chooseMove(p *place, n int) moveHow {
	switch {
	case n <= p.homeRoom() && p.id >= t.floor:
		return moveHome
	case n <= p.room && p.to >= t.floor && p.forwarded():
		return moveIn
	}
	return moveAway
}

// finishMove writes the row, or the way to it, and frees what is no longer used.
func (t *Table) finishMove(p *place, m *move, row []byte) error {
	var err error
	switch m.how {
	case moveAway:
		err = t.writeHead(p.id, makeHeader(p.homeRoom(), flagForwarded), m.store)
	case moveIn:
		err = t.overwrite(p.to, p.room, m, row, flagMoved)
	default:
		err = t.overwrite(p.id, p.homeRoom(), m, row, 0)
	}
	if err != nil || len(t.ext.saves) > 0 {
		return err
	}
	return t.discardPieces(p.spare(m.how))
}

// spare is the first of the slots that a move gives up, 0 if there are none.
func (p *place) spare(how moveHow) RowID {
	if p.forwarded() && how != moveIn {
		return p.to
	}
	return p.next
}

// overwrite writes the row, or its first piece, to a slot of n bytes.
func (t *Table) overwrite(id RowID, n int, m *move, row []byte, flag uint16) error {
	if header(row)&flagChained != 0 {
		return t.overwriteWide(id, m, row, flag)
	}
	slot, err := t.space.Arena.Write(id, n, &t.pin)
	if err != nil {
		return err
	}
	fillSlot(slot, row, flag)
	t.pin.Unpin()
	return nil
}

// overwriteWide is overwrite for a row in pieces: the first fills its slot.
func (t *Table) overwriteWide(id RowID, m *move, row []byte, flag uint16) error {
	slot, err := t.space.Arena.Write(id, maxPiece, &t.pin)
	if err != nil {
		return err
	}
	var buf [maxPiece]byte
	copy(slot, fillPiece(&buf, row, 0, m.store, flag))
	t.pin.Unpin()
	return nil
}
