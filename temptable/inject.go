package temptable

import "github.com/spillway-db/spillway/internal/sys"

// WithFS returns the options with system calls of the tester's own. It is for
// package temptabletest: nobody else can make an FS.
func (o Options) WithFS(fs sys.FS) Options {
	o.fs = fs
	return o
}
