//go:build !race

package allocator

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/internal/sys"
)

// resident is how many bytes of the mappings that inside says yes to are in
// memory, and the same of its huge pages.
func resident(t *testing.T, inside func(start uintptr) bool) (bytes, huge int64) {
	f, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer f.Close()
	in := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var lo, hi uintptr
		var kb int64
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &lo, &hi); n == 2 {
			in = inside(lo)
		}
		if n, _ := fmt.Sscanf(lines.Text(), "Rss: %d kB", &kb); n == 1 && in {
			bytes += kb << 10
		}
		if n, _ := fmt.Sscanf(lines.Text(), "AnonHugePages: %d kB", &kb); n == 1 && in {
			huge += kb << 10
		}
	}
	return bytes, huge
}

func (a *Allocator) residentRAM(t *testing.T) (bytes, huge int64) {
	return resident(t, func(start uintptr) bool {
		for _, c := range a.ram.chunks() {
			if sys.Contains(c.mem, start) {
				return true
			}
		}
		return false
	})
}

// charged checks that what the kernel has given is no more than what is
// charged, and returns it.
func charged(t *testing.T, a *Allocator) (ram, mapped, huge int64) {
	ram, huge = a.residentRAM(t)
	mapped, _ = resident(t, a.pool.Owns)
	s := a.Stats()
	require.LessOrEqual(t, ram, s.RAM-s.Heap)
	require.LessOrEqual(t, mapped, s.Pool.Used)
	return ram, mapped, huge
}

// TestChargedBytesAreTheKernels looks at smaps, in a child whose memory nobody
// else uses.
func TestChargedBytesAreTheKernels(t *testing.T) {
	if os.Getenv("SPILLWAY_CHILD") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChargedBytesAreTheKernels$", "-test.v")
		cmd.Env = append(os.Environ(), "SPILLWAY_CHILD=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	a, err := Open(Options{MaxRAM: hugeFrom + 64*mib, MaxMmap: 32 * mib, MaxDisk: off, FS: sys.OS(), Dirs: []string{t.TempDir()}})
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	require.NoError(t, a.ChargeHeap(hugeFrom)) // so that there are huge pages
	o := newOwner(t, a, Limits{})
	x := newTable(t, o, Limits{})
	mem, err := x.AllocIndex(16 * kib)
	require.NoError(t, err)
	x.fill(t, 70*mib)
	require.NotZero(t, x.held(Mmap))
	ram, mapped, huge := charged(t, a)
	require.GreaterOrEqual(t, ram, x.held(RAM)-MaxBlock, "every block is full")
	require.GreaterOrEqual(t, mapped, x.held(Mmap)-MaxBlock, "but the last")
	t.Logf("RAM %d, of it huge %d, mapped %d", ram, huge, mapped)

	x.FreeIndex(mem)
	x.Free()
	a.RefundHeap(hugeFrom)
	require.NoError(t, a.SetMaxRAM(MinRAM))
	ram, _, _ = charged(t, a)
	require.Equal(t, a.Stats().RAM, ram)
	require.Zero(t, ram)

	// What lay in huge pages is taken again in small pieces.
	require.NoError(t, a.SetMaxRAM(8*mib))
	for range 40 {
		y := newTable(t, o, Limits{})
		y.fill(t, 20*kib)
		charged(t, a)
		defer y.Free()
	}
}
