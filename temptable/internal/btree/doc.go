// Package btree is the ordered index of a table: a B+tree over (key bytes, row
// id), with keys compared as bytes.Compare does and equal keys ordered by id.
// So a key and an id name one place even among a million equal keys, and
// deleting there costs O(log n).
//
// # Entries
//
// An entry is 16 bytes: the first 9 bytes of the key, its length as far as 10,
// and the 48-bit row id, arranged so that entries compare as 128-bit numbers.
// A key of at most 9 bytes (any nullable number or time) is wholly inline, and
// no row is read for it. Of longer keys that agree in 9 bytes only the owner
// knows the order, through [Keys]; a search asks about log2 of the number of
// such entries times in all, on all levels together. Insertion and splitting
// ask nothing more.
//
//	inner   | header | s1 s2 … | kid0 kid1 kid2 … |     kid1 holds what is >= s1, < s2
//	                              │
//	leaf    | header | e0 e1 e2 … e254 | <──> next leaf
//
// A separator is a copy of the first entry of the leaf that it leads to, and
// is replaced when that entry is deleted. So each one names a living row, and
// comparing with it is allowed.
//
// Whether a key must be unique is said at each insertion: an index that takes
// NULLs for distinct inserts keys with a NULL as not unique.
//
// # Nodes
//
// Nodes are 4 KiB, lie in chunks that [Memory] gives, and are addressed by
// 32-bit numbers (chunk and slot), never by pointers: a chunk can be moved by
// changing one address. When Memory refuses, a [Pager] gives pages behind a
// cache instead, four nodes each. All code comes to a node through one
// function; it pins the page, if the node is in one, for the rest of the
// operation. A mutation first finds, reserves and pins whatever it will touch,
// at most two nodes a level and two more, and only then changes anything: from
// there on nothing can fail. A cursor pins one page at a time and none between
// calls. So a cache of 32 pages serves one mutation on any index.
//
// An underfull node, below a quarter, is merged with a neighbour if both fit
// three quarters, and otherwise takes from it, so that no sequence of inserts
// and deletes makes nodes come and go at each step. The right edge alone may be
// emptier: ascending insertions go to the last leaf without a search, and leave
// full leaves behind.
//
// # Cursors
//
// A [Cursor] may stay open while entries come and go. The tree knows its open
// cursors and moves them along; a step costs the same whatever has happened,
// and reads no row.
//
// # Promises
//
// An error leaves the index as it was. Nothing is allocated on the Go heap in
// the steady state: what lies there is 40 bytes a chunk or page and the open
// cursors. Nodes hold no Go pointers.
//
// The package must never look into rows, decide where memory comes from, or
// lock: the owner lets in one mutation or any number of readers. A fault in
// mapped memory is the owner's to catch, and ends the use of the index.
package btree
