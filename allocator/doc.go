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
// engine when RAM is committed, to the table and its owners when a block is
// handed out, before the memory is there, so that no limit is passed for a
// moment. What the kernel may have given us is charged: a huge page whole. An
// idle block stays charged to the engine.
//
// A limit spills, it does not fail: an error arises only when the lowest
// permitted tier refuses, and it names who refused (see [LimitError]). In this
// order, before a block of rows goes down: idle memory of any shape is used or
// given back to the kernel; the disk table's cache shrinks; owners lose their
// idle blocks; the block becomes smaller. A part of the RAM is kept for small
// tables and for buffers, which cannot go down, until nothing else is left.
// Indexes come before rows: for them, cold rows of the same table and of idle
// ones move down.
//
// In the steady state no call makes a system call or a Go heap allocation.
//
// # Go heap
//
// 1.2 KiB a table, 1 KiB an owner, 96 bytes a block, and about 9 KiB for each
// 64 MiB of address space of RAM blocks. None of it is charged.
//
// # Locks
//
// A Space and its Arena are guarded by their table (see package temptable):
// one mutating call at a time. Owner.mu guards an owner's account, its idle
// blocks, its list of tables and their accounts; Allocator.mu the tree of
// owners; ram.mu the buddies. All are held for pointer operations only, but for
// mapping a chunk. Order: Allocator.mu, Owner.mu from a child to its parent,
// keepers.mu and ram.mu. Whoever needs RAM that another table has tries that
// table's lock, under any of these, and passes over a busy one: no two tables
// wait for each other.
//
// The package must never know what a row is.
package allocator
