package temptable

// Collation orders and compares the strings of a column. Implementations are
// pure and safe for concurrent use.
//
// Two strings are equal if and only if their keys are the same bytes, and
// bytes.Compare of the keys is the order. Any input has a key, invalid
// encodings included; an error means that the value cannot be stored.
//
// A collation may also implement [Equaler], [Hasher] and [CharCounter].
type Collation interface {
	// Name is the name that SQL gives it.
	Name() string
	// PadSpace reports whether trailing spaces do not count.
	PadSpace() bool
	// MaxKeyLen bounds the key of n bytes of text.
	MaxKeyLen(n int) int
	// AppendKey appends the key of src, which it must not keep or change.
	AppendKey(dst, src []byte) ([]byte, error)
}

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

// Binary compares bytes. A column without a collation does the same.
type Binary struct{}

// Name returns "binary".
func (Binary) Name() string { return "binary" }

// PadSpace returns false.
func (Binary) PadSpace() bool { return false }

// MaxKeyLen returns n.
func (Binary) MaxKeyLen(n int) int { return n }

// AppendKey appends src itself.
func (Binary) AppendKey(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }

// isBinary reports whether c compares the bytes as they are.
func isBinary(c Collation) bool {
	if c == nil {
		return true
	}
	_, ok := c.(Binary)
	return ok
}
