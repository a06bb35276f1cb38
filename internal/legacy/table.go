package legacy

import (
	"context"
	"hash/maphash"
)

// batchRows is how many rows a scan hands out at once, and how many inserts
// pass between two looks at the context.
const batchRows = 1024

// Table is a temporary table of the old engine with a unique index over all of
// its columns. It serves one goroutine.
type Table struct {
	cfg   Config
	cols  []Column
	alloc allocator
	rows  elements
	index hashTable
	comp  comparer

	unique, duplicates int
	firstFile          int // duplicates rejected before one made a file, -1: none did
}

// Create makes an empty table of cols. Its errors, as those of all methods,
// are those of the system calls, wrapped, or the context's.
func Create(ctx context.Context, cfg Config, cols []Column) (*Table, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return create(ctx, cfg.withDefaults(), cols, systemCalls())
}

func create(ctx context.Context, cfg Config, cols []Column, c calls) (*Table, error) {
	t := &Table{cfg: cfg, cols: cols, comp: comparer{cols: cols, seed: maphash.MakeSeed()}, firstFile: -1}
	t.alloc = allocator{policy: cfg.Policy, maxRAM: cfg.MaxRAM, store: &store{calls: c, cfg: cfg}}
	if cfg.Record {
		t.alloc.recorder = recorder{}
	}
	t.rows.a, t.index.a = &t.alloc, &t.alloc
	if err := t.index.open(ctx); err != nil {
		_ = t.Drop()
		return nil, err
	}
	return t, nil
}

// Insert stores the rows of b, duplicates excepted. After an error the table
// can only be dropped.
func (t *Table) Insert(ctx context.Context, b *Batch) error {
	for k := range b.N {
		if k%batchRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := t.insertCounted(ctx, b, k); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) insertCounted(ctx context.Context, b *Batch, k int) error {
	files := t.alloc.counts.files
	t.alloc.inserts++
	added, err := t.insert(ctx, b, k)
	if err != nil {
		return err
	}
	if made := t.alloc.counts.files; made > files {
		t.onFile(made, added)
	}
	if added {
		t.unique++
	} else {
		t.duplicates++
	}
	return nil
}

func (t *Table) onFile(made int, added bool) {
	if !added && t.firstFile < 0 {
		t.firstFile = t.duplicates
	}
	if t.cfg.OnFile != nil {
		t.cfg.OnFile(made)
	}
}

// insert does as the old engine did: store first, then look.
func (t *Table) insert(ctx context.Context, b *Batch, k int) (added bool, err error) {
	el, err := t.rows.push(ctx)
	if err != nil {
		return false, err
	}
	n := rowSize(t.cols, b, k)
	r, row, err := t.alloc.alloc(ctx, n+t.cfg.RowSlack)
	if err != nil {
		return false, err
	}
	encodeRow(row[:n], t.cols, b, k)
	putRef(t.alloc.at(el, 8), r)
	added, err = t.addKey(ctx, r, row[:n])
	if err != nil || added {
		return added, err
	}
	if err := t.alloc.free(r, n+t.cfg.RowSlack); err != nil {
		return false, err
	}
	return false, t.rows.pop()
}

func (t *Table) addKey(ctx context.Context, r ref, row []byte) (bool, error) {
	return t.index.insert(ctx, r, t.comp.hash(row), func(other ref) bool {
		return t.comp.equal(row, t.row(other))
	})
}

// row returns the bytes of the row at r.
func (t *Table) row(r ref) []byte {
	return t.alloc.at(r, int(le.Uint64(t.alloc.at(r, rowHeader))))
}

// Scan hands the rows to sink in the order of their insertion, up to 1,024 at
// a time. The batch is valid until sink returns.
func (t *Table) Scan(ctx context.Context, sink func(*Batch) error) error {
	b := Batch{Cols: make([]Vector, len(t.cols))}
	for r := t.rows.reader(); t.fill(&b, &r); {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := sink(&b); err != nil {
			return err
		}
	}
	return nil
}

// fill reads the next rows into b and says whether there were any.
func (t *Table) fill(b *Batch, r *reader) bool {
	for c := range b.Cols {
		b.Cols[c].reset(t.cols[c].Width == 0)
	}
	b.N = 0
	for b.N < batchRows {
		row := r.row()
		if row == 0 {
			break
		}
		appendRow(b, t.cols, t.row(row), b.N)
		b.N++
	}
	return b.N > 0
}

// Drop gives everything back. A second call does nothing.
func (t *Table) Drop() error {
	err := t.alloc.close()
	if e := t.alloc.store.close(); err == nil {
		err = e
	}
	return err
}
