package union

import (
	"context"
	"errors"

	"github.com/spillway-db/spillway/cmd/spillway/internal/adapt"
	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/temptable"
)

// engine is the library, as a user would call it.
type engine struct {
	eng    *temptable.Engine
	owner  *temptable.Owner
	schema *temptable.Schema
	t      *temptable.Table
	blocks int64 // created for the tables dropped so far
	reused int64 // likewise, from idle memory

	feed    *adapt.Feed
	results [adapt.BatchRows]temptable.Result
	read    temptable.Batch // rows that were read
	out     input.Table     // the same, as the tool takes them
}

func openEngine(l limits, s input.Schema) (executor, error) {
	schema, err := temptable.NewSchema(adapt.Columns(s), temptable.Distinct())
	if err != nil {
		return nil, err
	}
	o := temptable.Options{MaxRAM: l.ram, MaxMmap: l.mmap, Dir: l.dir}
	if l.mmapOff {
		o.MaxMmap = temptable.Disabled
	}
	eng, err := temptable.Open(o)
	if err != nil {
		return nil, err
	}
	owner, err := eng.NewOwner("union", temptable.Limits{})
	if err != nil {
		return nil, errors.Join(err, eng.Close())
	}
	e := &engine{eng: eng, owner: owner, schema: schema, feed: adapt.NewFeed(s), out: *input.NewTable(s)}
	return e, nil
}

func (e *engine) create(ctx context.Context) (err error) {
	e.t, err = e.owner.Create(ctx, e.schema, temptable.Named("union"))
	return err
}

func (e *engine) insert(ctx context.Context, t *input.Table, task *progress.Task) error {
	for from := 0; from < t.N; from += adapt.BatchRows {
		b := e.feed.Batch(t, from)
		if _, err := e.t.InsertBatch(ctx, b, e.results[:b.N]); err != nil {
			return err
		}
		task.Add(int64(b.N))
	}
	return nil
}

func (e *engine) scan(ctx context.Context, sink func(*input.Table)) error {
	c := e.t.Cursor(temptable.ScanOptions{})
	defer c.Close()
	for {
		n, err := c.ReadBatch(ctx, &e.read)
		if err != nil || n == 0 {
			return err
		}
		adapt.View(&e.out, &e.read)
		sink(&e.out)
	}
}

func (e *engine) drop() error {
	s := e.t.Stats()
	e.blocks += s.Created
	e.reused += s.Reused
	return e.t.Drop()
}

func (e *engine) close() error { return e.eng.Close() }

func (e *engine) counters() counters {
	s := e.eng.Stats()
	return counters{
		ram: s.RAM - s.Idle, mmap: s.Tables[temptable.Mmap], disk: s.Tables[temptable.Disk],
		ramPeak: s.RAMPeak, mmapPeak: s.TablesPeak[temptable.Mmap], diskPeak: s.TablesPeak[temptable.Disk],
		blocks: e.blocks, blocksReused: e.reused, files: s.Pool.FilesCreated + s.Disk.FilesCreated, mmapCalls: s.Pool.MapCalls,
		filled: s.Pool.Peak + s.Disk.BytesPeak, pageReads: s.Disk.PageReads, pageWrites: s.Disk.PageWrites,
	}
}
