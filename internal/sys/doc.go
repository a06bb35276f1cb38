// Package sys is the one door to the operating system: files without names,
// preallocation, mappings, advice.
//
// Everything that can fail goes through [FS], so that a test can make each
// call fail in turn. OS is the real one; Heap keeps everything in Go memory
// (race builds use it, since the race detector cannot see into mappings);
// Faulty wraps another and injects failures.
//
// It must never hold policy: no limits, no pools, no retries beyond EINTR.
package sys
