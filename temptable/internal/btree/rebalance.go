package btree

// pair is two children side by side, and the separator between them.
type pair struct {
	parent      *inner
	sep         int
	left, right *node
	lno, rno    uint32
}

// pair returns the path's node at depth d together with its left neighbour, or
// its right one if it is a first child. left or right is nil if it cannot be had.
func (t *Tree) pair(d int) pair {
	at := t.path[d-1]
	p := pair{parent: t.node(at.no).inner(), sep: max(0, at.i-1)}
	p.lno, p.rno = p.parent.kids[p.sep], p.parent.kids[p.sep+1]
	p.left, p.right = t.node(p.lno), t.node(p.rno)
	return p
}

// fit says whether both fit one node with room to spare, once they have
// changed by delta entries.
func (p pair) fit(delta int) bool {
	n := int(p.left.count) + int(p.right.count) + delta
	if p.left.level == 0 {
		return n <= leafFit
	}
	return n+1 <= innerFit
}

// rebalance merges or fills up the path's nodes that have become too small,
// from depth d up.
func (t *Tree) rebalance(d int) {
	for ; d > 0 && int(t.node(t.path[d].no).count) < minimum(d == t.depth-1); d-- {
		p := t.pair(d)
		if !p.fit(0) {
			t.even(p)
			return
		}
		t.merge(p)
	}
	if d == 0 {
		t.lowerRoot()
	}
}

// lowerRoot removes a root that has but one child. An empty leaf stays.
func (t *Tree) lowerRoot() {
	root := t.node(t.root)
	if root.level == 0 || root.count > 0 {
		return
	}
	old := t.root
	t.root = root.inner().kids[0]
	t.give(old)
	t.depth--
}

// merge moves everything to the left node and gives the right one back.
func (t *Tree) merge(p pair) {
	if p.left.level == 0 {
		t.merged(p.lno, p.rno, int(p.left.count))
		t.leaves--
		p.left.next = p.right.next
		t.linkBack(p.right.next, p.lno)
		push(p.left, p.right, int(p.right.count))
	} else {
		rotateLeft(p, int(p.right.count))
		p.left.inner().insert(int(p.left.count), p.parent.entries[p.sep], p.right.inner().kids[0])
	}
	p.parent.remove(p.sep)
	t.give(p.rno)
}

// even spreads the entries of both over both.
func (t *Tree) even(p pair) {
	total := int(p.left.count) + int(p.right.count)
	k := total/2 - int(p.left.count) // moves left; right if negative
	if p.left.level != 0 {
		rotate(p, k)
		return
	}
	t.merged(p.lno, p.rno, int(p.left.count))
	t.cut(p.lno, p.rno, total/2)
	if k > 0 {
		push(p.left, p.right, k)
	} else {
		pull(p.left, p.right, -k)
	}
	p.parent.entries[p.sep], p.parent.dirty = p.right.entries[0], 1
}

// push moves the first k entries of right to the end of left.
func push(left, right *node, k int) {
	l, r := int(left.count), int(right.count)
	copy(left.entries[l:], right.entries[:k])
	copy(right.entries[:], right.entries[k:r])
	left.resize(l + k)
	right.resize(r - k)
}

// pull moves the last k entries of left to the front of right.
func pull(left, right *node, k int) {
	l, r := int(left.count), int(right.count)
	copy(right.entries[k:], right.entries[:r])
	copy(right.entries[:], left.entries[l-k:l])
	left.resize(l - k)
	right.resize(r + k)
}

// rotate moves k children from right to left through the parent, or -k back.
func rotate(p pair, k int) {
	if k > 0 {
		rotateLeft(p, k)
	} else {
		rotateRight(p, -k)
	}
}

func rotateLeft(p pair, k int) {
	l, r := p.left.inner(), p.right.inner()
	lc, rc := int(l.count), int(r.count)
	l.entries[lc] = p.parent.entries[p.sep]
	copy(l.entries[lc+1:], r.entries[:k-1])
	copy(l.kids[lc+1:], r.kids[:k])
	p.parent.entries[p.sep] = r.entries[k-1]
	copy(r.entries[:], r.entries[k:rc])
	copy(r.kids[:], r.kids[k:rc+1])
	p.resize(lc+k, rc-k)
}

func rotateRight(p pair, k int) {
	l, r := p.left.inner(), p.right.inner()
	lc, rc := int(l.count), int(r.count)
	copy(r.entries[k:], r.entries[:rc])
	copy(r.kids[k:], r.kids[:rc+1])
	r.entries[k-1] = p.parent.entries[p.sep]
	copy(r.entries[:k-1], l.entries[lc-k+1:lc])
	copy(r.kids[:k], l.kids[lc-k+1:lc+1])
	p.parent.entries[p.sep] = l.entries[lc-k]
	p.resize(lc-k, rc+k)
}

// resize sets the counts and marks all three nodes as written.
func (p pair) resize(left, right int) {
	p.left.resize(left)
	p.right.resize(right)
	p.parent.dirty = 1
}
