package btree

// All seeks return whether there is such an entry. If not, the cursor stands
// behind the last entry (First, SeekGE, SeekGT) or before the first (Last,
// SeekLE, SeekLT), in an empty index nowhere. On an error it stays where it was.
// key is used during the call only; rows is as for [Tree.Reserve].

// First goes to the first entry.
func (c *Cursor) First() (bool, error) {
	return c.goTo(c.access.t.first, false)
}

// Last goes to the last entry.
func (c *Cursor) Last() (bool, error) {
	return c.goTo(c.access.t.last, true)
}

func (c *Cursor) goTo(no uint32, last bool) (bool, error) {
	if no == 0 || c.access.t.length == 0 {
		c.leave()
		return false, nil
	}
	return c.hop(no, last)
}

// hop goes to the first or the last entry of a leaf, letting go of others.
func (c *Cursor) hop(no uint32, last bool) (bool, error) {
	c.release()
	n := c.node(no)
	if n == nil {
		return false, c.fail()
	}
	i := 0
	if last {
		i = int(n.count) - 1
	}
	return c.stand(n, no, i), nil
}

// SeekGE goes to the first entry whose key is at or behind key.
func (c *Cursor) SeekGE(key []byte, rows Keys) (bool, error) {
	return c.seek(key, 0, rows, false)
}

// SeekGT goes to the first entry whose key is behind key. With [PrefixEnd] it
// need not be an existing key: SeekGE to the end of a prefix jumps over the
// group.
func (c *Cursor) SeekGT(key []byte, rows Keys) (bool, error) {
	return c.seek(key, maxID, rows, false)
}

// SeekLE goes to the last entry whose key is at or before key.
func (c *Cursor) SeekLE(key []byte, rows Keys) (bool, error) {
	return c.seek(key, maxID, rows, true)
}

// SeekLT goes to the last entry whose key is before key.
func (c *Cursor) SeekLT(key []byte, rows Keys) (bool, error) {
	return c.seek(key, 0, rows, true)
}

// SeekAt goes to the first entry at or behind (key, id). With a row's own key
// and id that is the row's entry.
func (c *Cursor) SeekAt(key []byte, id uint64, rows Keys) (bool, error) {
	return c.seek(key, min(id, maxID), rows, false)
}

// Find goes to the first entry with this key. If there is none it returns
// false, and c stands as after SeekGE.
func (c *Cursor) Find(key []byte, rows Keys) (bool, error) {
	old := c.place
	ok, err := c.seek(key, 0, rows, false)
	if !ok || err != nil || c.equal {
		return ok, err
	}
	if c.i > 0 {
		return false, nil
	}
	order, err := c.want.compare(c.cur) // the search has ended in the leaf before
	if err != nil {
		c.place = old
	}
	return order == 0 && err == nil, err
}

// seek goes to the first entry at or behind (key, id), or with back set to
// the one before that.
func (c *Cursor) seek(key []byte, id uint64, rows Keys, back bool) (bool, error) {
	c.want.set(key, id, rows)
	ok, err := c.search(back)
	c.release()
	return ok, err
}

func (c *Cursor) search(back bool) (bool, error) {
	t := c.access.t
	if t.length == 0 {
		c.leave()
		return false, nil
	}
	no, n, i, err := c.descend(t.root)
	switch {
	case err != nil:
		return false, err
	case back:
		return c.landBefore(no, n, i)
	}
	return c.land(no, n, i)
}

// descend returns the leaf where the wanted entry is or would be, and where.
// It holds one page at a time.
func (c *Cursor) descend(no uint32) (leaf uint32, n *node, i int, err error) {
	for {
		c.release()
		if n = c.node(no); n == nil {
			return 0, nil, 0, c.err
		}
		if i, c.equal, err = c.want.find(n); err != nil || n.level == 0 {
			return no, n, i, err
		}
		no = n.inner().kids[i]
	}
}

// land stands on entry i of a leaf, which may be the first of the next one.
func (c *Cursor) land(no uint32, n *node, i int) (bool, error) {
	if i < int(n.count) {
		return c.stand(n, no, i), nil
	}
	if n.next == 0 {
		c.stand(n, no, i-1)
		c.side = past
		return false, nil
	}
	return c.hop(n.next, false)
}

// landBefore stands on the entry before i of a leaf.
func (c *Cursor) landBefore(no uint32, n *node, i int) (bool, error) {
	if i > 0 {
		return c.stand(n, no, i-1), nil
	}
	if n.prev == 0 {
		c.stand(n, no, 0)
		c.side = before
		return false, nil
	}
	return c.hop(n.prev, true)
}

// PrefixEnd appends to dst the least key that is behind every key beginning
// with prefix. ok is false if there is none: prefix is empty or all 0xff.
func PrefixEnd(dst, prefix []byte) (end []byte, ok bool) {
	n := len(prefix)
	for n > 0 && prefix[n-1] == 0xff {
		n--
	}
	if n == 0 {
		return dst, false
	}
	dst = append(dst, prefix[:n]...)
	dst[len(dst)-1]++
	return dst, true
}
