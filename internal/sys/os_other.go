//go:build !linux

package sys

// OS is [Heap] on this system: everything works, nothing is saved by spilling.
func OS() FS { return Heap() }

// Named is [Heap], too.
func Named() FS { return Heap() }
