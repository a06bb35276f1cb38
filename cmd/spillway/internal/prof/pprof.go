package prof

import (
	"io"
	"runtime"
	"time"

	"github.com/google/pprof/profile"

	"github.com/spillway-db/spillway/internal/legacy"
)

// writeStacks writes what the old policy made as a pprof profile, with the
// values of an allocation profile.
func writeStacks(w io.Writer, records []legacy.Record) error {
	b := builder{functions: map[string]*profile.Function{}, locations: map[runtime.Frame]*profile.Location{}}
	b.p.SampleType = []*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}
	b.p.DefaultSampleType = "alloc_space"
	b.p.TimeNanos = time.Now().UnixNano()
	for _, r := range records {
		tier := "ram"
		if r.File {
			tier = "file"
		}
		b.p.Sample = append(b.p.Sample, &profile.Sample{Location: b.stack(r.Stack), Value: []int64{r.Blocks, r.Bytes},
			Label: map[string][]string{"tier": {tier}}})
	}
	return b.p.Write(w)
}

// builder makes the tables of a profile.
type builder struct {
	p         profile.Profile
	functions map[string]*profile.Function
	locations map[runtime.Frame]*profile.Location
}

func (b *builder) stack(pcs []uintptr) (at []*profile.Location) {
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		at = append(at, b.location(runtime.Frame{Function: f.Function, File: f.File, Line: f.Line}))
		if !more {
			return at
		}
	}
}

func (b *builder) location(f runtime.Frame) *profile.Location {
	if l := b.locations[f]; l != nil {
		return l
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1), Line: []profile.Line{{Function: b.function(f), Line: int64(f.Line)}}}
	b.p.Location = append(b.p.Location, l)
	b.locations[f] = l
	return l
}

func (b *builder) function(f runtime.Frame) *profile.Function {
	if fn := b.functions[f.Function]; fn != nil {
		return fn
	}
	fn := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
	b.p.Function = append(b.p.Function, fn)
	b.functions[f.Function] = fn
	return fn
}
