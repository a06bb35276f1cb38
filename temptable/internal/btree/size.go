//go:build !invariants

package btree

// nodeShift makes nodes of 4 KiB: 255 entries.
const nodeShift = 12
