package hashindex

import (
	"math/bits"
	"slices"
)

// maxEqual is how many unequal keys with one hash a probe may meet before
// their part of the directory is turned. Two of 2^64 hashes agree by chance
// once in 4 billion keys.
const maxEqual = 4

// Unknown stands for a candidate that FindBatch cannot name. No row has it.
const Unknown = ^uint64(0)

// Find looks for the key that rows knows and whose hash is given. It returns
// the id of the key's row, or 0 and the slot for Reserve. It allocates nothing.
// Its errors are those of rows.Equal and of Disk.
//
// Cost: one probe. If entries were spilled, a key that is not resident reads
// 4 KiB of each run whose filter does not exclude it: about one read for a key
// that is there, none for one that is not, as long as memory has room for the
// filters; without filters one for each run.
func (x *Index) Find(hash uint64, rows Rows) (Slot, uint64, error) {
	return x.find(hash, rows, 0)
}

// FindSince is Find for a key for which FindBatch has found no candidate when
// Spills was spills: what was on disk then is not looked at again.
func (x *Index) FindSince(hash uint64, rows Rows, spills uint32) (Slot, uint64, error) {
	return x.find(hash, rows, spills)
}

// Spills returns how often entries went to disk, 0 if they never did or if none
// are there.
func (x *Index) Spills() uint32 {
	if x.low == nil {
		return 0
	}
	return x.low.spills
}

// find is Find that passes over the runs if nothing was spilled since spills.
func (x *Index) find(hash uint64, rows Rows, spills uint32) (Slot, uint64, error) {
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
	s := Slot{m: m, pos: uint16(i), epoch: x.epoch}
	if x.layered {
		return x.findBelow(s, rows, unequal, spills)
	}
	if unequal >= maxEqual {
		s.how = crowded
	}
	return s, 0, nil
}

// findBelow goes on where the resident part, which ended at s, does not have
// the key.
func (x *Index) findBelow(s Slot, rows Rows, unequal int, spills uint32) (_ Slot, id uint64, err error) {
	m, turned := s.m, x.dir[x.indexOf(s.m)].turned
	if turned {
		if s, id, err = x.over.Find(rows.Rehash(x.over.key), rows); id != 0 || err != nil {
			return s, id, err
		}
		s.how++
	}
	if x.low != nil && x.low.spills != spills {
		var more int
		if id, more, err = x.findOnDisk(m, rows); id != 0 || err != nil {
			return s, id, err
		}
		unequal += more
	}
	if unequal >= maxEqual && !turned {
		s.how = crowded
	}
	return s, 0, nil
}

// findOnDisk looks for the key in the runs, the newest first. It also returns
// how many entries had the hash and another key.
func (x *Index) findOnDisk(m uint64, rows Rows) (id uint64, unequal int, err error) {
	c := x.low.scratch.cursor()
	defer x.low.scratch.cursors.Put(c)
	for i := len(x.low.runs) - 1; i >= 0; i-- {
		r := x.low.runs[i]
		if !r.filter.has(m) {
			continue
		}
		for id, err = c.find(r, m, &x.low.traffic); id != 0 && err == nil; id, err = c.next(m) {
			if ok, err := rows.Equal(id); ok || err != nil {
				return id, unequal, err
			}
			unequal++
		}
		if err != nil {
			return 0, unequal, err
		}
	}
	return 0, unequal, nil
}

// FindBatch sets cand[k] to the id of the first entry whose hash is hashes[k],
// to 0 if there is none, or to Unknown if only Find can tell. Nothing is
// verified: the row at cand[k] has the same hash and may have another key.
// Entries on disk are read in the order of their hashes.
func (x *Index) FindBatch(hashes, cand []uint64) error {
	x.Touch(hashes)
	for k, h := range hashes {
		cand[k] = x.candidate(x.mix(h))
	}
	for x.low != nil && len(hashes) > 0 {
		n := min(len(hashes), pageSlots)
		if err := x.candidatesOnDisk(hashes[:n], cand[:n]); err != nil {
			return err
		}
		hashes, cand = hashes[n:], cand[n:]
	}
	return nil
}

// candidate is FindBatch for one hash and without the runs.
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

// candidatesOnDisk looks for those that have no candidate yet.
func (x *Index) candidatesOnDisk(hashes, cand []uint64) error {
	p := x.low.scratch.page()
	defer x.low.scratch.pages.Put(p)
	order := p[:0]
	for k, h := range hashes {
		if cand[k] == 0 {
			order = append(order, slot{x.mix(h), uint64(k)})
		}
	}
	slices.SortFunc(order, func(a, b slot) int { return compare(a.m, b.m) })
	c := x.low.scratch.cursor()
	defer x.low.scratch.cursors.Put(c)
	for i := len(x.low.runs) - 1; i >= 0; i-- {
		for _, o := range order {
			if cand[o.id] != 0 || !x.low.runs[i].filter.has(o.m) {
				continue
			}
			id, err := c.find(x.low.runs[i], o.m, &x.low.traffic)
			if err != nil {
				return err
			}
			cand[o.id] = id
		}
	}
	return nil
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
