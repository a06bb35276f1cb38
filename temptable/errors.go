package temptable

import (
	"errors"

	"github.com/spillway-db/spillway/allocator"
)

// Errors of tables, owners and engines.
var (
	// ErrClosed is returned by calls on an engine or owner that was closed, or
	// on a table that was dropped (itself, or with its owner or engine).
	ErrClosed = allocator.ErrClosed
	// ErrConcurrentUse is returned when a call on a table overlaps another one
	// and not both of them read. The call changed nothing.
	ErrConcurrentUse = errors.New("temptable: concurrent use of a table")
	// ErrRowGone is returned for a row id that names no row.
	ErrRowGone = errors.New("temptable: no such row")
	// ErrTableFailed is returned by every call on a table after it lost data
	// to an I/O error or a fault, after code of the caller's (a collation)
	// panicked in a change, or after RollbackTo was refused memory; it wraps
	// the cause. The table can still be dropped.
	ErrTableFailed = errors.New("temptable: table failed")
	// ErrSealed is returned for a change to a sealed table.
	ErrSealed = errors.New("temptable: table is sealed")
)

// Errors of limits: one for each level that can refuse when no lower tier is
// permitted. A [LimitError] says the numbers.
var (
	ErrTableLimit = allocator.ErrTableLimit
	ErrOwnerLimit = allocator.ErrOwnerLimit
	ErrRAMLimit   = allocator.ErrRAMLimit
	ErrMmapLimit  = allocator.ErrMmapLimit
	ErrDiskLimit  = allocator.ErrDiskLimit
)

// Why a device refused; each names the directory and matches the errno, too.
var (
	ErrNoSpace      = allocator.ErrNoSpace      // the device is full
	ErrReserve      = allocator.ErrReserve      // less than Options.DiskReserve would be left
	ErrQuota        = allocator.ErrQuota        // a disk quota is used up
	ErrFileSize     = allocator.ErrFileSize     // RLIMIT_FSIZE
	ErrTooManyFiles = allocator.ErrTooManyFiles // no descriptor can be had
	ErrTooManyMaps  = allocator.ErrTooManyMaps  // vm.max_map_count or RLIMIT_AS
	ErrDir          = allocator.ErrDir          // the directory cannot be used
)

// ErrNoTier is returned by a setter of the limit of a tier that the engine was
// opened without.
var ErrNoTier = allocator.ErrNoTier

// LimitError says which limit refused, its size, and what was in use.
type LimitError = allocator.LimitError

// Errors of indexes and savepoints.
var (
	// ErrConflict is matched by a *ConflictError, of AddIndex and Enable.
	ErrConflict = errors.New("temptable: rows conflict in a unique index")
	// ErrDisabled is returned for a lookup in a disabled index.
	ErrDisabled = errors.New("temptable: index is disabled")
	// ErrNotOrdered is returned for a lookup by order in an index without one.
	ErrNotOrdered = errors.New("temptable: index is not ordered")
	// ErrNoKey is returned by Upserter for a table that is not distinct.
	ErrNoKey = errors.New("temptable: table is not distinct")
	// ErrSavepointOpen is returned by AddIndex and Enable for a unique index
	// while a savepoint is open.
	ErrSavepointOpen = errors.New("temptable: a savepoint is open")
	// ErrSavepoint is returned for a savepoint that is no longer open.
	ErrSavepoint = errors.New("temptable: no such savepoint")
)

// Errors of tables that are no longer changed.
var (
	// ErrNotSealed is returned by Split for a table that is not sealed.
	ErrNotSealed = errors.New("temptable: table is not sealed")
	// ErrConsumed is returned by every call but Drop on a table that is read
	// for the last time.
	ErrConsumed = errors.New("temptable: table is being consumed")
)
