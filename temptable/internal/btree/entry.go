package btree

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
)

const (
	idBits  = 48
	maxID   = 1<<idBits - 1 // greater than every row id: 'after all equal keys'
	inline  = 9             // key bytes that an entry holds
	longTag = inline + 1    // the length that stands for every longer key
)

// entry is one key and the row that has it, in 16 bytes:
//
//	hi  key bytes 0..7, big endian, zero padded
//	lo  key byte 8 (8 bits) | min(length, 10) (8 bits) | row id (48 bits)
//
// Compared as one 128-bit number, entries whose keys are at most 9 bytes long
// are in order, equal keys by id: a key that is a prefix of another differs
// from it in the padding or in the length. Of keys that are longer and agree
// in hi and the upper 16 bits of lo, only the rows know the order.
type entry struct{ hi, lo uint64 }

func makeEntry(key []byte, id uint64) entry {
	if len(key) > 8 {
		tag := uint64(key[8])<<8 | uint64(min(len(key), longTag))
		return entry{binary.BigEndian.Uint64(key), tag<<idBits | id}
	}
	return entry{shortWord(key), uint64(len(key))<<idBits | id}
}

func shortWord(key []byte) uint64 {
	if len(key) == 8 {
		return binary.BigEndian.Uint64(key)
	}
	var w [8]byte
	copy(w[:], key)
	return binary.BigEndian.Uint64(w[:])
}

func (e entry) id() uint64 { return e.lo & maxID }

// long says that the entry does not hold its whole key.
func (e entry) long() bool { return e.lo>>idBits&0xff == longTag }

// ties says that what is inline of two keys is equal.
func (e entry) ties(o entry) bool { return e.hi == o.hi && (e.lo^o.lo)>>idBits == 0 }

// Keys is how the owner of the rows answers for keys that are longer than what
// an entry holds.
type Keys interface {
	// CompareRow compares the key that is being looked for with the key of
	// the stored row id: negative, 0 or positive, as bytes.Compare does. The
	// owner knows which key that is: the one that it handed to the call.
	CompareRow(id uint64) (int, error)
}

// want is what a search looks for: the first entry at or after (key, id).
type want struct {
	entry
	from uint64 // lo of the least entry that might be it, as far as words tell
	key  []byte
	rows Keys
}

func (w *want) set(key []byte, id uint64, rows Keys) {
	w.entry, w.key, w.rows = makeEntry(key, id), key, rows
	w.from = w.lo
	if w.long() {
		w.from = w.lo &^ maxID
	}
}

// compare orders the wanted key against an entry's key, ids left aside. It
// reads a row when both keys are long and tie.
func (w *want) compare(e entry) (int, error) {
	if !w.ties(e) {
		if less(&e, w.hi, w.from&^maxID) == 1 {
			return 1, nil
		}
		return -1, nil
	}
	if !w.long() {
		return 0, nil
	}
	c, err := w.rows.CompareRow(e.id())
	if err != nil {
		return 0, rowError(e.id(), err)
	}
	return c, nil
}

func rowError(id uint64, err error) error {
	return fmt.Errorf("ordered index: comparing with row %#x: %w", id, err)
}

// order compares the wanted (key, id) with another whole key and id.
func (w *want) order(key []byte, id uint64) int {
	if c := bytes.Compare(w.key, key); c != 0 {
		return c
	}
	return cmp.Compare(w.id(), id)
}
