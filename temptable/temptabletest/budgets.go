package temptabletest

import "github.com/spillway-db/spillway/temptable"

// Budget is an engine's options under a name for subtests.
type Budget struct {
	Name    string
	Options temptable.Options
}

// Budgets returns engines that between them take every way that a table's
// blocks can go, each with as little RAM as it works with. Options.Dir is to be
// set, most often to tb.TempDir().
func Budgets() []Budget {
	const off = temptable.Disabled
	return []Budget{
		{"ram", temptable.Options{MaxRAM: 64 << 20, MaxMmap: off, MaxDisk: off}},
		{"mmap", temptable.Options{MaxRAM: 64 << 10, MaxMmap: 1 << 30, MaxDisk: off}},
		{"disk", temptable.Options{MaxRAM: 256 << 10, MaxMmap: off}},
		{"mmap-disk", temptable.Options{MaxRAM: 256 << 10, MaxMmap: 256 << 10}},
	}
}
