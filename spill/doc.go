// Package spill is the tier below RAM: mapped extents of preallocated files.
//
// A [Pool] keeps files without names in the directories that it is given, each
// allocated on the device before use and mapped once for life, and hands out
// extents of them: 16 KiB to 8 MiB, a power of two. What is released is handed
// out again, the latest first, in the lowest-numbered file, so that high files
// run empty and are given back after a rest.
//
//	Acquire ──hit──> a warm piece that somebody released     (pointer operations)
//	   │ ╲───hit──> a warm piece that the worker has ready   (pointer operations)
//	   └─miss────> allocate, touch                           (system calls)
//
// A worker keeps the next extent ready: allocated, mapped, its pages touched.
// The first touch of a page of a file costs some 250 times a second one, so it
// happens there and not while a row is written. Ready pages are RAM, which is
// why it keeps one extent and not ten. The worker sleeps on a channel, and no
// timer runs while no file is empty.
//
// Promises: nothing is done on disk before the first Acquire, Start or
// Prewarm; Acquire and Release of a reused extent make no system call and no
// Go allocation; the limit bounds allocated file bytes, idle ones included; a
// full disk, quota, or any other limit is a typed error of Acquire and never a
// fault later; nothing is left on disk after Close or kill -9; Close takes no
// memory from under a holder.
//
// Mapped memory is not scanned by the garbage collector, and counts neither
// toward GOGC nor toward GOMEMLIMIT. An access can still fault if somebody
// truncates the file or the device fails: guard it with sys.Recover and this
// pool, which sets the file aside then.
//
// It must never know of rows, nor of RAM budgets.
package spill
