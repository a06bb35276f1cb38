package temptable

import (
	"fmt"
	"sync"
)

// batchScratch is what one InsertBatch works with: some hundred encoded rows,
// their hashes and candidates. It is on the Go heap and charged by capacity.
type batchScratch struct {
	buf    []byte
	hashes []uint64
	cand   []uint64
	order  []pageOf
	enc    batchEncoder
	charge int
}

func (s *batchScratch) row(k int) []byte { return s.buf[s.enc.offs[k]:s.enc.offs[k+1]] }

// scratchRow is what a row takes beside its encoding: offset, hash, candidate,
// order.
const scratchRow = 4 + 8 + 8 + 16

// minScratch is the size of the scratch that is used, uncharged, when the RAM
// for a larger one cannot be had: a batch never fails for want of it.
const minScratch = 4 << 10

// scratchPool keeps the scratches of an engine that are not in use.
type scratchPool struct {
	size int // of the encoded rows, in bytes
	rows int
	keep int // how many idle ones are kept

	mu   sync.Mutex
	idle []*batchScratch
}

// init sizes the scratches: 64 KiB and 1,024 rows, or 1/16 of the RAM. Idle ones
// are not given back when RAM is short, so they take 1/8 of it at most.
func (p *scratchPool) init(maxRAM int64) {
	p.size = int(min(max(maxRAM/16, 4<<10), 64<<10))
	p.rows = min(p.size/32, 1024)
	p.keep = int(min(max(maxRAM/8/int64(p.size+p.rows*scratchRow), 1), keepScratches))
}

func (p *scratchPool) take(t *Table) *batchScratch {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		s.enc.s = t.schema
		return s
	}
	p.mu.Unlock()
	size, rows := p.size, p.rows
	charge := size + rows*scratchRow
	if t.space.ChargeHeap(charge) != nil {
		size, rows, charge = minScratch, minScratch/minRowLen, 0
	}
	return &batchScratch{buf: make([]byte, size), hashes: make([]uint64, 0, rows), cand: make([]uint64, rows),
		order: make([]pageOf, 0, rows), enc: batchEncoder{s: t.schema, offs: make([]int32, 0, rows+1)}, charge: charge}
}

// keepScratches is how many idle scratches an engine keeps at most.
const keepScratches = 8

func (p *scratchPool) give(t *Table, s *batchScratch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < p.keep && len(s.buf) == p.size && s.charge > 0 {
		p.idle = append(p.idle, s)
		return
	}
	t.eng.alloc.RefundHeap(s.charge)
}

// grow makes room for a row of n bytes.
func (s *batchScratch) grow(t *Table, n int) error {
	if err := t.space.ChargeHeap(n - len(s.buf)); err != nil {
		return fmt.Errorf("temptable: insert a row of %d bytes into %s: %w", n, t.name, err)
	}
	s.charge += n - len(s.buf)
	s.buf = make([]byte, n)
	return nil
}
