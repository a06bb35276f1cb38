// Package temptable is an in-process temporary-table engine: what a query
// executor materializes UNION, DISTINCT, GROUP BY, derived tables, CTEs and
// window frames into.
//
//	eng, err := temptable.Open(temptable.Options{MaxRAM: 12 << 20})
//	defer eng.Close()
//	session, err := eng.NewOwner("session 42", temptable.Limits{})
//	defer session.Close()
//	schema, err := temptable.NewSchema(columns, temptable.Distinct())
//	t, err := session.Create(ctx, schema)
//	defer t.Drop()
//
// # Where rows live
//
// Rows are encoded into blocks. Blocks are RAM up to Options.MaxRAM, then
// extents of pooled, preallocated, memory-mapped files up to MaxMmap, then
// pages of the disk table up to MaxDisk. A limit sends the next block one tier
// down; only the lowest permitted tier can refuse, with an error that names
// the level that did. Row ids, cursors and indexes are the same on every tier.
//
// # Concurrency
//
// An Engine and its Owners serve any number of goroutines. Calls on one Table,
// with its Writers and Cursors, may come from any goroutine but must not
// overlap, unless all of them read: an overlap returns [ErrConcurrentUse].
// Cursors stay open while rows are inserted, and see rows appended behind
// them.
//
// # Memory
//
// Blocks lie outside the Go heap: the collector neither scans nor counts them
// (GOGC, GOMEMLIMIT); [Engine.Stats] does. On the heap a table has about 1 KiB,
// 100 bytes a block, 16 bytes an index segment, and the scratch of one row for
// each Writer; scratch and cursor buffers above 4 KiB are charged to MaxRAM.
//
// The package makes no system call of its own, has no global state, and
// importing it has no effect.
package temptable
