package sys

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Memory returns how many bytes of memory the process may use: the machine's,
// or the limit of its control group if that is less. 0 if neither is known.
func Memory() int64 {
	n := memTotal("/proc/meminfo")
	for _, path := range []string{
		"/sys/fs/cgroup/memory.max",                   // version 2
		"/sys/fs/cgroup/memory/memory.limit_in_bytes", // version 1
	} {
		if limit := numberIn(path); limit > 0 && (n == 0 || limit < n) {
			n = limit
		}
	}
	return n
}

// memTotal reads the line "MemTotal: n kB".
func memTotal(path string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if w := strings.Fields(lines.Text()); len(w) > 1 && w[0] == "MemTotal:" {
			kb, _ := strconv.ParseInt(w[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// numberIn is the number that a file holds, 0 if it holds none ("max").
func numberIn(path string) int64 {
	text, _ := os.ReadFile(path)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n
}
