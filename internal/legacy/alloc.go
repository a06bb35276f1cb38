package legacy

import "context"

// allocator hands out chunks as the old one did.
type allocator struct {
	policy  Policy
	maxRAM  int64
	store   *store
	blocks  []*block // by index; nil where one was destroyed
	shared  *block
	current *block // the own block that is being filled, if any
	own     int    // own blocks alive
	ram     int64  // bytes of own blocks in RAM
	mapped  int64  // bytes of own blocks in files
	inserts int    // rows that insert was called for
	counts  counts

	recorder recorder // nil: none
}

// counts is what the policy did so far.
type counts struct {
	blocks    int   // created
	files     int   // created
	filled    int64 // bytes written to files
	ramPeak   int64 // shared block included
	mmapPeak  int64
	fileBlock int // size of the last file
}

// alloc returns a chunk of n bytes and where it is. Its contents are
// unspecified.
func (a *allocator) alloc(ctx context.Context, n int) (ref, []byte, error) {
	chunk := chunkSize(n)
	b, err := a.blockFor(ctx, chunk)
	if err != nil {
		return 0, nil, err
	}
	r := makeRef(b.index, b.push(chunk))
	return r, a.at(r, n), nil
}

// free gives a chunk of n bytes back, and its block with it if it was the last.
func (a *allocator) free(r ref, n int) error {
	b, chunk := a.blocks[r.index()], chunkSize(n)
	if a.policy == V8021 && b.isTop(r.off(), chunk) {
		b.next -= chunk
	}
	b.used--
	if b.used > 0 || b == a.shared {
		return nil
	}
	return a.destroy(b)
}

// at returns the n bytes at r.
func (a *allocator) at(r ref, n int) []byte {
	off := r.off()
	return a.blocks[r.index()].mem[off : off+n : off+n]
}

func (a *allocator) blockFor(ctx context.Context, chunk int) (*block, error) {
	if a.shared == nil {
		return a.makeShared(ctx, chunk)
	}
	if a.shared.fits(chunk) {
		return a.shared, nil
	}
	if a.current != nil && a.current.fits(chunk) {
		return a.current, nil
	}
	return a.makeOwn(ctx, blockSize(a.own, chunk))
}

// makeShared makes the session's first block, which no budget counts.
func (a *allocator) makeShared(ctx context.Context, chunk int) (b *block, err error) {
	a.shared, err = a.make(ctx, blockSize(0, chunk), inRAM)
	return a.shared, err
}

func (a *allocator) makeOwn(ctx context.Context, size int) (*block, error) {
	kind := inRAM
	if a.ram+int64(size) > a.maxRAM {
		kind = inFile
	}
	b, err := a.make(ctx, size, kind)
	if err != nil {
		return nil, err
	}
	a.current = b
	a.own++
	a.charge(b, +1)
	return b, nil
}

func (a *allocator) make(ctx context.Context, size int, kind kind) (*block, error) {
	m, err := a.store.make(ctx, size, kind)
	if err != nil {
		return nil, err
	}
	b := &block{memory: m, index: a.freeIndex(), next: blockHeader, born: a.inserts}
	a.blocks[b.index] = b
	a.recorder.take(kind, size)
	a.counts.blocks++
	if kind == inFile {
		a.counts.files++
		a.counts.filled += int64(size)
		a.counts.fileBlock = size
	}
	return b, nil
}

// freeIndex returns an index of blocks that holds nothing.
func (a *allocator) freeIndex() int {
	for i, b := range a.blocks {
		if b == nil {
			return i
		}
	}
	a.blocks = append(a.blocks, nil)
	return len(a.blocks) - 1
}

func (a *allocator) destroy(b *block) error {
	a.blocks[b.index] = nil
	if a.current == b {
		a.current = nil
	}
	a.own--
	a.charge(b, -1)
	return a.store.destroy(b.memory, b.born == a.inserts)
}

// inRAM is the number of bytes in RAM, those of the shared block included.
func (a *allocator) inRAM() int64 {
	if a.shared == nil {
		return a.ram
	}
	return a.ram + int64(len(a.shared.mem))
}

func (a *allocator) charge(b *block, sign int64) {
	n := sign * int64(len(b.mem))
	if b.kind == inRAM {
		a.ram += n
	} else {
		a.mapped += n
	}
	a.counts.ramPeak = max(a.counts.ramPeak, a.inRAM())
	a.counts.mmapPeak = max(a.counts.mmapPeak, a.mapped)
}

// close destroys every block that is left, the shared one included.
func (a *allocator) close() (err error) {
	for i, b := range a.blocks {
		if b == nil {
			continue
		}
		a.blocks[i] = nil
		if e := a.store.destroy(b.memory, false); err == nil {
			err = e
		}
	}
	a.shared, a.current = nil, nil
	a.ram, a.mapped = 0, 0
	return err
}
