package union

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// flush makes the kernel write back the pages of the file system of dir.
func flush(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = unix.Syncfs(fd)
	}
	if err != nil {
		return fmt.Errorf("union: write back %s: %w", dir, err)
	}
	return nil
}
