//go:build !race

package btree

// effort scales the tests that repeat.
const effort = 10
