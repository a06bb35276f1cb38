package prof

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
)

// ErrUsage is returned for a setting that means nothing.
var ErrUsage = errors.New("bad setting")

// Config says what to profile.
type Config struct {
	Workload string
	Kinds    []string
	// Out is the directory of the profiles; it is made.
	Out string
	// Time is how long the workload runs under each profiler.
	Time time.Duration
	// Mode is where the rows are to go: one of Modes.
	Mode string
	// MaxRAM, SpillRAM and MaxMmap are as in union.Config.
	MaxRAM, SpillRAM, MaxMmap int64
	// Dir is where files are made.
	Dir string
	// Compare runs the policy of 8.0.19 on the same input.
	Compare bool
	// LegacyCycles is as in union.Config.
	LegacyCycles int
	// Left and Right are the input.
	Left, Right *input.Table
	// Meter, if not nil, shows how far a run is.
	Meter *progress.Meter
}

// Modes lists them.
func Modes() []string { return []string{union.RAM, union.Mmap, union.Disk} }

// Validate reports every setting that means nothing, as ErrUsage.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrUsage}, args...)...))
		}
	}
	w, ok := workloads[c.Workload]
	check(ok, "workload %q is not one of %s", c.Workload, strings.Join(Workloads(), ", "))
	check(len(c.Kinds) > 0, "no kind of profile")
	for _, k := range c.Kinds {
		check(slices.Contains(Kinds(), k), "kind %q is not one of %s", k, strings.Join(Kinds(), ", "))
	}
	check(slices.Contains(Modes(), c.Mode), "mode %q is not one of %s", c.Mode, strings.Join(Modes(), ", "))
	check(c.Time > 0, "a time of %v", c.Time)
	check(!ok || !c.Compare || w.legacy, "the old engine's policy is there for %s only", strings.Join(comparable(), ", "))
	return errors.Join(faults...)
}

// comparable lists the workloads that the old policy executes, too.
func comparable() (names []string) {
	for _, name := range Workloads() {
		if workloads[name].legacy {
			names = append(names, name)
		}
	}
	return names
}
