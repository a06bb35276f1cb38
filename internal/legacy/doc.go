// Package legacy executes the storage of an old temporary-table engine: the
// allocation policies of MySQL 8.0.19 and 8.0.21 with their real system calls,
// over the row layout of that time. It is our execution of the policy, written
// from its description; it is not MySQL.
//
// # The policy
//
// A row is stored before anybody asks whether it is a duplicate:
//
//	element (32 bytes of a 65,520-byte page) -> row chunk -> hash node -> look -> duplicate: free node, row, element
//
// Memory comes from blocks. The first, 1 MiB, is shared by all tables of a
// session and counts outside the budget; then a table's own blocks of 1, 2, 4,
// 8 MiB … follow, each wholly RAM or, once it does not fit in the budget, wholly
// one file: created without a name, filled by writes of 4 KiB, mapped, closed.
// A block is a stack of chunks, each with a prefix of 8 bytes:
//
//	| header 32 | chunk | chunk | chunk | … pristine … |
//
// A block whose last chunk is freed is destroyed at once. The policies differ
// in one test: whether a freed chunk that is the topmost one is taken back.
// 8.0.19 compared its size without the prefix, so that the test never matched.
//
// # Sizes
//
//	row chunk     8 length + 16 a cell + data, rounded up to 8, + 8
//	hash node     32 + 8
//	elements      32 each, 2,047 to a page of 65,520 + 8
//	bucket array  8 a bucket + 8; 1031, 2179, 4703, 9497, 19183, 38873, … buckets
//
// On the bug report's input these leave 1,131,216 bytes in the third block
// behind the last unique row: room for 6,733 duplicates of 168 bytes. Each of
// the other 26,035 makes and destroys one file of 8 MiB.
//
// # Promises
//
// Every count, row and byte is executed. Only time may be projected: when
// [Config.Cycles] or the budget of real files is used up, the policy goes on
// with RAM in the place of files and nothing else left out, and [Table.Result]
// says so. Nothing is left on disk, whatever happens.
//
// It must never be reachable from the public API, and it must never be made
// better than what it shows.
package legacy
