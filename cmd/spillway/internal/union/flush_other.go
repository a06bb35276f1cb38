//go:build unix && !linux

package union

import "golang.org/x/sys/unix"

// flush makes the kernel write back everything.
func flush(string) error { return unix.Sync() }
