// Package allocator decides where bytes live and counts them.
//
// It owns the budgets, the RAM that blocks are cut from, the block handles and
// the choice of tier: RAM within the limits, then an extent of a pooled file
// (package spill), then pages of the disk table (package spill/disktable).
//
//	Allocator   one engine: the RAM, the spill pool, the disk table
//	└─ Owner    a session or a query: limits, a few idle blocks, its tables; nests
//	   └─ Space a table: limits, what it holds, its row arena
//	      └─ Arena   numbered blocks of rows behind handles
//
// # Promises
//
// Bytes are charged exactly, in whole pages, when they are taken: to the
// engine when RAM is committed, to the owner and the table when a block is
// handed out. A limit spills, it does not fail: an error arises only when the
// lowest permitted tier refuses, and it names the level that refused. A block
// that would not fit becomes a smaller block before it becomes a spilled one.
// An idle block stays charged, and is reclaimed before anything spills. In the
// steady state no call makes a system call or a Go heap allocation.
//
// # Locks
//
// A Space and its Arena are guarded by their table (see package temptable):
// one mutating call at a time. Owner.mu guards an owner's idle blocks and its
// list of tables, ram.mu the buddies; both are held for pointer operations
// only, in this order. Whoever needs RAM that another table has tries that
// table's lock and passes over a busy one, so no two tables wait for each
// other.
//
// The package must never know what a row is.
package allocator
