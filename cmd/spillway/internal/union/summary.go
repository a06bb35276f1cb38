package union

import (
	"slices"
	"time"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
	"github.com/spillway-db/spillway/internal/legacy"
)

// summary turns a mode's samples into its part of the report.
func (r *runner) summary(m *mode) report.Run {
	for i := range m.samples {
		m.samples[i].project()
	}
	last := &m.samples[len(m.samples)-1]
	in := float64(max(r.Left.N+r.Right.N, 1))
	run := report.Run{
		Mode: m.name, Pool: r.Pool, RAMBudget: m.limits.ram,
		Median: r.median(m, (*sample).time), CPU: r.median(m, func(s *sample) time.Duration { return s.use.CPU }),
		Phases:   r.phases(m),
		GoAllocs: last.use.Allocs, MajorFaults: last.use.MajorFaults,
	}
	run.Rows, run.Checksum = m.answer(r.Answer)
	if isLegacy(m.name) {
		run.Pool = "none"
	}
	for i := range m.samples {
		run.Samples = append(run.Samples, m.samples[i].time().Seconds())
	}
	run.NsPerRow = run.Median * 1e9 / in
	setCounters(&run, last)
	run.BlocksPerRow = float64(run.BlocksCreated) / in
	setLegacy(&run, last.after.old)
	return run
}

// answer is the result of the first sample that is wrong, if any.
func (m *mode) answer(right input.Answer) (rows int, checksum uint64) {
	for _, s := range m.samples {
		if s.rows != right.Rows || s.checksum != right.Checksum {
			return s.rows, s.checksum
		}
	}
	return right.Rows, right.Checksum
}

// project adds the time of what was not really done. Nearly all of it is system
// time, so the CPU time grows in proportion.
func (s *sample) project() {
	o := s.after.old
	if o == nil || o.Projected == 0 {
		return
	}
	s.use.CPU += time.Duration(float64(s.use.CPU) * o.Projected.Seconds() / s.time().Seconds())
	s.phases[inserting] += o.Projected
}

func setCounters(run *report.Run, s *sample) {
	a, b := &s.after, &s.before
	if a.old != nil {
		b = &counters{} // a new engine for each sample
	}
	run.RAMPeak, run.MmapPeak, run.DiskPeak = a.ramPeak, a.mmapPeak, a.diskPeak
	run.FilesCreated, run.MmapCalls, run.BytesFilled = a.files, a.mmapCalls, a.filled
	run.BlocksCreated, run.BlocksReused = a.blocks-b.blocks, a.blocksReused-b.blocksReused
	run.PageReads, run.PageWrites = a.pageReads-b.pageReads, a.pageWrites-b.pageWrites
}

func setLegacy(run *report.Run, o *legacy.Result) {
	if o == nil {
		return
	}
	run.Legacy = &report.Legacy{Duplicates: o.Duplicates, FirstFile: o.FirstFile, FileBytes: o.FileBlock}
	if o.Projected == 0 {
		return
	}
	d := o.Measured
	run.Projected = true
	run.Measured = &report.Measured{Cycles: d.Files, Files: d.Files, Bytes: d.Bytes, Seconds: d.Time.Seconds(),
		P10: d.P10.Seconds(), P50: d.P50.Seconds(), P90: d.P90.Seconds()}
}

func (r *runner) phases(m *mode) report.Phases {
	of := func(p phase) float64 {
		return r.median(m, func(s *sample) time.Duration { return s.phases[p] })
	}
	return report.Phases{Open: of(opening), Insert: of(inserting), Scan: of(scanning), Drop: of(dropping)}
}

// median returns the median of value over the samples, in seconds.
func (r *runner) median(m *mode, value func(*sample) time.Duration) float64 {
	v := make([]time.Duration, len(m.samples))
	for i := range m.samples {
		v[i] = value(&m.samples[i])
	}
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]).Seconds() / 2
}
