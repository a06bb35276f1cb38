package btree

// Cursor walks an index in both directions. The zero Cursor is ready for
// [Cursor.Open]. Entries may be inserted and deleted between its steps, the one
// that it stands on included: the next step goes to what is then the next
// entry in order. It must be closed; an open cursor costs each mutation about a
// nanosecond.
type Cursor struct {
	access
	place
	key   []byte // in the gap: the whole key of the removed entry
	want  want   // what the last seek or Compare was for
	equal bool   // the last search ended at an entry with the wanted key

	run     []entry // copies: the current entry and some of those behind it
	ran     int     // how many of them c has come past, with the current one
	version uint64  // of the index, when they were copied

	prev, next *Cursor // in the tree's list
}

// place is where a cursor stands.
type place struct {
	leaf uint32 // 0: nowhere
	side side
	gap  bool // the entry is removed; i is that of the next one
	i    int
	cur  entry // a copy of the entry, or of the removed one
}

// side is where a cursor stands at its entry.
type side int8

const (
	on     side = 0
	past   side = 1  // behind the last entry
	before side = -1 // before the first
)

// Open makes c a cursor of t that stands nowhere: Next goes to the first
// entry, Prev to the last. An open cursor is closed first.
func (c *Cursor) Open(t *Tree) {
	c.Close()
	c.access.t = t
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.next = t.cursors; c.next != nil {
		c.next.prev = c
	}
	t.cursors = c
}

// Close ends the use of c, which may be opened again. Closing twice is allowed.
func (c *Cursor) Close() {
	t := c.access.t
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.next != nil {
		c.next.prev = c.prev
	}
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		t.cursors = c.next
	}
	c.prev, c.next, c.access.t, c.want = nil, nil, nil, want{}
	c.leave()
	c.Forget()
}

// leave makes c stand nowhere.
func (c *Cursor) leave() { c.place = place{} }

// ID returns the row of the entry that the last successful step went to.
func (c *Cursor) ID() uint64 { return c.cur.id() }

// Valid says whether c stands on an entry that is still there.
func (c *Cursor) Valid() bool { return c.leaf != 0 && c.side == on && !c.gap }

// Next goes to the next entry. It returns false behind the last one, and stays
// there: entries that are added behind it come with a later Next, and Prev goes
// to the last. On an error c stays where it was.
func (c *Cursor) Next() (bool, error) {
	i := c.i + 1
	if c.gap || c.side == before {
		i = c.i
	}
	if n := c.access.t.resident(c.leaf); n != nil && i < int(n.count) {
		c.at(n, c.leaf, i)
		return true, nil
	}
	return c.nextLeaf(i)
}

// nextLeaf is Next where i is in a page, or in the leaf behind.
func (c *Cursor) nextLeaf(i int) (bool, error) {
	if c.leaf == 0 {
		return c.First()
	}
	n := c.node(c.leaf)
	switch {
	case n == nil:
		return false, c.fail()
	case i < int(n.count):
		return c.stand(n, c.leaf, i), nil
	case n.next == 0:
		c.rest(past)
		return false, nil
	}
	return c.hop(n.next, false)
}

// Prev goes to the entry before. It returns false before the first one, and
// stays there.
func (c *Cursor) Prev() (bool, error) {
	i := c.i - 1
	if c.side == past && !c.gap {
		i = c.i
	}
	if n := c.access.t.resident(c.leaf); n != nil && i >= 0 {
		c.at(n, c.leaf, i)
		return true, nil
	}
	return c.prevLeaf(i)
}

// prevLeaf is Prev where i is in a page, or in the leaf before.
func (c *Cursor) prevLeaf(i int) (bool, error) {
	if c.leaf == 0 {
		return c.Last()
	}
	n := c.node(c.leaf)
	switch {
	case n == nil:
		return false, c.fail()
	case i >= 0:
		return c.stand(n, c.leaf, i), nil
	case n.prev == 0:
		c.rest(before)
		return false, nil
	}
	return c.hop(n.prev, true)
}

// at puts c on entry i of the leaf n.
func (c *Cursor) at(n *node, leaf uint32, i int) {
	c.place = place{leaf: leaf, i: i, cur: n.entries[i]}
}

// stand is at for a node that is let go of now.
func (c *Cursor) stand(n *node, leaf uint32, i int) bool {
	c.at(n, leaf, i)
	c.release()
	return true
}

// rest leaves c at its entry, or gap, at the end it has come to.
func (c *Cursor) rest(s side) {
	c.side = s
	c.release()
}

// Compare orders key against the entry that the last successful step went to:
// negative if key is before it. rows is asked when both are longer than 9 bytes
// and agree in these; the entry's row must still be there then.
func (c *Cursor) Compare(key []byte, rows Keys) (int, error) {
	c.want.set(key, 0, rows)
	return c.want.compare(c.cur)
}

func (c *Cursor) fail() error {
	c.release()
	return c.err
}
