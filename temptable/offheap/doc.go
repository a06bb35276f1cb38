// Package offheap writes pprof profiles of the memory and disk space that an
// engine holds outside the Go heap, by the call path that took it.
//
//	eng, err := temptable.Open(temptable.Options{ProfileRate: 1})
//	…
//	err = offheap.Write(w, eng) // go tool pprof -http=: FILE
//
// A profile has the four values of Go's heap profile, so that pprof's switches
// for that work: inuse_space and inuse_objects are bytes and blocks held now,
// alloc_space and alloc_objects those taken since the recording began. Samples
// are labelled by tier (ram, mmap, disk), purpose (rows, index, cache, other,
// idle), table and owner: go tool pprof -tagfocus=tier=mmap, -tagroot=table.
//
// What is not taken by a table has a frame of its own in parentheses: idle
// memory, the disk table's cache, buffers, and whatever was taken before the
// recording began. So inuse_space sums to Stats.RAM + Stats.Pool.Used +
// Stats.Disk.Bytes: exactly, if the rate is 1 and no call on a table is under
// way.
//
// The package exists so that the engine itself links no profiler. It must
// never do more than read.
package offheap
