//go:build unix

package usage

import (
	"time"

	"golang.org/x/sys/unix"
)

// system reads what the kernel counts.
func (u *Usage) system() {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) == nil {
		u.CPU = time.Duration(r.Utime.Nano() + r.Stime.Nano())
		u.MinorFaults, u.MajorFaults = int64(r.Minflt), int64(r.Majflt)
	}
}
