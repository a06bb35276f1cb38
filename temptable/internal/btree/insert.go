package btree

import (
	"fmt"

	"github.com/spillway-db/spillway/internal/invariants"
)

// Insert adds (key, id). With unique set it adds nothing if some row has the
// key already: other is that row's id then, otherwise 0. On an error the index
// is as before. It is [Tree.Reserve] and [Tree.Publish] in one.
func (t *Tree) Insert(key []byte, id uint64, unique bool, rows Keys) (other uint64, err error) {
	if id == 0 || id >= maxID {
		return 0, outOfRange(id)
	}
	if t.rising && t.plan == nothing {
		if e := makeEntry(key, id); t.behindLast(e) {
			t.append(e)
			return 0, nil
		}
	}
	other, err = t.Reserve(key, id, unique, rows)
	if err == nil && other == 0 {
		t.Publish(id)
	}
	return other, err
}

// Reserve finds the place of (key, id) and makes sure that [Tree.Publish]
// needs nothing more. With unique set id is not looked at, so that the row need
// not have its place yet; other is the id of a row that has the key already,
// or 0. rows answers for keys longer than 9 bytes and may be nil if there are
// none. key is borrowed until Publish or [Tree.Cancel]. On an error nothing has
// changed but that free nodes may be at hand.
//
// Cost: O(log n), with one CompareRow for each halving of a run of entries
// that agree with key in the first 9 bytes.
func (t *Tree) Reserve(key []byte, id uint64, unique bool, rows Keys) (other uint64, err error) {
	t.Cancel()
	if unique {
		id = 0
	} else if id == 0 || id >= maxID {
		return 0, outOfRange(id)
	}
	t.want.set(key, id, rows)
	if t.rising && t.behindLast(t.want.entry) {
		t.plan = toAppend
		return 0, nil
	}
	if other, err = t.locate(unique); err == nil && other == 0 {
		err = t.provide()
	}
	if err != nil || other != 0 {
		t.release()
		return other, err
	}
	t.plan = toPlace
	return 0, nil
}

func outOfRange(id uint64) error {
	return fmt.Errorf("indexing row %#x: %w", id, ErrRowID)
}

// Cancel forgets what Reserve prepared. The reserved nodes stay at hand.
func (t *Tree) Cancel() {
	t.plan = nothing
	t.release()
}

// behindLast says whether the last leaf has room, no cursor is open, and e is
// seen to be greater than all others without reading a row.
func (t *Tree) behindLast(e entry) bool {
	leaf := t.resident(t.last)
	if leaf == nil || leaf.count == leafCap || t.cursors != nil {
		return false
	}
	return less(&leaf.entries[leaf.count-1], e.hi, e.lo&^maxID) == 1
}

// append adds an entry that is behindLast.
func (t *Tree) append(e entry) {
	leaf := t.resident(t.last)
	leaf.insert(int(leaf.count), e)
	t.length++
}

// locate sets the path to the place of the wanted entry.
func (t *Tree) locate(unique bool) (other uint64, err error) {
	if t.root == 0 {
		return 0, nil
	}
	if t.rising {
		if behind, err := t.behindAll(); behind || err != nil {
			return 0, err
		}
	}
	return t.descend(unique)
}

// behindAll tests whether the wanted key is greater than all others, by one
// comparison, and sets the path if so.
func (t *Tree) behindAll() (bool, error) {
	leaf := t.node(t.last)
	if leaf == nil {
		return false, t.err
	}
	c, err := t.want.compare(leaf.entries[leaf.count-1])
	if c <= 0 || err != nil {
		return false, err
	}
	return true, t.rightSpine()
}

// rightSpine sets the path to the end of the last leaf.
func (t *Tree) rightSpine() error {
	no := t.root
	for d := range t.depth {
		n := t.node(no)
		if n == nil {
			return t.err
		}
		t.path[d] = step{no, int(n.count)}
		if n.level != 0 {
			no = n.inner().kids[n.count]
		}
	}
	return nil
}

