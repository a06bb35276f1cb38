package allocator

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/spillway-db/spillway/spill/disktable"
)

// Record says how much was taken by one call path, for the tables of one name
// and owner, on one tier, for one purpose. The numbers of a sampled recording
// are estimates.
type Record struct {
	Stack   []uintptr // return addresses, innermost first, as of runtime.Callers
	Tier    Tier
	Purpose Purpose
	Table   string
	Owner   string // its path

	Bytes, Blocks         int64 // taken since the recording began
	LiveBytes, LiveBlocks int64 // of those, not given back
}

const (
	maxStack = 48
	// maxRecords bounds what is kept for tables that are gone: when there are
	// as many records, those without live blocks are dropped.
	maxRecords = 1 << 14
)

// recordKey tells records apart.
type recordKey struct {
	stack   [maxStack]uintptr
	tier    Tier
	purpose Purpose
	table   string
	owner   string
}

// place is where a block is: the address of its memory, or its place on disk.
type place struct {
	mem  *byte
	disk disktable.Block
}

// sample is a block that was recorded.
type sample struct {
	of            *Record
	bytes, blocks int64 // what it stands for
}

// recorder keeps who took the blocks that there are.
type recorder struct {
	rate int64 // bytes between two samples, on average; 1: every block

	mu      sync.Mutex
	records map[recordKey]*Record
	live    map[place]sample
}

// RecordStacks starts a new recording of who takes blocks: one block in rate
// bytes on average, 1 for every block; 0 ends it. Blocks that were taken
// before are not known to it. Cost while it runs: some microseconds a recorded
// block; otherwise a load and a branch a block.
func (a *Allocator) RecordStacks(rate int64) {
	if rate <= 0 {
		a.recorder.Store(nil)
		return
	}
	a.recorder.Store(&recorder{rate: rate, records: map[recordKey]*Record{}, live: map[place]sample{}})
}

// Records returns a copy of the recording, and its rate: 0 if there is none.
func (a *Allocator) Records() (all []Record, rate int64) {
	r := a.recorder.Load()
	if r == nil {
		return nil, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range r.records {
		all = append(all, *rec)
	}
	return all, r.rate
}

// weight is how many blocks of n bytes a sampled one stands for; 0 if the
// block is passed over. As in runtime.MemProfile, a block is sampled with a
// probability of 1 - exp(-n/rate).
func (r *recorder) weight(n int64) float64 {
	if r.rate == 1 {
		return 1
	}
	p := -math.Expm1(-float64(n) / float64(r.rate))
	if rand.Float64() >= p {
		return 0
	}
	return 1 / p
}

func (r *recorder) take(s *Space, b *Block, p Purpose) {
	w := r.weight(int64(b.held))
	if w == 0 {
		return
	}
	k := recordKey{tier: b.tier, purpose: p, table: s.acct.name, owner: s.Path()}
	n := runtime.Callers(3, k.stack[:]) // without itself, take and count
	smp := sample{bytes: int64(w * float64(b.held)), blocks: int64(math.Round(w))}
	r.mu.Lock()
	defer r.mu.Unlock()
	smp.of = r.record(&k, n)
	smp.of.add(&smp, 1)
	smp.of.Bytes += smp.bytes
	smp.of.Blocks += smp.blocks
	r.live[placeOf(b)] = smp
}

// record finds or makes the record for k, whose stack has n frames.
func (r *recorder) record(k *recordKey, n int) *Record {
	if rec := r.records[*k]; rec != nil {
		return rec
	}
	if len(r.records) >= maxRecords {
		r.forget()
	}
	rec := &Record{Stack: append([]uintptr(nil), k.stack[:n]...), Tier: k.tier, Purpose: k.purpose, Table: k.table, Owner: k.owner}
	r.records[*k] = rec
	return rec
}

// forget drops the records of which nothing is left.
func (r *recorder) forget() {
	for k, rec := range r.records {
		if rec.LiveBlocks == 0 {
			delete(r.records, k)
		}
	}
}

func (r *recorder) give(b *Block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := placeOf(b)
	if smp, ok := r.live[at]; ok {
		delete(r.live, at)
		smp.of.add(&smp, -1)
	}
}

func (rec *Record) add(s *sample, sign int64) {
	rec.LiveBytes += sign * s.bytes
	rec.LiveBlocks += sign * s.blocks
}

func placeOf(b *Block) place {
	if mem := b.mem(); mem != nil {
		return place{mem: &mem[0]}
	}
	return place{disk: b.disk}
}
