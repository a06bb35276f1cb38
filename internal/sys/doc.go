// Package sys is the one door to the operating system: files without names,
// preallocation, mappings, advice.
//
// Everything that can fail goes through [FS], so that a test can make each
// call fail in turn:
//
//   - [OS] is the real one (Linux; elsewhere it is Heap).
//   - [Heap] keeps everything in Go memory. Race builds use it, since the race
//     detector cannot see into mappings.
//   - [Faulty] wraps another: it fails chosen calls, simulates a device of a
//     given size, and counts what was left open.
//   - [Default] is OS, or Heap in a race build.
//
// Each counts its calls by kind ([FS.Calls]).
//
// The package also turns a fault on a mapping into an error: see [Recover].
//
// It must never hold policy: no limits, no pools, no retries beyond EINTR.
package sys
