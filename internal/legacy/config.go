package legacy

import (
	"fmt"
	"time"
)

// Policy is a version of the old allocator.
type Policy int

const (
	// V8019 never takes a freed chunk back.
	V8019 Policy = iota
	// V8021 takes back a freed chunk that is the topmost of its block.
	V8021
)

// String returns the name of the server's release.
func (p Policy) String() string {
	if p == V8021 {
		return "8.0.21"
	}
	return "8.0.19"
}

// Full, as Config.Cycles, makes every file in truth.
const Full = -1

// The share of the work that is done with real files by default.
const (
	// DefaultBudget is the time spent in real files.
	DefaultBudget = 2 * time.Second
	// DefaultMinFiles is the number of real files made in any case.
	DefaultMinFiles = 20
)

// Config says what to execute and how much of it with real files.
type Config struct {
	// Policy is the allocator's version.
	Policy Policy
	// MaxRAM is temptable_max_ram in bytes: own blocks beyond it become files.
	MaxRAM int64
	// Dir is where the files are made.
	Dir string
	// Cycles is the number of files that are really made: Full for all of
	// them; 0 for as many as fit in Budget, and at least MinFiles.
	Cycles int
	// Budget is the time to spend in real files if Cycles is 0; 0 means
	// DefaultBudget.
	Budget time.Duration
	// MinFiles is the number of real files made whatever they cost if Cycles
	// is 0; 0 means DefaultMinFiles.
	MinFiles int
	// RowSlack is added to each row chunk, in bytes, to show how the number of
	// files follows from the layout; 0 is the old engine's layout.
	RowSlack int
	// Record keeps the call paths that make blocks, for Table.Records.
	Record bool
	// OnFile, if set, is told the number of files made so far, real or not,
	// after each one.
	OnFile func(files int)
}

func (c Config) withDefaults() Config {
	if c.Budget == 0 {
		c.Budget = DefaultBudget
	}
	if c.MinFiles == 0 {
		c.MinFiles = DefaultMinFiles
	}
	return c
}

func (c Config) validate() error {
	if c.MaxRAM < 0 || c.Cycles < Full || c.RowSlack < 0 || c.RowSlack%align != 0 {
		return fmt.Errorf("legacy: MaxRAM %d, Cycles %d, RowSlack %d: out of range", c.MaxRAM, c.Cycles, c.RowSlack)
	}
	return nil
}
