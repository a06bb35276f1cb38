package btree

// Delete removes (key, id) and says whether it was there. It must come before
// the row changes or goes: rows still answers for it. On an error the index is
// as before. Cost: O(log n), however many rows have the key; see
// [Tree.Reserve] for the rows that are read.
func (t *Tree) Delete(key []byte, id uint64, rows Keys) (bool, error) {
	t.Cancel()
	if t.root == 0 || id == 0 || id >= maxID {
		return false, nil
	}
	t.want.set(key, id, rows)
	defer t.release()
	found, err := t.locateExact()
	if !found || err != nil {
		return false, err
	}
	if err = t.holdAround(); err != nil {
		return false, err
	}
	t.removeAt()
	return true, nil
}

// locateExact sets the path to the wanted entry, if there is one.
func (t *Tree) locateExact() (bool, error) {
	if _, err := t.descend(false); err != nil {
		return false, err
	}
	at := t.path[t.depth-1]
	leaf := t.node(at.no)
	return at.i < int(leaf.count) && leaf.entries[at.i] == t.want.entry, nil
}

// holdAround holds every node that removing the path's entry will touch.
func (t *Tree) holdAround() error {
	d := t.depth - 1
	leaf := t.node(t.path[d].no)
	if t.cursors != nil && leaf.prev != 0 && t.node(leaf.prev) == nil {
		return t.err
	}
	for count := leaf.count; d > 0 && int(count)-1 < minimum(d == t.depth-1); d-- {
		p := t.pair(d)
		if p.left == nil || p.right == nil {
			return t.err
		}
		if !p.fit(-1) {
			return nil
		}
		if next := p.right.next; next != 0 && t.node(next) == nil {
			return t.err
		}
		count = p.parent.count
	}
	return nil
}

func minimum(leaf bool) int {
	if leaf {
		return leafMin
	}
	return innerMin
}

// removeAt removes the entry at the path and sets right what is above it.
func (t *Tree) removeAt() {
	d := t.depth - 1
	at := t.path[d]
	leaf := t.node(at.no)
	t.version++
	t.left(at, leaf)
	leaf.remove(at.i)
	t.length--
	t.rising = false
	if at.i == 0 && leaf.count > 0 { // an empty leaf is the last, and goes
		t.renew(d, leaf.entries[0])
	}
	t.rebalance(d)
}

// renew replaces the separator left of the path's node at depth d, which was the
// entry just removed: a separator is always the entry of a living row. It may
// be several levels up; the leftmost node has none.
func (t *Tree) renew(d int, e entry) {
	for d--; d >= 0; d-- {
		if i := t.path[d].i; i > 0 {
			n := t.node(t.path[d].no)
			n.inner().entries[i-1], n.dirty = e, 1
			return
		}
	}
}