// descend sets the path to the wanted entry, or to where it would be. With
// unique set it stops at an entry with the same key and returns its row.
func (t *Tree) descend(unique bool) (other uint64, err error) {
	no := t.root
	for d := range t.depth {
		n := t.node(no)
		if n == nil {
			return 0, t.err
		}
		i, equal, err := t.want.find(n)
		if err != nil {
			return 0, err
		}
		if equal && unique {
			return n.entries[i].id(), nil
		}
		t.path[d] = step{no, i}
		if n.level != 0 {
			no = n.inner().kids[i]
		}
	}
	return 0, nil
}

// provide gets the nodes that inserting at the path will need, and holds them.
func (t *Tree) provide() error {
	k, err := t.splits()
	if k == 0 || err != nil {
		return err
	}
	if err := t.stock(k); err != nil {
		return err
	}
	return t.hold(t.spare[t.spares-k : t.spares])
}

// Stock gets the nodes that any one insert may need, wherever its key belongs
// by then: for a key that is to be moved, whose deletion may change where the
// new one goes. They stay at hand. On an error the tree is as it was.
func (t *Tree) Stock() error { return t.stock(min(t.depth+1, maxDepth)) }

// stock sees to it that k nodes are at hand.
func (t *Tree) stock(k int) error {
	for t.spares < k {
		no, err := t.take()
		if err != nil {
			return err
		}
		t.spare[t.spares] = no
		t.spares++
	}
	return nil
}

// splits counts the nodes to be added: one for each full node from the leaf
// up, and a new root if all are full. It holds the neighbour of a full leaf.
func (t *Tree) splits() (int, error) {
	if t.root == 0 {
		return 1, nil
	}
	leaf := t.node(t.path[t.depth-1].no)
	if leaf.count < leafCap {
		return 0, nil
	}
	if leaf.next != 0 && t.node(leaf.next) == nil {
		return 0, t.err
	}
	k := 1
	for d := t.depth - 2; d >= 0; d-- {
		if t.node(t.path[d].no).count < innerCap {
			return k, nil
		}
		k++
	}
	return k + 1, nil
}

func (t *Tree) hold(list []uint32) error {
	for _, no := range list {
		if t.node(no) == nil {
			return t.err
		}
	}
	return nil
}

// Publish adds the entry that Reserve has prepared, for the row id: the one
// given to Reserve, or any one of 1 to 2^48-2 if that was unique. It cannot
// fail; without a successful Reserve before it, it does nothing.
func (t *Tree) Publish(id uint64) {
	if invariants.Enabled && t.plan != nothing && t.want.id()|id != id {
		panic("ordered index: another row published than reserved")
	}
	t.want.lo |= id
	switch t.plan {
	case nothing:
		return
	case toAppend:
		t.append(t.want.entry)
	case toPlace:
		t.place()
	}
	t.version++
	t.Cancel()
}

// plant makes the first leaf.
func (t *Tree) plant() {
	no, leaf := t.spareNode()
	leaf.begin(header{})
	t.root, t.first, t.last = no, no, no
	t.depth, t.leaves = 1, 1
	t.path[0] = step{no, 0}
}

// place inserts the wanted entry at the path.
func (t *Tree) place() {
	if t.root == 0 {
		t.plant()
	}
	at := t.path[t.depth-1]
	leaf := t.node(at.no)
	t.rising = leaf.next == 0 && at.i == int(leaf.count)
	t.length++
	t.entered(at)
	if leaf.count < leafCap {
		leaf.insert(at.i, t.want.entry)
		return
	}
	t.split(at, leaf)
}

// spareNode hands out a node that provide has put aside.
func (t *Tree) spareNode() (uint32, *node) {
	t.spares--
	no := t.spare[t.spares]
	return no, t.node(no)
}
