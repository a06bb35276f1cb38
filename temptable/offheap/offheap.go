package offheap

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/google/pprof/profile"
	"github.com/spillway-db/spillway/temptable"
)

// ErrNotRecording is returned while the engine does not record who takes
// blocks: see temptable.Options.ProfileRate and Engine.SetProfileRate.
var ErrNotRecording = errors.New("offheap: the engine does not record who takes blocks")

// Write writes the engine's profile to w, gzipped, as pprof reads it. It
// returns ErrNotRecording, or w's error.
func Write(w io.Writer, e *temptable.Engine) error {
	p, err := Profile(e)
	if err != nil {
		return err
	}
	if err := p.Write(w); err != nil {
		return fmt.Errorf("offheap: write: %w", err)
	}
	return nil
}

// Profile returns the engine's profile. It returns ErrNotRecording.
func Profile(e *temptable.Engine) (*profile.Profile, error) {
	records, rate := e.AllocRecords()
	if rate == 0 {
		return nil, ErrNotRecording
	}
	b := newBuilder(rate)
	for i := range records {
		b.record(&records[i])
	}
	b.rest(e.Stats())
	return b.p, nil
}

// builder makes a profile.
type builder struct {
	p         *profile.Profile
	functions map[string]*profile.Function // by name and file
	locations map[runtime.Frame]*profile.Location
	recorded  [3]temptable.TierBytes // live bytes so far
}

func newBuilder(rate int64) *builder {
	kind := func(typ, unit string) *profile.ValueType { return &profile.ValueType{Type: typ, Unit: unit} }
	return &builder{
		functions: map[string]*profile.Function{},
		locations: map[runtime.Frame]*profile.Location{},
		p: &profile.Profile{
			SampleType: []*profile.ValueType{kind("alloc_objects", "count"), kind("alloc_space", "bytes"),
				kind("inuse_objects", "count"), kind("inuse_space", "bytes")},
			DefaultSampleType: "inuse_space",
			PeriodType:        kind("space", "bytes"),
			Period:            rate,
			TimeNanos:         time.Now().UnixNano(),
		},
	}
}

// record adds what one call path took.
func (b *builder) record(r *temptable.AllocRecord) {
	live := &b.recorded[r.Tier]
	if r.Purpose.String() == "rows" {
		live.Rows += r.LiveBytes
	} else {
		live.Index += r.LiveBytes
	}
	b.sample(b.stack(r.Stack), []int64{r.Blocks, r.Bytes, r.LiveBlocks, r.LiveBytes}, map[string][]string{
		"tier": {r.Tier.String()}, "purpose": {r.Purpose.String()}, "table": {r.Table}, "owner": {r.Owner}})
}

// rest adds what no record accounts for, so that the profile sums to the
// engine's statistics.
func (b *builder) rest(s temptable.Stats) {
	for t := range s.Bytes {
		b.part("(taken before the recording began)", t, "rows", s.Bytes[t].Rows-b.recorded[t].Rows)
		b.part("(taken before the recording began)", t, "index", s.Bytes[t].Index-b.recorded[t].Index)
	}
	b.part("(cache of the disk table)", int(temptable.RAM), "cache", s.Cache)
	b.part("(scratch and buffers on the Go heap)", int(temptable.RAM), "other", s.Heap)
	b.part("(idle memory)", int(temptable.RAM), "idle", s.RAM-s.Bytes[temptable.RAM].Total())
	b.part("(idle extents)", int(temptable.Mmap), "idle", s.Pool.Used-s.Bytes[temptable.Mmap].Total())
	b.part("(idle disk space)", int(temptable.Disk), "idle", s.Disk.Bytes-s.Bytes[temptable.Disk].Total())
}

// part adds bytes in use that are of no call path.
func (b *builder) part(name string, tier int, purpose string, bytes int64) {
	if bytes <= 0 {
		return
	}
	at := b.location(runtime.Frame{Function: name})
	b.sample([]*profile.Location{at}, []int64{0, 0, 0, bytes}, map[string][]string{
		"tier": {temptable.Tier(tier).String()}, "purpose": {purpose}})
}

func (b *builder) sample(at []*profile.Location, values []int64, labels map[string][]string) {
	b.p.Sample = append(b.p.Sample, &profile.Sample{Location: at, Value: values, Label: labels})
}

// stack returns the locations of a call path, innermost first.
func (b *builder) stack(pcs []uintptr) (at []*profile.Location) {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" {
			at = append(at, b.location(f))
		}
		if !more {
			return at
		}
	}
}

// location returns the location of a frame: one for each line of a function.
func (b *builder) location(f runtime.Frame) *profile.Location {
	key := runtime.Frame{Function: f.Function, File: f.File, Line: f.Line}
	if l := b.locations[key]; l != nil {
		return l
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1),
		Line: []profile.Line{{Function: b.function(f), Line: int64(f.Line)}}}
	b.p.Location = append(b.p.Location, l)
	b.locations[key] = l
	return l
}

func (b *builder) function(f runtime.Frame) *profile.Function {
	key := f.Function + "\x00" + f.File
	if fn := b.functions[key]; fn != nil {
		return fn
	}
	fn := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
	b.p.Function = append(b.p.Function, fn)
	b.functions[key] = fn
	return fn
}
