package cli

import (
	"context"
	"errors"
	"syscall"

	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitDiffer      = 3
	exitNoSpace     = 4
	exitInterrupted = 130
)

// errUsage marks a command line that means nothing.
var errUsage = errors.New("usage")

// exitCode returns the code that tells a script what err was.
func exitCode(err error) int {
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return exitOK
	case is(context.Canceled):
		return exitInterrupted
	case is(errUsage, union.ErrUsage):
		return exitUsage
	case is(union.ErrDiffer):
		return exitDiffer
	case is(syscall.ENOSPC, syscall.EDQUOT):
		return exitNoSpace
	}
	return exitFailure
}
