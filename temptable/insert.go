package temptable

import (
	"context"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"slices"

	"github.com/spillway-db/spillway/hashindex"
	"github.com/spillway-db/spillway/internal/sys"
)

// Result is what became of a row: the id of the row that was added, or of the
// one that is in the way.
type Result struct {
	ID    RowID
	Added bool
	// Index says which index refused the row: 0 is the distinct key, n the n-th
	// index that was declared or added.
	Index int32
}

func (t *Table) insertOne(row []byte) (res Result, err error) {
	if err := t.begin(); err != nil {
		return res, err
	}
	defer t.endCalling()
	if t.space.Mapped() {
		res.ID, res.Added, err = t.insertGuarded(row)
	} else {
		res.ID, res.Added, err = t.insertHashed(row)
	}
	if err != nil {
		err = t.lost(err)
	}
	res.Index, t.clash = t.clash, 0
	return res, err
}

func (t *Table) insertGuarded(row []byte) (id RowID, added bool, err error) {
	defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	return t.insertHashed(row)
}

func (t *Table) insertHashed(row []byte) (RowID, bool, error) {
	if t.index == nil {
		return t.addGuarded(row, hashindex.Slot{})
	}
	hash, err := t.schema.keyHash(row)
	if err != nil {
		return 0, false, err
	}
	return t.insert(row, hash)
}

// insert adds a row to a distinct table: nothing is taken before the row is
// known to be new.
func (t *Table) insert(row []byte, hash uint64) (RowID, bool, error) {
	t.key = row
	slot, id, err := t.index.Find(hash, t)
	return t.found(slot, id, err)
}

// found goes on with what the index found of t.key.
func (t *Table) found(slot hashindex.Slot, id uint64, err error) (RowID, bool, error) {
	t.pin.Unpin()
	if id != 0 || err != nil {
		return t.tag(RowID(id)), false, err
	}
	return t.addGuarded(t.key, slot)
}

// addGuarded is add under guard, where the row or the index may come to lie in
// the table's first mapped block and no guard is on.
func (t *Table) addGuarded(row []byte, slot hashindex.Slot) (id RowID, added bool, err error) {
	if !t.armed && !t.space.Mapped() && t.space.MayMap() {
		defer sys.Recover(&err, &t.space, debug.SetPanicOnFault(true))
	}
	return t.add(row, slot)
}

// add stores a row that is new, in the order that docs/design.md gives: after
// the bytes are taken nothing can fail.
func (t *Table) add(row []byte, slot hashindex.Slot) (id RowID, added bool, err error) {
	if t.ext != nil {
		return t.addIndexed(row, slot)
	}
	if t.index != nil {
		if slot, err = t.index.Reserve(slot, t); err != nil {
			return 0, false, err
		}
	}
	if id, err = t.store(row); err != nil {
		return 0, false, err
	}
	if t.index != nil {
		t.index.Publish(slot, uint64(id))
	}
	t.setRows(t.rows + 1)
	return id, true, nil
}

// Equal implements hashindex.Rows: does the row at id have the key of t.key?
// Most often the answer is that the rows are the same bytes, header included.
func (t *Table) Equal(id uint64) (bool, error) {
	if t.space.Arena.Same(RowID(id), t.key) && header(t.key)&^lenMask == 0 {
		return true, nil
	}
	row, err := t.fetch(RowID(id))
	if err != nil {
		return false, err
	}
	return t.keyEqual(t.schema, row, t.key)
}

// Compile-time check.
var _ hashindex.Rows = (*Table)(nil)

// InsertBatch inserts the rows of b in their order, as Insert would, and says
// in res what became of each: res is nil or has at least b.N elements. b is
// borrowed until return. On an error exactly rows [0, n) were processed, and
// the table holds what they left.
//
// Cost: no Go heap allocation and no system call, but for what new blocks and
// the disk tier take. The rows are hashed, and their index slots read ahead,
// some hundred at a time.
func (t *Table) InsertBatch(ctx context.Context, b *Batch, res []Result) (n int, err error) {
	return t.insertBatch(ctx, b, res, nil)
}

func (t *Table) insertBatch(ctx context.Context, b *Batch, res []Result, fold *folder) (n int, err error) {
	if b.N < 0 {
		return 0, fmt.Errorf("temptable: insert into %s: a batch of %d rows: %w", t.name, b.N, ErrBatch)
	}
	if res != nil && len(res) < b.N {
		return 0, fmt.Errorf("temptable: insert into %s: %d results for %d rows: %w", t.name, len(res), b.N, ErrBatch)
	}
	if err := t.begin(); err != nil {
		return 0, fmt.Errorf("temptable: insert into %s: %w", t.name, err)
	}
	defer t.endCalling()
	defer t.operate(ctx, "spillway.insert", true).end()
	s := t.eng.scratch.take(t)
	defer t.eng.scratch.give(t, s)
	ins := inserter{t: t, b: b, res: res, s: s, fold: fold}
	for ins.done < b.N && err == nil {
		if err = canceled(ctx, "insert into", t.name); err == nil {
			err = ins.chunk()
			t.use.show(t.rows)
		}
	}
	return ins.done, err
}

// inserter is one InsertBatch under way.
type inserter struct {
	t    *Table
	b    *Batch
	res  []Result
	s    *batchScratch
	done int     // rows processed
	fold *folder // nil: rows that are there stay as they are
}

