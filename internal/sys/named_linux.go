package sys

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"
)

// Where O_TMPFILE is refused a file has a name for a moment: it is created
// exclusively, locked, unlinked. Who is killed in between leaves the name but
// not the lock, so a name whose lock can be had is dead. (A sweeper that comes
// between creation and locking takes the name of a living file, which is what
// the owner is about to do himself.)

var leftover = regexp.MustCompile(`^spillway-[0-9a-f]{32}\.tmp$`)

func tempName() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return "spillway-" + hex.EncodeToString(b[:]) + ".tmp"
}

func createNamed(dir string) (int, error) {
	path := filepath.Join(dir, tempName())
	fd, err := openRetry(path, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOFOLLOW)
	if err != nil {
		return -1, err
	}
	_ = lock(fd) // refused: somebody sweeps it, or locks do not exist here
	if err := unix.Unlink(path); err != nil && err != unix.ENOENT {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func lock(fd int) error {
	return retry(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
}

// sweep removes the names that dead processes left in dir. What cannot be
// removed stays: it is somebody else's.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if leftover.MatchString(e.Name()) && e.Type().IsRegular() {
			sweepOne(filepath.Join(dir, e.Name()))
		}
	}
}

func sweepOne(path string) {
	fd, err := openRetry(path, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if lock(fd) == nil {
		_ = unix.Unlink(path)
	}
}
