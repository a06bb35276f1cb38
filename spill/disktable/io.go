package disktable

import (
	"errors"
	"io"
	"sync"
)

// All page I/O is in this file. A page lies at a multiple of PageSize and is
// read and written whole, but for readRange.

// run is a number of frames of consecutive pages of one block, and what
// writing them needs.
type run struct {
	n      int
	frames [groupPages]*Frame
	bufs   [groupPages][]byte
}

// add appends the frame of the next page.
func (r *run) add(f *Frame) {
	r.frames[r.n], r.bufs[r.n] = f, f.data[:]
	r.n++
}

// runs keeps the runs that are not in use, so that eviction allocates none.
type runs struct{ pool sync.Pool }

func (p *runs) get() *run {
	if r, ok := p.pool.Get().(*run); ok {
		return r
	}
	return new(run)
}

// put forgets the frames of r.
func (p *runs) put(r *run) {
	*r = run{}
	p.pool.Put(r)
}

// readPage fills the frame with its page.
func (s *Store) readPage(f *Frame) *IOError {
	return s.readRange(f.block, f.page()*PageSize, f.data[:])
}

// readRange fills dst with what is at off in b.
func (s *Store) readRange(b Block, off int, dst []byte) *IOError {
	n, err := b.piece.ReadAt(dst, off)
	s.pageReads.Add(int64(n+PageSize-1) / PageSize)
	return failure("read", b, off, len(dst), n, err)
}

// writeRun writes the pages of r.
func (s *Store) writeRun(r *run) *IOError {
	b, off := r.frames[0].block, r.frames[0].page()*PageSize
	n, err := b.piece.WritevAt(r.bufs[:r.n], off)
	s.pageWrites.Add(int64(n / PageSize))
	return failure("write", b, off, r.n*PageSize, n, err)
}

// writeStart writes src to the beginning of b.
func (s *Store) writeStart(b Block, src []byte) *IOError {
	n, err := b.piece.WriteAt(src, 0)
	s.pageWrites.Add(int64(n+PageSize-1) / PageSize)
	return failure("write", b, 0, len(src), n, err)
}

// failure returns what is wrong with a transfer of n of want bytes, or nil.
func failure(op string, b Block, off, want, n int, err error) *IOError {
	if n == want {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &IOError{Op: op, Page: b.piece.Page() + uint64(off/PageSize), Off: off, Len: want, Err: err}
}
