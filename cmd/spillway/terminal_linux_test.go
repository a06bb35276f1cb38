package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal returns both ends of a terminal.
func terminal(t *testing.T) (screen, tty *os.File) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	fd := int(screen.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR, 0)
	require.NoError(t, err)
	return screen, tty
}

// onTerminal runs the tool with both outputs on a terminal and returns what
// appears there. As soon as that matches until, if given, the tool is
// interrupted.
func onTerminal(t *testing.T, until *regexp.Regexp, env []string, args ...string) string {
	screen, tty := terminal(t)
	defer screen.Close()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(append(os.Environ(), "TERM=xterm", "TMPDIR="+t.TempDir()), env...)
	cmd.Stdout, cmd.Stderr = tty, tty
	require.NoError(t, cmd.Start())
	require.NoError(t, tty.Close())
	var seen []byte
	for part := make([]byte, 4096); ; {
		n, err := screen.Read(part)
		if err != nil { // EIO: the tool has ended
			break
		}
		if seen = append(seen, part[:n]...); until != nil && until.Match(seen) {
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			until = nil
		}
	}
	_ = cmd.Wait()
	return string(seen)
}

func TestColorsOnATerminal(t *testing.T) {
	seen := onTerminal(t, nil, nil, quick...)
	require.Contains(t, seen, "\x1b[31mlegacy-8.0.21\x1b[0m")
	require.Contains(t, seen, "\x1b[1m\x1b[32mCHECK\x1b[0m  every mode gives 32,768 rows")
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		require.NotContains(t, onTerminal(t, nil, []string{env}, quick...), "\x1b[3", env)
	}
	require.NotContains(t, onTerminal(t, nil, nil, with(quick, "--format", "json")...), "\x1b[3")
}

// What takes longer than a second shows a bar with its rate and the time left.
func TestProgressOnATerminal(t *testing.T) {
	bar := regexp.MustCompile(`generate +\d+% .*rows/s\) *\[\d+s:\d+s\]`)
	require.Regexp(t, bar, onTerminal(t, bar, nil, "union", "--rows", "20000000", "--mode", "ram"))
}
