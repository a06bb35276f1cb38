package cli

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/cmd/spillway/internal/prof"
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

// noSpace are the reasons why the lowest tier that is permitted refuses.
var noSpace = []error{
	allocator.ErrTableLimit, allocator.ErrOwnerLimit, allocator.ErrRAMLimit, allocator.ErrMmapLimit,
	allocator.ErrDiskLimit, allocator.ErrReserve, allocator.ErrNoSpace, allocator.ErrQuota,
	allocator.ErrFileSize, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG,
}

// exitCode returns the code that tells a script what err was.
func exitCode(err error) int {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	switch {
	case err == nil:
		return exitOK
	case is(context.Canceled):
		return exitInterrupted
	case is(errUsage, union.ErrUsage, prof.ErrUsage):
		return exitUsage
	case is(union.ErrDiffer):
		return exitDiffer
	case is(noSpace...):
		return exitNoSpace
	}
	return exitFailure
}
