package btree

// Open cursors move with the tree: each mutation tells them what has moved, in
// terms of leaves and indexes, and neither keys nor rows are read for it. A
// cursor whose entry is removed keeps the key and stands in the gap: where that
// entry would be inserted again. (That is never index 0 of a leaf that has a
// left neighbour: what comes before a separator belongs left of it.)

// entered tells that the wanted entry is going to be inserted at.
func (t *Tree) entered(at step) {
	for c := t.cursors; c != nil; c = c.next {
		if c.leaf == at.no && (c.i > at.i || c.i == at.i && c.behind(&t.want)) {
			c.i++
		}
	}
}

// behind says whether a cursor at the index of the entry that is inserted
// stands behind it. If it is the one that the cursor stood on, it does again.
func (c *Cursor) behind(w *want) bool {
	if !c.gap {
		return true
	}
	order := w.order(c.key, c.cur.id())
	c.gap = order != 0
	return order < 0
}

// cut tells that the entries of left from k on are now those of right.
func (t *Tree) cut(left, right uint32, k int) {
	for c := t.cursors; c != nil; c = c.next {
		if c.leaf == left && (c.i > k || c.i == k && !c.gap) {
			c.leaf, c.i = right, c.i-k
		}
	}
}

// merged tells that the entries of right now follow the n entries of left.
func (t *Tree) merged(left, right uint32, n int) {
	for c := t.cursors; c != nil; c = c.next {
		if c.leaf == right {
			c.leaf, c.i = left, c.i+n
		}
	}
}

// left tells that the wanted entry is going to be removed at, from leaf.
func (t *Tree) left(at step, leaf *node) {
	for c := t.cursors; c != nil; c = c.next {
		if c.leaf == at.no && c.i >= at.i {
			c.lose(at.i, &t.want)
			c.settle(t, leaf)
		}
	}
}

// lose takes note that the entry at i of the cursor's leaf is removed.
func (c *Cursor) lose(i int, w *want) {
	switch {
	case c.i > i:
		c.i--
	case !c.gap:
		c.gap = true
		c.key, c.cur = append(c.key[:0], w.key...), w.entry
	}
}

// settle moves a cursor in the gap before a leaf's first entry to the end of
// the leaf left of it.
func (c *Cursor) settle(t *Tree, leaf *node) {
	if c.gap && c.i == 0 && leaf.prev != 0 {
		c.leaf, c.i = leaf.prev, int(t.node(leaf.prev).count)
	}
}

// forgetCursors makes all open cursors stand nowhere.
func (t *Tree) forgetCursors() {
	for c := t.cursors; c != nil; c = c.next {
		c.leave()
	}
}
