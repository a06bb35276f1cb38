// Package hashindex maps 64-bit hashes to row ids: the index behind a distinct
// table, a unique key, a GROUP BY.
//
// # What it promises
//
//   - One probe finds a key or the slot where it will go. A duplicate allocates
//     nothing and touches one row; a new key touches none.
//   - A hash is never trusted: two keys are equal when the table says so.
//   - Growth has no pause of the whole: a full segment splits alone, in place.
//   - Memory comes from a [Memory], so it is counted and may be refused; then
//     the index spills, if it was given a [Disk], or returns the refusal.
//   - Every error leaves the index as it was. What Reserve granted, Publish
//     cannot fail to use.
//   - From 4,096 entries on at most 38 bytes an entry, as long as nothing is
//     deleted, just after growth included.
//
// It must never read a column, hold a lock, or keep a row id that the table
// took back: who frees a row removes its entry first.
//
// # Layout
//
//	           m = mix(hash)      63 ........ 42 | 41 ..... 32 | 31 ... 0
//	                              directory        home group
//
//	directory                      segments, 1,024 slots of {m, id}
//	┌──────────────────────────┐   ┌────┬────┬────┬─────────┐
//	│ 0 segment count depth    ├──>│m id│    │m id│   …     │ 16 KiB
//	│ 1   "                    ├─┐ └────┴────┴────┴─────────┘
//	│ 2   "                    ├┐└>┌────┬────┬────┬─────────┐
//	│ 3   " (the same segment) ├┴─>│    │m id│m id│   …     │
//	└──────────────────────────┘   └────┴────┴────┴─────────┘
//
// The caller's hash passes through a seeded bijection first (a multiply, a byte
// swap, a multiply), so equal m means equal hash, and hashes that agree in some
// bits agree neither in their directory bits nor in their home bits. A segment
// is a hash table with linear probing over groups, each a cache line whose four
// hashes are compared without a branch. The home group does not depend on how
// often the segment was split, so a split takes out the entries of the upper
// half and closes the gaps, cluster by cluster, in one pass and in place.
//
// The first segment grows by doubling, 4, 8, 16 KiB; afterwards segments split,
// early while memory per entry is low, at the latest at a load of 0.85. A
// segment's count lies in the directory beside its address: that line is in the
// cache, since the probe has just read it.
//
// On the Go heap an index has 224 bytes, 16 for each directory entry, of
// which there are two to four a segment, and for each run 8 bytes a page.
//
// # Collisions
//
// Keys whose whole hashes agree cannot be parted by splitting. When a probe
// meets more than a few of them, or a full segment cannot be split any
// further, that part of the directory is turned: what is in its segment stays
// and is found as before, and new keys go to a second index under a keyed hash
// of the key itself ([Rows].Rehash). No stored row is read for that.
//
// # On disk
//
// When Memory refuses, and the index was given a [Disk], the resident entries
// are written out as a run: pages of entries in the order of their mixed
// hashes. The segments are empty then and fill again. Runs are merged so that
// each is at least four times as large as all newer ones together. A lookup
// knows the page from the first hash of each page, kept in memory, and where in
// the page from the hashes' even spread, and so reads 4 KiB of a run.
//
//	segments ──full, no memory──> run    run      run           newest last
//	                              filter filter  (filter)       removed: id 0 in place
//
// Filters of 4 to 10 bits an entry take up to half of the index's memory, the
// smallest runs first: a new key reads nothing where they are, and a duplicate
// about 4 KiB. A removed entry is overwritten in place: no tombstone, no
// stale id. Its place is won back by the next merge.
//
// Spilling and merging need no memory but two pages of Go heap, which exist
// once an index has spilled: the emptied segments serve as merge buffers. Each
// reader that runs at the same time needs 4 KiB more, a batch a page.
//
// # A non-unique index
//
// is this index with entries under derived hashes: for the n-th row of a key
// one entry under mix(hash, n) that holds its id, and one under mix(hash, id)
// that holds n. The first gives the rows of a key in insert order, the second
// makes a removal O(1) with a million duplicates; both spill like any entry.
package hashindex
