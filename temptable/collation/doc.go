// Package collation holds MySQL's collations as functions from text to keys.
//
// A collation is one function, AppendKey: equal strings have equal keys, no
// others do, and bytes.Compare of two keys is the order of the strings.
// Equality, hashes, indexes and sorting all go through the key, so they cannot
// disagree.
//
//	name                 text     trailing spaces  longest key of n bytes
//	binary               bytes    count            n
//	ascii_general_ci     ASCII    do not count     n + 1
//	latin1_swedish_ci    latin1   do not count     n + 1
//	utf8mb4_bin          UTF-8    do not count     2n + 1
//	utf8mb4_general_ci   UTF-8    do not count     2n + 1
//	utf8mb4_0900_ai_ci   UTF-8    count            6n
//	utf8mb4_0900_as_cs   UTF-8    count            16n + 4
//
// # The character set of latin1_swedish_ci
//
// As in MySQL its text is latin1, one byte a character (cp1252, which MySQL
// calls latin1). ASCII text is the same in both, so UTF-8 that is known to be
// ASCII needs no care. For other UTF-8 text take Latin1SwedishUTF8, which
// compares as if the text had been converted to latin1 first, and fails with
// ErrCharset where that would lose a character.
//
// # PAD SPACE
//
// Where trailing spaces do not count, the shorter of two strings is compared as
// if it went on with spaces for ever: 'a' = 'a  ', and 'a\t' < 'a' < 'ab'. A key
// must say so without knowing the other string. Two codes are kept free around
// the code of the space, and every key ends with the middle one:
//
//	0x00..0x1F  weights below the space
//	0x20        a space, in a run of spaces that such a weight follows
//	0x21        the end of the text
//	0x22        a space, in a run that any other weight follows
//	0x23..      weights above the space
//
// Trailing spaces are cut first, so every run is followed by something. Against
// an endless row of spaces a run that goes down later is less and a run that
// goes up later is greater, and so are the codes. A key is therefore no longer
// than its text by more than the end code, as long as there are free codes:
// lower-case letters fold away and leave 26.
//
// # Keys
//
// The three _ci collations with PAD SPACE share the codes of ASCII (letters as
// upper case, then as above). utf8mb4_general_ci writes the weight of any other
// character as UTF-8, whose byte order is the order of code points. The two
// _0900_ collations write MySQL's own WEIGHT_STRING: two bytes a weight, level
// after level with two zero bytes between.
//
// # Invalid bytes
//
// MySQL refuses malformed UTF-8 when it is stored, so it defines no order. Here
// utf8mb4_bin compares bytes, valid or not; in the other UTF-8 collations a byte
// that is no part of a valid sequence is a character of its own, after all valid
// ones, ordered by its value. Such bytes are never ignored and never equal to
// another. ascii_general_ci orders the bytes above 0x7F by value.
//
// # Sources
//
// Weights of the _0900_ collations are the Unicode Collation Algorithm's, version
// 9.0.0, cut to eight collation elements a character and without contractions as
// in MySQL, taken from vitess.io/vitess (UNICODE-LICENSE.txt); those of the others
// are what a MariaDB server answers to WEIGHT_STRING. The program in internal/gen writes the tables and the
// test vectors; it is a module of its own, so that nothing here depends on either.
//
// # Promises
//
// Every collation is immutable, comparable with ==, safe for concurrent use, and
// allocates nothing when dst has MaxKeyLen(len(src)) bytes to spare. Nothing here
// reads the locale, keeps state, or knows of tables and columns; CHAR's padding
// is the column's affair.
package collation
