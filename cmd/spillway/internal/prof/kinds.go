package prof

import (
	"maps"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/pkg/profile"
)

// OffHeap is the kind of profile that is ours.
const OffHeap = "offheap"

// goKinds has for each of Go's profilers the library's options, and the file
// that it writes. The memory modes need a rate beside their kind: without it the
// library records nothing.
var goKinds = map[string]struct {
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

// GoKinds lists the profiles of Go's runtime.
func GoKinds() []string { return slices.Sorted(maps.Keys(goKinds)) }

// Kinds lists all.
func Kinds() []string { return append(GoKinds(), OffHeap) }

// Start starts a profile of Go's runtime in dir, which must be writable; one at
// a time, none for a kind that is not one of GoKinds. stop ends it and returns
// the file's path.
func Start(kind, dir string) (stop func() string) {
	k, ok := goKinds[kind]
	if !ok {
		return func() string { return "" }
	}
	p := profile.Start(append(k.options, profile.Quiet, profile.NoShutdownHook, profile.ProfilePath(dir))...)
	return func() string {
		runtime.GC() // the memory profiles are as of the last collection
		p.Stop()
		return filepath.Join(dir, k.file)
	}
}
