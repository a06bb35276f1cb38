package temptable

import (
	"runtime/debug"
	"slices"

	"github.com/spillway-db/spillway/internal/sys"
)

// Upserts of rows whose key is one word take a shorter way: the key is compared
// as a register, not column by column, and the slot that was compared is the one
// that is folded into. If moreover all columns are integers, each of the key or
// folded, a batch is not even encoded until a row turns out to be new: words,
// hashes and sums come from the caller's vectors.

// wordKey answers for stored rows while the index looks for a key of one word. A
// row is stored in place and in one piece: the table has no more than rows that
// were inserted at the end, and its columns are fixed.
type wordKey struct {
	t    *Table
	want uint64
	one  *column // the key's only column, NOT NULL; nil: there are others
	row  []byte  // what the key is encoded in when it is hashed anew
}

// Equal implements hashindex.Rows.
func (k *wordKey) Equal(id uint64) (bool, error) {
	mem, err := k.t.space.Arena.Read(RowID(id), &k.t.pin)
	if err != nil {
		return false, err
	}
	if rowLen(header(mem)) < minRowLen {
		return false, errZeroes(RowID(id))
	}
	if k.one != nil {
		return k.one.loadUnsigned(mem) == k.want, nil
	}
	return k.t.schema.key.word(mem) == k.want, nil
}

// Rehash implements hashindex.Rows.
func (k *wordKey) Rehash(seed uint64) uint64 {
	p := &k.t.schema.key
	for i := range p.parts {
		c := p.parts[i].col
		putFixed(k.row[c.off:], c.width, int64(k.want>>p.parts[i].shift))
		k.row[c.nullOff] &^= c.nullMask
		if c.nullMask != 0 && k.want>>(p.parts[i].nullShift&63)&1 != 0 {
			k.row[c.nullOff] |= c.nullMask
		}
	}
	k.t.key = k.row
	return k.t.Rehash(seed)
}

// word is the key of a row whose mode is keyWord.
func (p *keyPlan) word(row []byte) uint64 {
	w := p.words(row)
	return w.lo | w.nulls
}

// plan decides which of the short ways are open.
func (f *folder) plan(t *Table) {
	s := t.schema
	if s.key.mode != keyWord || s.numVar != 0 || s.endsOff > maxPiece {
		return
	}
	f.word = &wordKey{t: t, row: append(slices.Clone(s.template), make([]byte, slack)...)}
	if k := &s.key.parts[0]; len(s.key.parts) == 1 && k.col.nullMask == 0 {
		f.word.one = k.col
	}
	seen := make([]int, len(s.cols))
	for i := range s.key.parts {
		seen[s.key.parts[i].col.index]++
	}
	for _, c := range f.cols {
		seen[c.index]++
	}
	f.flat = true
	for i := range s.cols {
		f.flat = f.flat && seen[i] == 1 && s.cols[i].kind <= kindUint
	}
}

// upsertWord is upsert of an encoded row.
func (t *Table) upsertWord(f *folder, row []byte) (RowID, bool, error) {
	k := f.word
	k.want = t.schema.key.word(row)
	slot, found, err := t.index.Find(mixWord(k.want), k)
	if err != nil {
		t.pin.Unpin()
		return 0, false, err
	}
	if found == 0 {
		t.key = row
		t.pin.Unpin()
		return t.addGuarded(row, slot)
	}
	for i, c := range f.cols {
		if f.set[i] = !c.isNull(row); f.set[i] {
			f.vals[i] = c.fixed(row)
		}
	}
	err = t.foldFound(f, RowID(found))
	return t.tag(RowID(found)), false, err
}

// foldFound changes the row that was compared last by f.vals.
func (t *Table) foldFound(f *folder, id RowID) error {
	slot, err := t.space.Arena.Write(id, t.schema.endsOff, &t.pin)
	if err != nil {
		return err
	}
	if err = f.merge(slot); err == nil {
		t.changes.row(id)
	}
	t.pin.Unpin()
	return err
}

