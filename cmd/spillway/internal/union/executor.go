package union

import (
	"context"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/internal/legacy"
)

// executor runs the statement in one mode, one sample after another. After an
// error only close may be called.
type executor interface {
	create(ctx context.Context) error
	// insert adds the rows of t, and tells task of them.
	insert(ctx context.Context, t *input.Table, task *progress.Task) error
	// scan hands all rows of the result to sink, some at a time. They are
	// valid until sink returns.
	scan(ctx context.Context, sink func(*input.Table)) error
	drop() error
	// counters are those since the executor was opened.
	counters() counters
	close() error
}

// counters are what an executor did since it was opened. Bytes are bytes.
type counters struct {
	ram, mmap, disk             int64 // in use now
	ramPeak, mmapPeak, diskPeak int64
	blocks, blocksReused        int64
	files, mmapCalls, filled    int64
	pageReads, pageWrites       int64
	old                         *legacy.Result // of the last table; legacy modes only
}
