package cli

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"

	"github.com/pkg/profile"
)

// profileModes has for each name the library's options, and the file that it
// writes. The memory modes need a rate beside their kind: without it the
// library records nothing.
var profileModes = map[string]struct {
	options []func(*profile.Profile)
	file    string
}{
	"cpu":    {[]func(*profile.Profile){profile.CPUProfile}, "cpu.pprof"},
	"heap":   {[]func(*profile.Profile){profile.MemProfile, profile.MemProfileHeap}, "mem.pprof"},
	"allocs": {[]func(*profile.Profile){profile.MemProfile, profile.MemProfileAllocs}, "mem.pprof"},
	"block":  {[]func(*profile.Profile){profile.BlockProfile}, "block.pprof"},
	"mutex":  {[]func(*profile.Profile){profile.MutexProfile}, "mutex.pprof"},
	"trace":  {[]func(*profile.Profile){profile.TraceProfile}, "trace.out"},
}

func profiles() []string { return slices.Sorted(maps.Keys(profileModes)) }

// startProfile starts the profile of that name, none for "". Stopping it says
// where it was written.
func startProfile(name string, stderr io.Writer) (stop func()) {
	m, ok := profileModes[name]
	if !ok {
		return func() {}
	}
	p := profile.Start(append(m.options, profile.Quiet, profile.NoShutdownHook, profile.ProfilePath("."))...)
	return func() {
		runtime.GC() // the memory profiles are as of the last collection
		p.Stop()
		fmt.Fprintf(stderr, "%s profile written to %s\n", name, m.file)
	}
}
