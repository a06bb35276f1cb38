package btree

// Ahead copies up to n of the entries that follow the current one in its leaf,
// so that Step can go to them. The cursor must stand on an entry. It reads
// nothing if the leaf is in a page.
func (c *Cursor) Ahead(n int) {
	leaf := c.access.t.resident(c.leaf)
	if leaf == nil || !c.Valid() {
		return
	}
	end := min(int(leaf.count), c.i+1+n)
	c.run = append(c.run[:0], leaf.entries[c.i:end]...)
	c.ran, c.version = 1, c.access.t.version
}

// Forget gives up what Ahead copied. Every step but Step makes that necessary.
func (c *Cursor) Forget() { c.run, c.ran = c.run[:0], 0 }

// Step is Next where Ahead has the entry and the index has not changed since;
// otherwise it does nothing and returns false. It does not touch the index's
// nodes.
func (c *Cursor) Step() bool {
	if c.ran >= len(c.run) || c.version != c.access.t.version {
		return false
	}
	c.cur = c.run[c.ran]
	c.i++
	c.ran++
	return true
}

// Fresh reports whether the current entry is one that Ahead has copied, and the
// index has not changed since.
func (c *Cursor) Fresh() bool { return c.ran > 0 && c.version == c.access.t.version }

// Ran is how many of the entries that Ahead copied the cursor has come past, the
// current one among them.
func (c *Cursor) Ran() int { return c.ran }

// Copied is the number of entries that Ahead copied.
func (c *Cursor) Copied() int { return len(c.run) }

// IDAt returns the row of the k-th of them; the current one is Ran()-1.
func (c *Cursor) IDAt(k int) uint64 { return c.run[k].id() }

// CompareAt is Compare with the k-th of them.
func (c *Cursor) CompareAt(k int, key []byte, rows Keys) (int, error) {
	c.want.set(key, 0, rows)
	return c.want.compare(c.run[k])
}

// Trim keeps the first n of them, the current one among them.
func (c *Cursor) Trim(n int) { c.run = c.run[:max(n, c.ran)] }