// chunk encodes, hashes and inserts as many rows as the scratch holds.
func (i *inserter) chunk() (err error) {
	if i.fold != nil && i.fold.flat && i.t.ext == nil {
		if all, err := i.foldFlat(); all || err != nil {
			return err
		}
	}
	n, encErr := i.s.enc.encode(i.b, i.done, min(i.b.N, i.done+len(i.s.cand)), i.s.buf)
	if n == 0 && encErr == nil {
		return i.s.grow(i.t, i.s.enc.need)
	}
	if err := i.guarded(n); err != nil {
		return i.wrap(err)
	}
	if encErr != nil {
		return fmt.Errorf("temptable: insert into %s: %w", i.t.name, encErr)
	}
	return nil
}

func (i *inserter) wrap(err error) error {
	return fmt.Errorf("temptable: insert row %d of a batch into %s: %w", i.done, i.t.name, i.t.lost(err))
}

func (i *inserter) guarded(n int) (err error) {
	if i.t.space.MayMap() {
		i.t.armed = true
		defer func() { i.t.armed = false }()
		defer sys.Recover(&err, &i.t.space, debug.SetPanicOnFault(true))
	}
	return i.rows(n)
}

// rows inserts the n encoded rows of the scratch.
func (i *inserter) rows(n int) error {
	if i.t.index == nil {
		return i.addAll(n)
	}
	hashes, err := i.t.schema.keyHashes(i.s.hashes[:0], i.s.buf, i.s.enc.offs[:n+1])
	if err != nil {
		return err
	}
	if i.fold != nil {
		i.t.index.Touch(hashes)
		return i.foldAll(hashes)
	}
	if i.t.space.Has(Disk) {
		return i.insertAhead(hashes)
	}
	i.t.index.Touch(hashes)
	for k, h := range hashes {
		id, added, err := i.t.insert(i.s.row(k), h)
		if err != nil {
			return err
		}
		i.report(id, added)
	}
	return nil
}

func (i *inserter) addAll(n int) error {
	for k := range n {
		id, added, err := i.t.add(i.s.row(k), hashindex.Slot{})
		if err != nil {
			return err
		}
		i.report(id, added)
	}
	return nil
}

func (i *inserter) report(id RowID, added bool) {
	if i.res != nil {
		i.res[i.done] = Result{id, added, i.t.clash}
	}
	i.t.clash = 0
	i.done++
}

// insertAhead is for a table with rows on the disk tier: rows that probably
// are duplicates of such rows are compared first, page by page, so that a page
// is read once for the whole chunk, however the duplicates are ordered.
func (i *inserter) insertAhead(hashes []uint64) error {
	cand := i.s.cand[:len(hashes)]
	since := i.t.index.Spills()
	if err := i.t.index.FindBatch(hashes, cand); err != nil {
		return err
	}
	if err := i.verify(cand); err != nil {
		return err
	}
	for k, h := range hashes {
		id, added, err := i.ahead(k, h, cand[k], since)
		if err != nil {
			return err
		}
		i.report(id, added)
	}
	return nil
}

// ahead inserts row k, of which cand tells what is known: the id of its
// duplicate, 0 if the index had no such hash when it had spilled since times,
// or Unknown.
func (i *inserter) ahead(k int, hash, cand uint64, since uint32) (RowID, bool, error) {
	switch cand {
	case hashindex.Unknown:
		return i.t.insert(i.s.row(k), hash)
	case 0:
		i.t.key = i.s.row(k)
		slot, id, err := i.t.index.FindSince(hash, i.t, since)
		return i.t.found(slot, id, err)
	}
	return i.t.tag(RowID(cand)), false, nil
}

// verify keeps the candidates that are on disk and equal to their row; it reads
// them in the order of their pages. The others become Unknown.
func (i *inserter) verify(cand []uint64) error {
	order := i.s.order[:0]
	for k, id := range cand {
		if id == 0 || id == hashindex.Unknown {
			continue
		}
		if page, ok := i.t.space.Arena.OnDisk(RowID(id)); ok {
			order = append(order, pageOf{page, int32(k)})
		} else {
			cand[k] = hashindex.Unknown
		}
	}
	slices.SortFunc(order, pageOf.compare)
	defer i.t.pin.Unpin()
	for _, p := range order {
		i.t.key = i.s.row(int(p.row))
		ok, err := i.t.Equal(cand[p.row])
		if err != nil {
			return err
		}
		if !ok {
			cand[p.row] = hashindex.Unknown
		}
	}
	return nil
}

// pageOf is a row of a chunk and the page that its candidate lies in.
type pageOf struct {
	page uint64
	row  int32
}

func (p pageOf) compare(q pageOf) int {
	switch {
	case p.page < q.page:
		return -1
	case p.page > q.page:
		return 1
	}
	return int(p.row - q.row)
}

// Rehash implements hashindex.Rows with a hash that nobody outside the process
// can foresee.
func (t *Table) Rehash(seed uint64) uint64 {
	var h maphash.Hash
	h.SetSeed(t.eng.seed)
	maphash.WriteComparable(&h, seed)
	if err := t.writeKey(&h, t.schema, t.key); err != nil {
		_ = t.fail(err)
	}
	return h.Sum64()
}
