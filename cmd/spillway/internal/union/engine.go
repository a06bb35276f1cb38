package union

import (
	"context"
	"errors"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/temptable"
)

// batchRows is how many rows are inserted at a time; a multiple of 64.
const batchRows = 1024

// engine is the library, as a user would call it.
type engine struct {
	eng    *temptable.Engine
	owner  *temptable.Owner
	schema *temptable.Schema
	t      *temptable.Table
	blocks int64 // created for the tables dropped so far
	reused int64 // likewise, from idle memory

	part    input.Table     // the rows that are being inserted
	batch   temptable.Batch // the same, as the library takes them
	results [batchRows]temptable.Result
	read    temptable.Batch // rows that were read
	out     input.Table     // the same, as the tool takes them
}

// columnTypes are the library's names for the tool's types.
var columnTypes = map[input.Type]temptable.Type{
	input.TinyInt: temptable.TypeTinyInt, input.SmallInt: temptable.TypeSmallInt, input.MediumInt: temptable.TypeMediumInt,
	input.Int: temptable.TypeInt, input.BigInt: temptable.TypeBigInt,
	input.UTinyInt: temptable.TypeUTinyInt, input.USmallInt: temptable.TypeUSmallInt,
	input.UMediumInt: temptable.TypeUMediumInt, input.UInt: temptable.TypeUInt, input.UBigInt: temptable.TypeUBigInt,
	input.Bit: temptable.TypeBit, input.Year: temptable.TypeYear, input.Enum: temptable.TypeEnum, input.Set: temptable.TypeSet,
	input.Float: temptable.TypeFloat, input.Double: temptable.TypeDouble,
	input.Date: temptable.TypeDate, input.Time: temptable.TypeTime,
	input.Datetime: temptable.TypeDatetime, input.Timestamp: temptable.TypeTimestamp,
	input.Decimal: temptable.TypeDecimal,
	input.Char:    temptable.TypeChar, input.Varchar: temptable.TypeVarchar,
	input.Binary: temptable.TypeBinary, input.Varbinary: temptable.TypeVarbinary,
	input.Text: temptable.TypeText, input.Blob: temptable.TypeBlob,
	input.JSON: temptable.TypeJSON, input.Geometry: temptable.TypeGeometry,
}

// maxCharLen is the length of a character in UTF-8.
const maxCharLen = 4

func openEngine(l limits, s input.Schema) (executor, error) {
	schema, err := temptable.NewSchema(columns(s), temptable.Distinct())
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
	e := &engine{eng: eng, owner: owner, schema: schema, part: input.Table{Schema: s}, out: input.Table{Schema: s}}
	e.part.Cols, e.out.Cols = make([]input.Vector, len(s)), make([]input.Vector, len(s))
	e.batch.Cols, e.read.Cols = make([]temptable.Vector, len(s)), make([]temptable.Vector, len(s))
	return e, nil
}

func columns(s input.Schema) []temptable.Column {
	cols := make([]temptable.Column, len(s))
	for i, c := range s {
		cols[i] = temptable.Column{Name: c.Name, Type: columnTypes[c.Type], NotNull: c.NotNull,
			FSP: c.FSP, Scale: c.Scale, Length: length(c)}
		if c.Collation != nil {
			cols[i].Collation = c.Collation
		}
	}
	return cols
}

// length is the library's measure of a column: members, bytes, bits or digits.
func length(c input.Column) int {
	switch c.Type {
	case input.Enum, input.Set:
		return len(c.Members)
	case input.Char, input.Varchar:
		return c.Length * maxCharLen
	}
	return c.Length
}

func (e *engine) create(ctx context.Context) (err error) {
	e.t, err = e.owner.Create(ctx, e.schema, temptable.Named("union"))
	return err
}

func (e *engine) insert(ctx context.Context, t *input.Table, task *progress.Task) error {
	for from := 0; from < t.N; from += batchRows {
		t.SliceInto(&e.part, from, min(from+batchRows, t.N))
		e.batch.N = e.part.N
		for c := range e.part.Cols {
			e.batch.Cols[c] = toEngine(&e.part.Cols[c])
		}
		if _, err := e.t.InsertBatch(ctx, &e.batch, e.results[:e.batch.N]); err != nil {
			return err
		}
		task.Add(int64(e.batch.N))
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
		e.out.N = n
		for i := range e.read.Cols {
			e.out.Cols[i] = fromEngine(&e.read.Cols[i])
		}
		sink(&e.out)
	}
}

func toEngine(v *input.Vector) temptable.Vector {
	return temptable.Vector{Valid: v.Valid, I64: v.I64, F64: v.F64, Off: v.Off, Bytes: v.Bytes}
}

func fromEngine(v *temptable.Vector) input.Vector {
	return input.Vector{Valid: v.Valid, I64: v.I64, F64: v.F64, Off: v.Off, Bytes: v.Bytes}
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
