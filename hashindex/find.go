package hashindex

import "math/bits"

// maxEqual is how many unequal keys with one hash a probe may meet before
// their part of the directory is turned. Two of 2^64 hashes agree by chance
// once in 4 billion keys.
const maxEqual = 4

// Find looks for the key that rows knows and whose hash is given. It returns
// the id of the key's row, or 0 and the slot for Reserve. It allocates nothing.
// The only errors are those of rows.Equal.
func (x *Index) Find(hash uint64, rows Rows) (Slot, uint64, error) {
	m := x.mix(hash)
	e := &x.dir[x.indexOf(m)]
	seg, mask, unequal := e.seg, x.mask, 0
	i := m >> homeShift & mask
	for {
		g := at(seg, i)
		for same := g.match(m); same != 0; same &= same - 1 {
			id := g[bits.TrailingZeros(same)%groupSlots].id
			if id == 0 {
				break
			}
			if ok, err := rows.Equal(id); ok || err != nil {
				return Slot{}, id, err
			}
			unequal++
		}
		if !g.full() {
			break
		}
		i = (i + 1) & mask
	}
	if x.layered && e.turned {
		return x.findOver(rows)
	}
	s := Slot{m: m, pos: uint16(i), epoch: x.epoch}
	if unequal >= maxEqual {
		s.how = crowded
	}
	return s, 0, nil
}

// findOver goes on in the overflow index.
func (x *Index) findOver(rows Rows) (Slot, uint64, error) {
	s, id, err := x.over.Find(rows.Rehash(x.over.key), rows)
	s.how++
	return s, id, err
}

// FindBatch sets cand[k] to the id of the first entry whose hash is hashes[k],
// to 0 if there is none, or to Unknown if only Find can tell. Nothing is
// verified: the row at cand[k] has the same hash and may have another key.
func (x *Index) FindBatch(hashes, cand []uint64) error {
	x.Touch(hashes)
	for k, h := range hashes {
		cand[k] = x.candidate(x.mix(h))
	}
	return nil
}

// Unknown stands for a candidate that FindBatch cannot name. No row has it.
const Unknown = ^uint64(0)

func (x *Index) candidate(m uint64) uint64 {
	e := &x.dir[x.indexOf(m)]
	for i := m >> homeShift; ; i++ {
		g := at(e.seg, i&x.mask)
		if same := g.match(m); same != 0 {
			if id := g[bits.TrailingZeros(same)%groupSlots].id; id != 0 {
				return id
			}
		}
		if !g.full() {
			break
		}
	}
	if e.turned {
		return Unknown
	}
	return 0
}

// Touch reads the directory entry and the home group of each hash, so that the
// cache misses of a batch overlap instead of following one another: call it
// some 16 to 1,024 keys ahead of Find. The result means nothing; it keeps the
// reads from being optimized away.
//
//go:noinline
func (x *Index) Touch(hashes []uint64) (sum uint64) {
	for _, h := range hashes {
		m := x.mix(h)
		sum += at(x.dir[x.indexOf(m)].seg, m>>homeShift&x.mask)[0].id
	}
	return sum
}
