package temptable

import (
	"bytes"
	"math"

	"github.com/dgryski/go-farm"
)

// Collation orders and compares the strings of a column. Implementations are
// pure and safe for concurrent use; package temptable/collation has MySQL's.
//
// Two strings are equal if and only if their keys are the same bytes, and
// bytes.Compare of the keys is the order. An error means that the value cannot
// be stored.
//
// A collation may also implement [Equaler], [Hasher] and [CharCounter].
type Collation interface {
	// Name is the name that SQL gives it. "binary" compares the bytes as they
	// are, whatever the methods say.
	Name() string
	// PadSpace reports whether trailing spaces do not count.
	PadSpace() bool
	// MaxKeyLen bounds the key of n bytes of text; math.MaxInt says that there is
	// no bound.
	MaxKeyLen(n int) int
	// AppendKey appends the key of src, which it must not keep or change.
	AppendKey(dst, src []byte) ([]byte, error)
}

// Custom makes a collation of a key function, for opaque columns that compare in
// their own way. key appends the key of src to dst as AppendKey does.
func Custom(name string, key func(dst, src []byte) ([]byte, error)) Collation {
	return custom{name, key}
}

type custom struct {
	name string
	key  func(dst, src []byte) ([]byte, error)
}

func (c custom) Name() string                              { return c.name }
func (c custom) PadSpace() bool                            { return false }
func (c custom) MaxKeyLen(int) int                         { return math.MaxInt }
func (c custom) AppendKey(dst, src []byte) ([]byte, error) { return c.key(dst, src) }

// Equaler is a collation that compares without making keys.
type Equaler interface {
	// Equal reports whether a and b have the same key.
	Equal(a, b []byte) bool
}

// Hasher is a collation that hashes without making keys.
type Hasher interface {
	// Hash gives equal strings equal hashes, spread over all 64 bits.
	Hash(src []byte) uint64
}

// CharCounter is a collation whose strings are bounded in characters: the
// Length of its columns then counts those, otherwise bytes.
type CharCounter interface {
	// Chars returns the number of characters of src.
	Chars(src []byte) int
}

// collated is what strings with a collation need.
type collated struct {
	Collation
	equaler Equaler     // or nil
	hasher  Hasher      // or nil
	chars   CharCounter // nil: Length counts bytes
}

// newCollated returns nil for what compares as bytes.
func newCollated(c Collation) *collated {
	if c == nil || c.Name() == "binary" {
		return nil
	}
	k := &collated{Collation: c}
	k.equaler, _ = c.(Equaler)
	k.hasher, _ = c.(Hasher)
	k.chars, _ = c.(CharCounter)
	return k
}

// keyScratch is memory for two keys, kept by the schema between calls.
type keyScratch struct{ a, b []byte }

// equal compares two strings.
func (k *collated) equal(a, b []byte, scratch *keyScratch) (bool, error) {
	if k.equaler != nil {
		return k.equaler.Equal(a, b), nil
	}
	var err error
	if scratch.a, err = k.AppendKey(scratch.a[:0], a); err != nil {
		return false, err
	}
	if scratch.b, err = k.AppendKey(scratch.b[:0], b); err != nil {
		return false, err
	}
	return bytes.Equal(scratch.a, scratch.b), nil
}

// hash hashes a string.
func (k *collated) hash(v []byte, scratch *keyScratch) (uint64, error) {
	if k.hasher != nil {
		return k.hasher.Hash(v), nil
	}
	var err error
	if scratch.a, err = k.AppendKey(scratch.a[:0], v); err != nil {
		return 0, err
	}
	return farm.Hash64(scratch.a), nil
}
