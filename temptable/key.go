package temptable

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/dgryski/go-farm"
)

// keyPlan says how the key of a row is hashed and compared.
type keyPlan struct {
	distinct bool
	named    []int // as given to Distinct; nil: all columns
	mode     keyMode
	collated bool // some column has a collation
	fixedRun bool // null bits and fixed values are one run of bytes that compares as such
	parts    []keyPart
}

// keyMode is the cheapest way that is right for the key's columns.
type keyMode uint8

const (
	keyRow     keyMode = iota // all columns, all compare as bytes: one run of bytes
	keyWord                   // fixed values and their null bits in 64 bits
	keyTwo                    // fixed values in 128 bits, null bits beside them
	keyColumns                // one column after the other
)

// keyPart is one column of the key, and its place in the words of keyWord and
// keyTwo.
type keyPart struct {
	col       *column
	word      uint8
	shift     uint8
	nullShift uint8
}

// newKeyPlan chooses the mode. Without Distinct the key is the whole row, for
// operators that ask for it.
func newKeyPlan(s *Schema, distinct bool, named []int) keyPlan {
	p := keyPlan{distinct: distinct}
	if len(named) > 0 {
		p.named = named
	} else {
		named = seq(len(s.cols))
	}
	for _, i := range named {
		p.parts = append(p.parts, keyPart{col: &s.cols[i]})
		p.collated = p.collated || s.cols[i].coll != nil
	}
	p.mode = p.choose(len(s.cols))
	p.fixedRun = len(p.parts) == len(s.cols) && p.fixedCompare()
	return p
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (p *keyPlan) choose(numCols int) keyMode {
	switch {
	case p.fitsWords():
		return p.packWords()
	case len(p.parts) == numCols && p.bytesCompare():
		return keyRow
	}
	return keyColumns
}

// bytesCompare reports whether equal values always have equal encodings.
func (p *keyPlan) bytesCompare() bool {
	for _, k := range p.parts {
		if !k.col.bytesCompare() {
			return false
		}
	}
	return true
}

// fixedCompare is bytesCompare for the fixed columns.
func (p *keyPlan) fixedCompare() bool {
	for _, k := range p.parts {
		if k.col.width != 0 && !k.col.bytesCompare() {
			return false
		}
	}
	return true
}

func (c *column) bytesCompare() bool {
	return !c.kind.float() && c.coll == nil
}

// fitsWords places fixed columns in two words, first fit, none across both.
func (p *keyPlan) fitsWords() bool {
	var used [2]uint8
	for i := range p.parts {
		k := &p.parts[i]
		w := k.col.width * 8
		if w == 0 || w > 64 || !k.col.bytesCompare() {
			return false
		}
		for k.word = 0; k.word < 2 && used[k.word]+w > 64; k.word++ {
		}
		if k.word == 2 {
			return false
		}
		k.shift = used[k.word]
		used[k.word] += w
	}
	return len(p.parts) > 0
}

// packWords gives the null bits their places: behind the values if all fit in
// one word, otherwise in a word of their own.
func (p *keyPlan) packWords() keyMode {
	used, nullable := uint8(0), uint8(0)
	for i := range p.parts {
		k := &p.parts[i]
		used += k.col.width * 8
		k.nullShift = nullable
		if k.col.nullMask != 0 {
			nullable++
		}
	}
	if used+nullable > 64 {
		return keyTwo
	}
	for i := range p.parts {
		p.parts[i].nullShift += used
	}
	return keyWord
}

// keyHash hashes the key of an encoded row: equal keys have equal hashes. The
// error is a collation's.
func (s *Schema) keyHash(row []byte) (uint64, error) {
	if !s.key.collated {
		return s.hash(row, nil)
	}
	scratch := s.scratch()
	defer s.keep(scratch)
	return s.hash(row, scratch)
}

// hash is keyHash with a scratch, which only collations need.
func (s *Schema) hash(row []byte, scratch *keyScratch) (uint64, error) {
	switch s.key.mode {
	case keyRow:
		if header(row)&flagChained != 0 {
			return s.key.hashColumns(s, row, scratch)
		}
		return farm.Hash64(row[headerLen:s.dataEnd(row)]), nil
	case keyWord:
		w := s.key.words(row)
		return mixWord(w.lo | w.hi | w.nulls), nil
	case keyTwo:
		return s.key.words(row).hash(), nil
	}
	return s.key.hashColumns(s, row, scratch)
}

// keyHashes appends the hashes of encoded rows, those between the offsets, to
// dst. On an error it has appended those of the rows before.
func (s *Schema) keyHashes(dst []uint64, rows []byte, offs []int32) ([]uint64, error) {
	if s.key.mode == keyRow {
		return s.rowHashes(dst, rows, offs), nil
	}
	scratch := s.scratch()
	defer s.keep(scratch)
	for i := 1; i < len(offs); i++ {
		h, err := s.hash(rows[offs[i-1]:offs[i]], scratch)
		if err != nil {
			return dst, err
		}
		dst = append(dst, h)
	}
	return dst, nil
}

func (s *Schema) rowHashes(dst []uint64, rows []byte, offs []int32) []uint64 {
	for i := 1; i < len(offs); i++ {
		row := rows[offs[i-1]:offs[i]]
		if header(row)&flagChained != 0 {
			dst = append(dst, s.wideHash(row))
			continue
		}
		dst = append(dst, farm.Hash64(row[headerLen:s.dataEnd(row)]))
	}
	return dst
}

// wideHash is the hash of a wide row in the mode keyRow.
func (s *Schema) wideHash(row []byte) uint64 {
	h, _ := s.key.hashColumns(s, row, nil) // only collations fail
	return h
}

// keyWords are the stored bits of the key's columns, as a register or two.
type keyWords struct{ lo, hi, nulls uint64 }

func (p *keyPlan) words(row []byte) keyWords {
	var w keyWords
	for i := range p.parts {
		k := &p.parts[i]
		v := k.col.loadUnsigned(row) << (k.shift & 63)
		if k.word == 0 {
			w.lo |= v
		} else {
			w.hi |= v
		}
		if k.col.isNull(row) {
			w.nulls |= 1 << (k.nullShift & 63)
		}
	}
	return w
}

// Odd constants: the golden ratio, and the multipliers of Pelle Evensen's
// moremur (https://mostlymangling.blogspot.com/2019/12/stronger-better-morer-moremur-better.html).
const (
	mulGolden = 0x9E3779B97F4A7C15
	mulA      = 0x3C79AC492BA7B653
	mulB      = 0x1C69B3F74AC4AE35
)

// mixWord is a bijection: distinct keys of one word have distinct hashes.
func mixWord(x uint64) uint64 {
	x ^= x >> 27
	x *= mulA
	x ^= x >> 33
	x *= mulB
	return x ^ x>>27
}

func (w keyWords) hash() uint64 {
	return mixInto(mixInto(w.nulls*mulGolden, w.lo), w.hi)
}

// mixInto adds x to the hash of what came before it: order counts.
func mixInto(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x^mulA, mulGolden)
	return (hi ^ lo) + bits.RotateLeft64(h, 29)
}

