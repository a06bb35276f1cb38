package sys

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrFault is matched by every [FaultError].
var ErrFault = errors.New("spillway: access to mapped memory failed")

// FaultError says that a page of a mapping could not be read or written: an
// I/O error, a file that somebody truncated, a hole on a full disk.
type FaultError struct {
	Addr uintptr // the address of the access
}

// Error implements error.
func (e *FaultError) Error() string {
	return fmt.Sprintf("%v at %#x (I/O error, or a file that was truncated)", ErrFault, e.Addr)
}

// Is makes errors.Is(err, ErrFault) hold.
func (e *FaultError) Is(target error) bool { return target == ErrFault }

// Faulter owns mappings.
type Faulter interface {
	// Faulted is called after an access to addr has faulted. It says whether
	// addr lies in one of its mappings, and may set that place aside.
	Faulted(addr uintptr) bool
}

// Recover turns a fault on a mapping of f into a [*FaultError] in *err, and
// lets any other panic pass. It is for functions with a named result that
// touch mappings, deferred as one line:
//
//	func (c *Cursor) load() (err error) {
//		defer sys.Recover(&err, c.mappings, debug.SetPanicOnFault(true))
//		…
//	}
//
// The last argument is evaluated at once, so it switches the guard on and
// hands the old setting to Recover, which restores it. The whole costs about
// 10 ns and no allocation, as long as the defer is not in a loop and f is a
// pointer. What the function had done before the fault stays done. A fault in
// a goroutine that the function started is not caught.
func Recover(err *error, f Faulter, old bool) {
	debug.SetPanicOnFault(old)
	if r := recover(); r != nil {
		*err = faultOf(r, f)
	}
}

// faultOf panics again if r is not a fault of f. (The runtime's errors for
// faults have a method Addr; their text says "nil pointer dereference".)
func faultOf(r any, f Faulter) error {
	fault, ok := r.(interface{ Addr() uintptr })
	if !ok || !f.Faulted(fault.Addr()) {
		panic(r)
	}
	return &FaultError{Addr: fault.Addr()}
}
