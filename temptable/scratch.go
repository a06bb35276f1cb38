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

// scratchPool keeps the scratches of an engine that are not in use.
type scratchPool struct {
	size int // of the encoded rows, in bytes
	rows int

	mu   sync.Mutex
	idle []*batchScratch
}

// init sizes the scratches: 64 KiB and 1,024 rows, or 1/16 of the RAM.
func (p *scratchPool) init(maxRAM int64) {
	p.size = int(min(max(maxRAM/16, 4<<10), 64<<10))
	p.rows = min(p.size/32, 1024)
}

func (p *scratchPool) take(t *Table) (*batchScratch, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		s.enc.s = t.schema
		return s, nil
	}
	p.mu.Unlock()
	n := p.size + p.rows*scratchRow
	if err := t.space.ChargeHeap(n); err != nil {
		return nil, err
	}
	return &batchScratch{buf: make([]byte, p.size), hashes: make([]uint64, 0, p.rows), cand: make([]uint64, p.rows),
		order: make([]pageOf, 0, p.rows), enc: batchEncoder{s: t.schema, offs: make([]int32, 0, p.rows+1)}, charge: n}, nil
}

// keepScratches is how many idle scratches an engine keeps.
const keepScratches = 8

func (p *scratchPool) give(t *Table, s *batchScratch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < keepScratches && len(s.buf) == p.size {
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
