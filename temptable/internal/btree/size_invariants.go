//go:build invariants

package btree

// nodeShift makes nodes of 512 bytes, 31 entries, in the checked build: few
// rows make a deep tree there.
const nodeShift = 9
