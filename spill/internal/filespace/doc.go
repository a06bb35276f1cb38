// Package filespace is a growing set of files without names, allocated on the
// device before use, cut into pieces of 16 KiB to 8 MiB.
//
// Each file spans up to 64 MiB and keeps two buddies of its bytes: raw, which
// the device has not given yet, and avail, which it has, and nobody holds.
//
//	                grow: fallocate                 Alloc, Take
//	raw ───────────────────────────────> avail ──────────────────> held
//	                                       ^                         │
//	                                       └─────────────────────────┘ Free
//
// A file grows by steps: the size of the piece, or as much as the space has
// already, from 1 MiB to 8 MiB. So a small table takes 1 MiB of the disk, and
// a large one makes few calls. Pieces come from the lowest-numbered file that
// has one, the piece freed last first, so that high files run empty; Trim
// closes those.
//
// With Options.Map each file is mapped once, whole, for life, and the space
// knows which pages have been touched: a piece is cold until then, and Prepare
// touches pieces before they are wanted.
//
// Promises: the bytes that the device has given, idle ones included, never
// exceed the limit; a failed step leaves the free space of the device as it
// was; a failure names its kind, the directory, the limit and the use (see
// [Error]); Take and Free make no system call and no Go allocation; nothing
// outlives the process; Close takes no byte from under a holder.
//
// It must never read or write what a piece holds, nor start a goroutine.
package filespace
