//go:build !race

package spill

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/spillway-db/spillway/internal/sys"
)

// The race detector needs more address space than this child has.

func init() {
	children["as"] = func(dir string) {
		limit := addressSpace() + 900*mib // the runtime needs some itself
		check(unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit}))
		p := must(Open(Options{FS: sys.OS(), Dirs: []string{dir}, FileSize: 1 << 30}))
		_, err := p.Acquire(MaxExtent)
		expect(err, ErrTooManyMaps, unix.ENOMEM)
		check(p.Close())
		p = must(Open(Options{FS: sys.OS(), Dirs: []string{dir}}))
		p.Release(must(p.Acquire(MaxExtent)))
		check(p.Close())
	}
}

// addressSpace is what the process has mapped, in bytes (proc(5), statm).
func addressSpace() uint64 {
	text := must(os.ReadFile("/proc/self/statm"))
	pages := must(strconv.Atoi(strings.Fields(string(text))[0]))
	return uint64(pages * os.Getpagesize())
}

func TestTheAddressSpaceLimitOfTheProcess(t *testing.T) { runChild(t, "as") }
