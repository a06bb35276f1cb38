//go:build race

package sys

// Default is [Heap] in a race build: the race detector sees Go memory only.
func Default() FS { return Heap() }