// flatRows is how many rows are tried without encoding at a time.
const flatRows = 256

// foldFlat upserts the next rows until one is new, or cannot be read from the
// vectors alone; all is false then.
func (i *inserter) foldFlat() (all bool, err error) {
	if i.fold.skip { // the last try met a new row at once
		i.fold.skip = false
		return false, nil
	}
	if checkShape(i.t.schema, i.b, i.done, i.b.N) != nil || !i.plain() {
		return false, nil
	}
	first, words := i.done, i.words(min(flatRows, i.b.N-i.done))
	if err := i.flatGuarded(words); err != nil {
		return false, i.wrap(err)
	}
	i.fold.skip = i.done == first
	return i.done == first+len(words) && i.done > first, nil
}

// plain reports whether row k of the batch is at place k, without NULLs.
func (i *inserter) plain() bool {
	return i.b.Sel == nil && !slices.ContainsFunc(i.b.Cols, func(v Vector) bool { return v.Valid != nil })
}

// words makes the key words of n rows, or of those before one that does not fit
// its columns.
func (i *inserter) words(n int) []uint64 {
	words := i.s.cand[:min(n, len(i.s.cand))]
	clear(words)
	p := &i.t.schema.key
	for j := range p.parts {
		k := &p.parts[j]
		words = k.addTo(words, i.b.Cols[k.col.index].I64[i.done:])
	}
	return words
}

// addTo puts the values of a column into the words.
func (k *keyPart) addTo(words []uint64, vals []int64) []uint64 {
	c, mask := k.col, ^uint64(0)>>(64-8*k.col.width)
	vals = vals[:len(words)]
	for j, v := range vals {
		if !c.holds(v) {
			return words[:j]
		}
		words[j] |= uint64(v) & mask << (k.shift & 63)
	}
	return words
}

// holds is stored for an integer column, which stores a value as it is.
func (c *column) holds(v int64) bool {
	if c.kind == kindUint {
		return uint64(v) <= uint64(c.max)
	}
	return v >= c.min && v <= c.max
}

func (i *inserter) flatGuarded(words []uint64) (err error) {
	if i.t.space.MayMap() {
		defer sys.Recover(&err, &i.t.space, debug.SetPanicOnFault(true))
	}
	return i.flat(words)
}

// flat upserts the next rows, whose keys are words, until one is new. A row with
// the key of the one before it needs no lookup.
func (i *inserter) flat(words []uint64) error {
	t, f := i.t, i.fold
	defer t.pin.Unpin()
	hashes := i.s.hashes[:len(words)]
	for j, w := range words {
		hashes[j] = mixWord(w)
	}
	t.index.Touch(hashes)
	var slot []byte
	var id RowID
	for j, w := range words {
		if !f.take(i.b, i.done) {
			return nil
		}
		if slot == nil || w != f.word.want {
			var err error
			if id, slot, err = t.findWord(f, w, hashes[j]); slot == nil {
				return err
			}
		}
		if err := f.merge(slot); err != nil {
			return err
		}
		t.changes.row(id)
		i.report(t.tag(id), false)
	}
	return nil
}

// findWord finds the row of a key and returns its slot for writing, until t.pin
// is unpinned: nil if there is none.
func (t *Table) findWord(f *folder, word, hash uint64) (RowID, []byte, error) {
	t.pin.Unpin()
	f.word.want = word
	_, found, err := t.index.Find(hash, f.word)
	if found == 0 || err != nil {
		return 0, nil, err
	}
	slot, err := t.space.Arena.Write(RowID(found), t.schema.endsOff, &t.pin)
	return RowID(found), slot, err
}

// take makes the values of a row those to fold, if they fit their columns.
func (f *folder) take(b *Batch, row int) bool {
	for i, c := range f.cols {
		v := b.Cols[c.index].I64[row]
		if !c.holds(v) {
			return false
		}
		f.vals[i], f.set[i] = v, true
	}
	return true
}
