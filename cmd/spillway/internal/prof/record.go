package prof

import (
	"time"

	"github.com/spillway-db/spillway/temptable"
)

// recording turns an engine's counters into those of steps.
type recording struct {
	e      *engine
	ledger ledger
	last   temptable.Stats
	rows   int64
	at     time.Time
	steps  []Step
}

func newRecording(e *engine) *recording {
	return &recording{e: e, last: e.eng.Stats(), at: time.Now()}
}

// step notes what s took.
func (r *recording) step(s *step) {
	took := time.Since(r.at)
	now, ledger := r.e.eng.Stats(), ledgerOf(r.e.eng)
	rows := r.e.pass.t.Len()
	r.steps = append(r.steps, Step{
		Name: s.name, Rows: s.rows, Added: rows - r.rows, Seconds: took.Seconds(),
		Created: now.Count.Created - r.last.Count.Created, Reused: now.Count.Reused - r.last.Count.Reused,
		Bytes: ledger.bytes() - r.ledger.bytes(),
		Files: files(&now) - files(&r.last), Calls: minus(now.Calls, r.last.Calls), Taken: ledger.since(r.ledger),
	})
	r.last, r.ledger, r.rows, r.at = now, ledger, rows, time.Now()
}

func files(s *temptable.Stats) int64 { return s.Pool.FilesCreated + s.Disk.FilesCreated }

func (l ledger) bytes() (n int64) {
	for _, t := range l {
		n += t.Bytes
	}
	return n
}

// minus returns the calls that were made between; kinds without any are left
// out.
func minus(now, before map[string]int64) map[string]int64 {
	d := map[string]int64{}
	for kind, n := range now {
		if n -= before[kind]; n > 0 {
			d[kind] = n
		}
	}
	return d
}

func ledgerOf(e *temptable.Engine) ledger {
	l := ledger{}
	records, _ := e.AllocRecords()
	for i := range records {
		rec := &records[i]
		l.add(Taken{Tier: rec.Tier.String(), Purpose: rec.Purpose.String(), Path: path(rec.Stack),
			Blocks: rec.Blocks, Bytes: rec.Bytes})
	}
	return l
}
