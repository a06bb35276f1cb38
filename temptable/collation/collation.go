package collation

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknown is returned by ByName for a name that is not in Names.
	ErrUnknown = errors.New("unknown collation")
	// ErrCharset is returned by AppendKey of Latin1SwedishUTF8 for text that has
	// no latin1 form. No other collation's AppendKey fails.
	ErrCharset = errors.New("text is not in the collation's character set")
)

// Collation turns text into keys that compare as the text does. Implementations
// of this package are immutable, comparable and safe for concurrent use.
type Collation interface {
	// Name is MySQL's name of the collation.
	Name() string
	// PadSpace reports whether trailing spaces do not count (PAD SPACE).
	PadSpace() bool
	// MaxKeyLen is a bound, in bytes, on the key of n bytes of text.
	MaxKeyLen(n int) int
	// AppendKey appends the key of src to dst. On an error dst comes back as it
	// was. The cost is linear in src.
	AppendKey(dst, src []byte) ([]byte, error)
}

var builtin = [...]Collation{
	binary{},
	bytewise{"ascii_general_ci", &asciiCodes},
	bytewise{"latin1_swedish_ci", &latin1Codes},
	utf8Bin{},
	generalCI{},
	uca900{"utf8mb4_0900_ai_ci", 1},
	uca900{"utf8mb4_0900_as_cs", 3},
}

// ByName returns the built-in collation of that name, which is in lower case, or
// ErrUnknown. Two calls with one name return equal values.
func ByName(name string) (Collation, error) {
	for _, c := range builtin {
		if c.Name() == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("collation %q: %w (known: %q)", name, ErrUnknown, Names())
}

// Names lists the built-in collations, simplest first.
func Names() []string {
	names := make([]string, 0, len(builtin))
	for _, c := range builtin {
		names = append(names, c.Name())
	}
	return names
}
