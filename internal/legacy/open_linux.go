package legacy

import (
	"errors"

	"golang.org/x/sys/unix"
)

// openTemp opens a file without a name; where the file system has no such
// thing, one that is unlinked at once.
func openTemp(dir string) (int, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if refused(err) {
		return openUnlinked(dir)
	}
	return fd, err
}

// refused says whether err means that O_TMPFILE is unknown here (open(2)).
func refused(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EINVAL)
}
