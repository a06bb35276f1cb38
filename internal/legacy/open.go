package legacy

import (
	"os"

	"golang.org/x/sys/unix"
)

// openUnlinked opens a new file whose name is gone when it returns.
func openUnlinked(dir string) (int, error) {
	f, err := os.CreateTemp(dir, "spillway-legacy-*")
	if err != nil {
		return -1, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return -1, err
	}
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}
