package hashindex

import (
	"slices"

	"github.com/spillway-db/spillway/internal/invariants"
)

// Reserve makes room for the key that Find did not find, so that Publish with
// the slot it returns cannot fail; Remove may come between them. On an error
// the index is as it was: Memory's refusal, Disk's error with the refusal that
// led to it, or ErrCollisions. One reservation at a time: the next Reserve voids
// it, and nothing need be done to drop it.
//
// Cost: nothing mostly; every few hundred keys a split of 16 KiB. An index that
// spills writes all its resident entries at once, and sometimes merges runs: a
// pause of some 20 ns for each entry that is written.
func (x *Index) Reserve(s Slot, rows Rows) (Slot, error) {
	if s.how == 0 && x.hasRoom(s.m) {
		return s, nil
	}
	return x.makeRoom(s, rows)
}

// makeRoom is Reserve where something must grow or turn, or has been turned.
func (x *Index) makeRoom(s Slot, rows Rows) (Slot, error) {
	switch {
	case s.how == crowded:
		x.turn(s.m)
		s.how = 0
	case s.how > 0:
		return x.reserveOver(s, rows)
	}
	for !x.hasRoom(s.m) {
		if x.segmentOf(s.m).turned {
			return x.reserveOver(x.over.missing(rows), rows)
		}
		err := x.grow(s.m)
		if err != nil && x.disk != nil && x.entries > 0 {
			err = x.spill(err)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// reserveOver reserves in the overflow index a slot that is one level up.
func (x *Index) reserveOver(s Slot, rows Rows) (Slot, error) {
	s.how--
	s, err := x.over.Reserve(s, rows)
	s.how++
	return s, err
}

// missing is the slot, seen from the index above, of a key that is known not
// to be in x.
func (x *Index) missing(rows Rows) Slot {
	return Slot{m: x.mix(rows.Rehash(x.key)), epoch: x.epoch - 1, how: 1}
}

// Publish stores the id, 1 to 2^48-1, of the row whose key s stands for. If
// entries have moved since s was found, the place is looked up again.
func (x *Index) Publish(s Slot, id uint64) {
	for ; s.how > 0; s.how-- {
		x = x.over
	}
	e := x.segmentOf(s.m)
	g := at(e.seg, uint64(s.pos)&x.mask)
	p := &g[g.taken()]
	if s.epoch != x.epoch || g.full() {
		p = vacant(view(e.seg, x.groups()), s.m)
	}
	*p = slot{s.m, id}
	e.count++
	if invariants.Enabled && int(e.count) == x.groups()*groupSlots {
		panic("hashindex: Publish without Reserve")
	}
	x.entries++
}

// Remove takes out the entry of the row at id, whose key has the given hash and
// is the one that rows knows. It returns false if there is no such entry.
//
// Cost: that of Find; an entry on disk is overwritten in place. Only that can
// fail, with an error of Disk; the entry is there as before.
func (x *Index) Remove(hash, id uint64, rows Rows) (bool, error) {
	m := x.mix(hash)
	e := x.segmentOf(m)
	seg := view(e.seg, x.groups())
	if i, k, ok := locate(seg, slot{m, id}); ok {
		remove(seg, i, k)
		e.count--
		x.entries--
		x.epoch++
		return true, nil
	}
	if e.turned {
		if ok, err := x.over.Remove(rows.Rehash(x.over.key), id, rows); ok || err != nil {
			return ok, err
		}
	}
	if x.low == nil {
		return false, nil
	}
	return x.removeOnDisk(slot{m, id})
}

// removeOnDisk removes an entry from the run that has it.
func (x *Index) removeOnDisk(e slot) (bool, error) {
	c := x.low.scratch.cursor()
	defer x.low.scratch.cursors.Put(c)
	for i, r := range x.low.runs {
		if !r.filter.has(e.m) {
			continue
		}
		id, err := c.find(r, e.m, &x.low.traffic)
		for id != 0 && id != e.id && err == nil {
			id, err = c.next(e.m)
		}
		if err != nil {
			return false, err
		}
		if id == e.id {
			return true, x.strike(c, i)
		}
	}
	return false, nil
}

// strike removes the entry at c, which lies in run i, and the run with its last
// entry.
func (x *Index) strike(c *cursor, i int) error {
	if err := c.strike(); err != nil {
		return err
	}
	if r := x.low.runs[i]; r.live() == 0 {
		x.dropRun(r)
		x.returnSpare()
		x.low.runs = slices.Delete(x.low.runs, i, i+1)
	}
	return nil
}
