package btree

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spillway-db/spillway/internal/invariants"
)

// ErrCorrupt is what the errors of [Tree.Check] wrap.
var ErrCorrupt = errors.New("ordered index: inconsistent")

// Check walks the whole index and returns an error that wraps [ErrCorrupt] if
// an entry is out of order, a link, a separator, a count or a fill is wrong, a
// node is lost, or a cursor stands where there is nothing. It cancels a Reserve. key returns the key
// of a row, valid until the next call. It is for tests; it costs O(n).
func (t *Tree) Check(key func(id uint64) ([]byte, error)) error {
	t.Cancel()
	c := &checker{t: t, key: key}
	defer t.release()
	for _, step := range []func() error{c.tree, c.totals, c.free, c.standing} {
		if err := step(); err != nil {
			return err
		}
		t.release()
	}
	return nil
}

type checker struct {
	t       *Tree
	key     func(uint64) ([]byte, error)
	last    []byte // the key before, and its row
	lastID  uint64
	prev    uint32 // the leaf before
	next    uint32 // what that says is next
	entries int
	leaves  int
	inners  int
}

func (c *checker) fault(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

func (c *checker) tree() error {
	if c.t.root == 0 {
		return nil
	}
	return c.node(c.t.root, c.t.depth-1, nil, true)
}

// node checks the subtree no. sep is the separator left of it, right says that
// nothing is right of it.
func (c *checker) node(no uint32, level int, sep *entry, right bool) error {
	c.t.release()
	p := c.t.node(no)
	if p == nil {
		return c.t.err
	}
	n := *p // a copy: the page may go
	if int(n.level) != level {
		return c.fault("node %#x: level %d instead of %d", no, n.level, level)
	}
	if level == 0 {
		return c.leaf(no, &n, sep, right)
	}
	return c.inner(no, n.inner(), sep, right)
}

func (c *checker) inner(no uint32, n *inner, sep *entry, right bool) error {
	c.inners++
	if n.count < 1 || n.count < innerMin && !right || n.count > innerCap {
		return c.fault("inner node %#x: %d separators", no, n.count)
	}
	for i := range int(n.count) + 1 {
		if i > 0 {
			sep = &n.entries[i-1]
		}
		if err := c.node(n.kids[i], int(n.level)-1, sep, right && i == int(n.count)); err != nil {
			return err
		}
	}
	return c.vacancy(no, n.entries[n.count:])
}

func (c *checker) leaf(no uint32, n *node, sep *entry, right bool) error {
	c.leaves++
	alone := no == c.t.root
	switch {
	case n.count > leafCap, n.count < leafMin && !right, n.count == 0 && !alone:
		return c.fault("leaf %#x: %d entries", no, n.count)
	case sep != nil && *sep != n.entries[0]:
		return c.fault("leaf %#x: separator %x, first entry %x", no, *sep, n.entries[0])
	case n.prev != c.prev, c.prev == 0 && c.t.first != no, c.prev != 0 && c.next != no:
		return c.fault("leaf %#x: follows %#x, the walk comes from %#x", no, n.prev, c.prev)
	case right && (n.next != 0 || c.t.last != no):
		return c.fault("leaf %#x: the last, but %#x follows", no, n.next)
	}
	c.prev, c.next = no, n.next
	for _, e := range n.entries[:n.count] {
		if err := c.entry(e); err != nil {
			return fmt.Errorf("leaf %#x: %w", no, err)
		}
	}
	return c.vacancy(no, n.entries[n.count:])
}

// vacancy checks that what is behind the entries of n is vacant.
func (c *checker) vacancy(no uint32, unused []entry) error {
	for _, e := range unused {
		if e != vacant {
			return c.fault("node %#x: %x behind its entries", no, e)
		}
	}
	return nil
}

func (c *checker) entry(e entry) error {
	key, err := c.key(e.id())
	if err != nil {
		return err
	}
	if makeEntry(key, e.id()) != e {
		return c.fault("entry %x has key %x", e, key)
	}
	if order := bytes.Compare(c.last, key); c.entries > 0 && (order > 0 || order == 0 && c.lastID >= e.id()) {
		return c.fault("key %x row %#x comes before key %x row %#x", c.last, c.lastID, key, e.id())
	}
	c.last, c.lastID = append(c.last[:0], key...), e.id()
	c.entries++
	return nil
}

func (c *checker) totals() error {
	t := c.t
	if c.entries != t.length || c.leaves != t.leaves || c.leaves+c.inners+t.spares != t.inUse {
		return c.fault("counted %d entries, %d leaves, %d inner nodes; recorded %d, %d, %d with %d spare",
			c.entries, c.leaves, c.inners, t.length, t.leaves, t.inUse-c.leaves, t.spares)
	}
	return nil
}

// free checks that each node is in use, free, or has not been used.
func (c *checker) free() error {
	t, n := c.t, 0
	for no := t.free; no != 0; n++ {
		p := t.node(no)
		if p == nil {
			return t.err
		}
		if p.level != freeNode {
			return c.fault("free node %#x: level %d", no, p.level)
		}
		no = p.next
		t.release()
	}
	if used := t.usedNodes(); used != n+t.inUse {
		return c.fault("%d nodes once used, %d free and %d in use", used, n, t.inUse)
	}
	return nil
}

// usedNodes counts the nodes that were handed out since the last reset.
func (t *Tree) usedNodes() (n int) {
	at := int(t.next >> slotBits)
	for i := 1; i < at; i++ {
		n += int(t.chunks[i].slots())
	}
	return n + int(t.next&slotMask)
}

// standing checks the cursors.
func (c *checker) standing() error {
	for cur := c.t.cursors; cur != nil; cur = cur.next {
		if err := c.cursor(cur); err != nil {
			return err
		}
		c.t.release()
	}
	return nil
}

func (c *checker) cursor(cur *Cursor) error {
	if cur.leaf == 0 {
		return nil
	}
	n := c.t.node(cur.leaf)
	switch {
	case n == nil:
		return c.t.err
	case n.level != 0 || cur.i < 0 || cur.i > int(n.count):
		return c.fault("cursor at %d of node %#x: level %d, %d entries", cur.i, cur.leaf, n.level, n.count)
	case cur.gap && cur.i == 0 && n.prev != 0:
		return c.fault("cursor in the gap before leaf %#x", cur.leaf)
	case !cur.gap && (cur.i == int(n.count) || n.entries[cur.i] != cur.cur):
		return c.fault("cursor at %d of leaf %#x is not on its entry %x", cur.i, cur.leaf, cur.cur)
	}
	return nil
}

// poison overwrites a freed node in the checked build.
func poison(n *node) {
	if !invariants.Enabled {
		return
	}
	for i := range n.entries {
		n.entries[i] = entry{^uint64(0) / 5 * 4, ^uint64(0) / 5 * 4}
	}
}
