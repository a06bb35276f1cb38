// Package prof profiles workloads on the engine: with Go's profilers, which
// know nothing of memory outside the Go heap, and with the engine's own record
// of who takes blocks; and the old engine's policy beside it.
//
// A workload is a pass of a few steps over the tool's tables, made again and
// again: once to be counted, once to be recorded, and for a while under each
// profiler.
//
// It must never hold what a user of the library would miss: package
// temptable/offheap writes the profiles.
package prof