// hashNull stands for NULL among the columns' hashes.
const hashNull = 0xA0761D6478BD642F

func (p *keyPlan) hashColumns(s *Schema, row []byte, scratch *keyScratch) (uint64, error) {
	h := uint64(mulB)
	if p.fixedRun {
		h = s.hashFixed(row)
	}
	for i := range p.parts {
		c := p.parts[i].col
		if c.width != 0 && p.fixedRun {
			continue
		}
		x, err := c.hash(s, row, scratch)
		if err != nil {
			return 0, &valueError{cause: err, row: -1, col: int(c.index), name: s.public[c.index].Name}
		}
		h = mixInto(h, x)
	}
	return h, nil
}

// hashFixed hashes the null bits and the fixed values of a row.
func (s *Schema) hashFixed(row []byte) uint64 {
	n := s.endsOff - headerLen
	first := binary.LittleEndian.Uint64(row[headerLen:])
	switch {
	case n > 16:
		return farm.Hash64(row[headerLen:s.endsOff])
	case n >= 8:
		return mixInto(mixInto(mulB, first), binary.LittleEndian.Uint64(row[s.endsOff-8:]))
	}
	return mixInto(mulB, first<<(64-8*n))
}

func (c *column) hash(s *Schema, row []byte, scratch *keyScratch) (uint64, error) {
	switch {
	case c.isNull(row):
		return hashNull, nil
	case c.kind == kindDecimal:
		return farm.Hash64(row[c.off : c.off+int32(c.width)]), nil
	case c.width != 0:
		return mixWord(c.orderBits(row)), nil
	case header(row)&flagLarge != 0:
		if r, ok := c.large(s, row); ok {
			return c.largeHash(s, r)
		}
	}
	if c.coll != nil {
		return c.coll.hash(c.bytes(s, row), scratch)
	}
	return contentHash(c.bytes(s, row)), nil
}

// largeHash is the hash of a large value, which has no key.
func (c *column) largeHash(s *Schema, r reference) (uint64, error) {
	if c.coll != nil {
		return 0, c.noKey(s)
	}
	return r.hash, nil
}

// keyEqual reports whether the keys of two encoded rows are equal; NULL equals
// NULL. The error is a collation's.
func (s *Schema) keyEqual(a, b []byte) (bool, error) {
	if s.key.mode == keyRow || s.key.mode == keyColumns {
		same := bytes.Equal(a[headerLen:s.dataEnd(a)], b[headerLen:s.dataEnd(b)])
		if same || s.key.mode == keyRow {
			return same, nil // the same bytes are equal under any collation
		}
	}
	for i := range s.key.parts {
		ok, err := s.key.parts[i].col.equal(s, a, b)
		if !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *column) equal(s *Schema, a, b []byte) (bool, error) {
	switch {
	case c.isNull(a) || c.isNull(b):
		return c.isNull(a) == c.isNull(b), nil
	case c.kind == kindDecimal:
		return bytes.Equal(a[c.off:c.off+int32(c.width)], b[c.off:c.off+int32(c.width)]), nil
	case c.width != 0:
		return c.orderBits(a) == c.orderBits(b), nil
	}
	x, y := c.bytes(s, a), c.bytes(s, b)
	if same := bytes.Equal(x, y); same || c.coll == nil {
		return same, nil // the same bytes are equal under any collation
	}
	scratch := s.scratch()
	defer s.keep(scratch)
	return c.coll.equal(x, y, scratch)
}

// scratch lends memory for keys; keep takes it back.
func (s *Schema) scratch() *keyScratch {
	if k, _ := s.scratches.Get().(*keyScratch); k != nil {
		return k
	}
	return new(keyScratch)
}

// maxKept is the most memory, in bytes, that a scratch keeps for later.
const maxKept = 64 << 10

func (s *Schema) keep(k *keyScratch) {
	if cap(k.a)+cap(k.b) <= maxKept {
		s.scratches.Put(k)
	}
}
