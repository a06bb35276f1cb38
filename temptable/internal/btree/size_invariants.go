//go:build invariants

package btree

// nodeShift makes nodes of 1 KiB, 63 entries, in the checked build: few
// rows make a deep tree there.
const nodeShift = 10
