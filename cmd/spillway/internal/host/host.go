// Package host describes the machine that a run took place on. It never fails:
// what cannot be found out is left empty.
package host

import (
	"bufio"
	"os"
	"runtime"
	"strings"

	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
	"github.com/spillway-db/spillway/internal/sys"
)

// Describe returns the host, and the file system that holds dir.
func Describe(dir string) report.Host {
	h := report.Host{
		CPU: cpuModel("/proc/cpuinfo"), CPUs: runtime.NumCPU(),
		OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: kernel("/proc/sys/kernel/osrelease"),
		Dir: dir, Go: runtime.Version(),
	}
	if d, err := sys.OS().Stat(dir); err == nil {
		h.FileSystem, h.FreeBytes, h.InRAM = d.Type, d.Free, d.InRAM
	}
	return h
}

func cpuModel(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if name, value, ok := strings.Cut(sc.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func kernel(file string) string {
	text, _ := os.ReadFile(file)
	return strings.TrimSpace(string(text))
}
