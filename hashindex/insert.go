package hashindex

// Reserve makes room for the key that Find did not find, so that Publish with
// the slot it returns cannot fail. It may split, double or turn; ids and
// entries stay as they are. On an error, which wraps Memory's refusal or is
// ErrCollisions, the index is as it was. One reservation at a time: the next
// Reserve voids it, and nothing need be done to drop it.
func (x *Index) Reserve(s Slot, rows Rows) (Slot, error) {
	if s.level > 0 {
		return x.reserveOver(s, rows)
	}
	if s.crowded {
		x.turn(s.m)
	}
	for {
		e := x.segmentOf(s.m)
		if e.turned {
			return x.reserveOver(x.over.missing(rows), rows)
		}
		if e.count < x.limit {
			return s, nil
		}
		if err := x.grow(s.m); err != nil {
			return s, err
		}
	}
}

// reserveOver reserves in the overflow index a slot that is one level up.
func (x *Index) reserveOver(s Slot, rows Rows) (Slot, error) {
	s.level--
	s, err := x.over.Reserve(s, rows)
	s.level++
	return s, err
}

// missing is the slot, seen from the index above, of a key that is known not
// to be in x.
func (x *Index) missing(rows Rows) Slot {
	return Slot{m: x.mix(rows.Rehash(x.key)), epoch: x.epoch - 1, level: 1}
}

// Publish stores the id, 1 to 2^48-1, of the row whose key s stands for. If
// entries have moved since s was found, the place is looked up again.
func (x *Index) Publish(s Slot, id uint64) {
	for ; s.level > 0; s.level-- {
		x = x.over
	}
	e := x.segmentOf(s.m)
	p := at(e.seg, uint64(s.pos)&x.mask)
	if s.epoch != x.epoch || p.id != 0 {
		p = at(e.seg, vacant(view(e.seg, x.slotsPer()), s.m))
	}
	*p = slot{s.m, id}
	e.count++
	x.entries++
}

// Delete removes the entry of the row at id, whose key has the given hash and
// is the one that rows knows. It returns false if there is no such entry.
func (x *Index) Delete(hash, id uint64, rows Rows) bool {
	m := x.mix(hash)
	e := x.segmentOf(m)
	seg := view(e.seg, x.slotsPer())
	i, ok := locate(seg, slot{m, id})
	if !ok {
		return e.turned && x.over.Delete(rows.Rehash(x.over.key), id, rows)
	}
	remove(seg, i)
	e.count--
	x.entries--
	x.epoch++
	return true
}
