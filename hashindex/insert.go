package hashindex

// Reserve makes room for the key that Find did not find, so that Publish with
// the slot it returns cannot fail. It may split, double or turn; ids and
// entries stay as they are. On an error, which wraps Memory's refusal or is
// ErrCollisions, the index is as it was. One reservation at a time: the next
// Reserve voids it, and nothing need be done to drop it.
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
		if err := x.grow(s.m); err != nil {
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
	x.entries++
}

// Delete removes the entry of the row at id, whose key has the given hash and
// is the one that rows knows. It returns false if there is no such entry.
func (x *Index) Delete(hash, id uint64, rows Rows) bool {
	m := x.mix(hash)
	e := x.segmentOf(m)
	seg := view(e.seg, x.groups())
	i, k, ok := locate(seg, slot{m, id})
	if !ok {
		return e.turned && x.over.Delete(rows.Rehash(x.over.key), id, rows)
	}
	remove(seg, i, k)
	e.count--
	x.entries--
	x.epoch++
	return true
}
