package temptable

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/hashindex"
	"github.com/spillway-db/spillway/temptable/internal/btree"
)

// keyReader answers for stored rows while an index looks for a key. It belongs
// to one call that changes the table, or to one cursor.
type keyReader struct {
	x    *Index
	row  []byte // the row whose key hash is looking for
	want []byte // the key that tree is looking for
	cmp  []byte // that of the row it is compared with
	pin  *allocator.Pin
	wide *[]byte

	// While a row is updated, the tree has it under moved, not under the key of
	// the row that is stored.
	moving RowID
	moved  []byte
}

// Compile-time checks.
var (
	_ hashindex.Rows = (*keyReader)(nil)
	_ btree.Keys     = (*keyReader)(nil)
)

// Equal implements hashindex.Rows.
func (k *keyReader) Equal(id uint64) (bool, error) {
	row, err := k.x.t.fetchBy(RowID(id), k.pin, k.wide)
	if err != nil {
		return false, err
	}
	defer k.pin.Unpin()
	return k.x.t.keyEqual(k.x.view, row, k.row)
}

// Rehash implements hashindex.Rows with a hash that nobody outside the process
// can foresee.
func (k *keyReader) Rehash(seed uint64) uint64 {
	var h maphash.Hash
	h.SetSeed(k.x.t.eng.seed)
	maphash.WriteComparable(&h, seed)
	if err := k.x.t.writeKey(&h, k.x.view, k.row); err != nil {
		_ = k.x.t.fail(err)
	}
	return h.Sum64()
}

// CompareRow implements btree.Keys.
func (k *keyReader) CompareRow(id uint64) (int, error) {
	if RowID(id) == k.moving {
		return bytes.Compare(k.want, k.moved), nil
	}
	row, err := k.x.t.fetchBy(RowID(id), k.pin, k.wide)
	if err != nil {
		return 0, err
	}
	defer k.pin.Unpin()
	if k.cmp, err = k.x.treeKey(k.cmp[:0], row); err != nil {
		return 0, err
	}
	return bytes.Compare(k.want, k.cmp), nil
}

// treeKey appends the key that the tree has a row under: the canonical one, or
// the hash of one.
func (x *Index) treeKey(dst, row []byte) ([]byte, error) {
	if x.order != nil {
		return x.order.appendKey(dst, row)
	}
	h, err := x.view.keyHash(row)
	return binary.BigEndian.AppendUint64(dst, h), err
}

// hashed reports whether the row belongs into hash; otherwise it belongs into
// tree.
func (x *Index) hashed(row []byte) bool {
	return x.hash != nil && (x.tree == nil || !x.nullKey(row))
}

// exclusive reports whether no other row may have the row's key.
func (x *Index) exclusive(row []byte) bool {
	return x.spec.Unique && !(x.spec.NullsDistinct && x.nullKey(row))
}

// nullKey reports whether a key column is NULL.
func (x *Index) nullKey(row []byte) bool {
	for _, k := range x.spec.Key {
		if x.view.cols[k.Col].isNull(row) {
			return true
		}
	}
	return false
}
