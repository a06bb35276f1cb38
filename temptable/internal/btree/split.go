package btree

// split inserts the wanted entry into a full leaf, half of which moves to a
// new one. Behind the last entry of all nothing moves: ascending insertions
// leave full leaves.
func (t *Tree) split(at step, left *node) {
	no, right := t.spareNode()
	k := (leafCap + 1) / 2 // entries that are left of the cut in the end
	if t.rising {
		k = leafCap
	}
	t.cut(at.no, no, k)
	right.begin(header{prev: at.no, next: left.next})
	t.linkBack(left.next, no)
	left.next = no
	if at.i < k {
		shift(right, left, k-1)
		left.insert(at.i, t.want.entry)
	} else {
		shift(right, left, k)
		right.insert(at.i-k, t.want.entry)
	}
	t.leaves++
	t.raise(right.entries[0], no)
}

// shift moves the entries of src from k on to the empty dst.
func shift(dst, src *node, k int) {
	dst.count = uint16(copy(dst.entries[:], src.entries[k:src.count]))
	src.resize(k)
}

// linkBack makes prev the left neighbour of the leaf no, or the last leaf if
// there is none.
func (t *Tree) linkBack(no, prev uint32) {
	if no == 0 {
		t.last = prev
		return
	}
	n := t.node(no)
	n.prev, n.dirty = prev, 1
}

// raise inserts a separator and the node right of it into the path's inner
// nodes, from the lowest up.
func (t *Tree) raise(sep entry, kid uint32) {
	for d := t.depth - 2; d >= 0; d-- {
		at := t.path[d]
		n := t.node(at.no).inner()
		if n.count < innerCap {
			n.insert(at.i, sep, kid)
			return
		}
		sep, kid = t.splitInner(n, at.i, sep, kid)
	}
	t.raiseRoot(sep, kid)
}

// splitInner inserts (sep, kid) at i into a full inner node, part of which
// moves to a new one. It returns what the parent has to take.
func (t *Tree) splitInner(left *inner, i int, sep entry, kid uint32) (entry, uint32) {
	no, n := t.spareNode()
	right := n.inner()
	k := innerCap / 2
	if t.rising {
		k = innerCap - 2 // two children move, so that no node has but one
	}
	n.begin(header{level: left.level})
	up := left.entries[k]
	right.count = uint16(copy(right.entries[:], left.entries[k+1:]))
	copy(right.kids[:], left.kids[k+1:])
	left.node().resize(k)
	if i <= k {
		left.insert(i, sep, kid)
	} else {
		right.insert(i-k-1, sep, kid)
	}
	return up, no
}

// raiseRoot puts a new root above the old one and the node kid right of it.
func (t *Tree) raiseRoot(sep entry, kid uint32) {
	no, n := t.spareNode()
	root := n.inner()
	n.begin(header{count: 1, level: uint8(t.depth)})
	root.entries[0], root.kids[0], root.kids[1] = sep, t.root, kid
	t.root = no
	t.depth++
}
