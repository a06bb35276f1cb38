package collation

import _ "embed" // the table is read where it lies, unpacked by nobody

// ucaTable is written by internal/gen. All numbers are 16 bits, big endian:
//
//	for each 256 code points          the number of their page
//	for each page, for each of 256    the id of the character
//	for each level, for each id       the place of its weights in the level's pool,
//	                                  counted in numbers
//	for each level                    the pool: a length in bytes, so many weights, …
//
// Equal pages and equal weights are held once.
//
//go:embed uca900.bin
var ucaTable string

// ucaLevel is where a level's parts lie in ucaTable.
type ucaLevel struct{ ids, pool int }

func ucaNumber(at int) int { return int(ucaTable[at])<<8 | int(ucaTable[at+1]) }

// ucaID returns the id of r, a valid code point.
func ucaID(r rune) int {
	page := ucaNumber(2 * int(r>>8))
	return ucaNumber(ucaPages + 512*page + 2*int(r&0xFF))
}

// weights returns the weights of an id that is not computed.
func (l ucaLevel) weights(id int) string {
	at := l.pool + 2*ucaNumber(l.ids+2*(id-ucaComputed))
	return ucaTable[at+2 : at+2+ucaNumber(at)]
}
