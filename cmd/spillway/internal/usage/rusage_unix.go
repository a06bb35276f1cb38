//go:build unix

package union

import (
	"time"

	"golang.org/x/sys/unix"
)

// rusage returns the process's CPU time and its major page faults.
func rusage() (cpu time.Duration, majorFaults int64) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), int64(u.Majflt)
}
