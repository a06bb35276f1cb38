// Package disktable is the last tier: blocks of 16 KiB to 8 MiB in unlinked,
// preallocated files, whose pages are reached through one bounded cache.
//
// # Terms
//
// A page is 16 KiB of a block. A frame is 16 KiB of memory that can hold one
// page. A frame is pinned while somebody uses its bytes, dirty while they
// differ from the file, and busy while one goroutine has it for itself: to
// read a page into it, to write it back, or to give it another page.
//
//	Block ── owner, first page, pages
//	             │ page number
//	             v
//	shards ── lock │ buckets ──> frame ──> frame        page table, chained
//	                              │
//	frames ── state word, data ───┘  <── clock hand     one pool for all shards
//
// # The state word
//
// Everything that decides about a frame is in one 64-bit word: the number of
// the page it holds, whether it is busy, dirty or recently used, and how often
// it is pinned. So a pin is one compare-and-swap that checks all of it at
// once, without a lock, and a frame remembered from the last time can be
// pinned again ([Frame.Repin]) however often it changed hands in between.
//
// # Eviction
//
// One clock runs over all frames, so that two frames are enough for any number
// of goroutines and no shard runs dry while another has memory. The hand
// clears the mark of a frame that was used since it last came by, and takes
// the first that has none. A page that was only read in has no mark: it needs
// a second use to outlive one turn of the hand. A dirty victim is written
// together with the dirty, unpinned pages beside it.
//
// # Promises
//
//   - Memory is bounded: frames come from [Memory], at most Options.MaxFrames
//     of them; each takes 64 bytes of the Go heap, and the page table 4 to 8
//     bytes for each of MaxFrames.
//   - Nothing is allocated on the Go heap once the frames are there.
//   - Space on the device is allocated with the block, so that writing back
//     does not meet a full disk. If it fails all the same the [Owner] of that
//     page fails, and never the one who evicted it.
//   - No lock is held over I/O. Pages that are missing are read once, however
//     many ask. Callers hold no pin while they ask for another, so that
//     waiting for a frame ends.
//
// It must never map a file, know of rows, or guard the bytes of a page: that
// is up to the caller (one writer or many readers of a block at a time).
package disktable
