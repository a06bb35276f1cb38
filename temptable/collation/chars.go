package collation

import "unicode/utf8"

// The collations of UTF-8 text count characters, so that the length of a column
// bounds those, as in MySQL. An invalid byte is a character.

// Chars returns the number of characters of src.
func (utf8Bin) Chars(src []byte) int { return utf8.RuneCount(src) }

// Chars returns the number of characters of src.
func (generalCI) Chars(src []byte) int { return utf8.RuneCount(src) }

// Chars returns the number of characters of src.
func (uca900) Chars(src []byte) int { return utf8.RuneCount(src) }

// Chars returns the number of characters of src.
func (latin1Text) Chars(src []byte) int { return utf8.RuneCount(src) }
