//go:build race

package btree

const effort = 1
