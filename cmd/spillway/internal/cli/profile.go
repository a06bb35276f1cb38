package cli

import (
	"maps"
	"path/filepath"
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

// startProfile starts the profile of that name, none for "", in dir. stop ends
// it and returns the file's path.
func startProfile(name, dir string) (stop func() string) {
	m, ok := profileModes[name]
	if !ok {
		return func() string { return "" }
	}
	p := profile.Start(append(m.options, profile.Quiet, profile.NoShutdownHook, profile.ProfilePath(dir))...)
	return func() string {
		runtime.GC() // the memory profiles are as of the last collection
		p.Stop()
		return filepath.Join(dir, m.file)
	}
}
