// Package usage reads what the process has used so far.
package usage

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Usage is what a process used.
type Usage struct {
	CPU         time.Duration // user and system
	MinorFaults int64         // pages that were not mapped
	MajorFaults int64         // pages that were read from a device
	Allocs      int64         // on the Go heap
	GCs         int64         // collections
	GC          float64       // CPU seconds of the collector, as of the last one
}

// Now returns what was used since the process began. It stops the world.
func Now() Usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	gc := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(gc)
	u := Usage{Allocs: int64(m.Mallocs), GCs: int64(m.NumGC), GC: gc[0].Value.Float64()}
	u.system()
	return u
}

// Sub returns what was used since before.
func (u Usage) Sub(before Usage) Usage {
	return Usage{CPU: u.CPU - before.CPU, MinorFaults: u.MinorFaults - before.MinorFaults,
		MajorFaults: u.MajorFaults - before.MajorFaults, Allocs: u.Allocs - before.Allocs,
		GCs: u.GCs - before.GCs, GC: u.GC - before.GC}
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage { return u.Sub(Usage{}.Sub(v)) }

// GCShare is the part of the CPU time that the collector took, 0 to 1.
func (u Usage) GCShare() float64 {
	if u.GCs == 0 || u.CPU == 0 {
		return 0
	}
	return min(u.GC/u.CPU.Seconds(), 1)
}
