package union

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
)

// Errors of this package.
var (
	// ErrUsage is returned for a setting that means nothing.
	ErrUsage = errors.New("bad setting")
	// ErrDiffer is returned, with the report, when a mode gives another result
	// than the Go map.
	ErrDiffer = errors.New("results differ")
)

// The modes.
const (
	Legacy8019 = "legacy-8.0.19"
	Legacy8021 = "legacy-8.0.21"
	RAM        = "ram"
	Mmap       = "mmap"
	Disk       = "disk"
)

// Modes lists them in the order of the screen.
func Modes() []string { return []string{Legacy8019, Legacy8021, RAM, Mmap, Disk} }

// The states of the pool of files before a sample.
const (
	Fresh = "fresh" // nothing is there: a new engine
	Cold  = "cold"  // the kernel has written the pages back
	Hot   = "hot"   // the pages are as the last sample left them
)

// Pools lists them.
func Pools() []string { return []string{Fresh, Cold, Hot} }

// Config says what to run.
type Config struct {
	Modes []string
	// MaxRAM is temptable_max_ram in bytes: of the legacy modes and of ram.
	MaxRAM int64
	// SpillRAM is the same of the modes mmap and disk; 0 means half of what the
	// mode ram takes, so that they spill.
	SpillRAM int64
	// MaxMmap is temptable_max_mmap in bytes, of the modes ram and mmap.
	MaxMmap int64
	// Dir is where files are made.
	Dir string
	// Count is the number of samples of each mode. A projected mode has one.
	Count int
	Pool  string
	// LegacyCycles is the number of files that the legacy modes really make,
	// legacy.Full, or 0 for two seconds' worth.
	LegacyCycles int
	Left, Right  *input.Table
	// Answer is what every mode must give.
	Answer input.Answer
	// Meter, if not nil, shows how far a run is.
	Meter *progress.Meter

	open func(limits, input.Schema) (executor, error) // tests
}

// Validate reports every setting that means nothing, as ErrUsage.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrUsage}, args...)...))
		}
	}
	check(len(c.Modes) > 0, "no mode")
	for _, m := range c.Modes {
		check(slices.Contains(Modes(), m), "mode %q is not one of %s", m, strings.Join(Modes(), ", "))
	}
	check(len(slices.Compact(slices.Sorted(slices.Values(c.Modes)))) == len(c.Modes), "a mode is named twice")
	check(slices.Contains(Pools(), c.Pool), "pool %q is not one of %s", c.Pool, strings.Join(Pools(), ", "))
	check(c.Count > 0, "%d samples", c.Count)
	check(c.MaxRAM > 0, "max-ram of %d bytes", c.MaxRAM)
	check(c.MaxMmap > 0, "max-mmap of %d bytes", c.MaxMmap)
	check(c.SpillRAM >= 0, "spill-ram of %d bytes", c.SpillRAM)
	return errors.Join(faults...)
}

func isLegacy(mode string) bool { return strings.HasPrefix(mode, "legacy-") }
