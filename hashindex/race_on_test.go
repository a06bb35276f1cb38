//go:build race

package hashindex

// heavy divides the work of the longer tests: the race detector makes them
// some ten times slower.
const heavy = 8
