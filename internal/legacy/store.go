package legacy

import (
	"context"
	"time"
)

// kind is what a block is made of.
type kind int

const (
	inRAM kind = iota
	inFile
)

// memory is a block's bytes and where they are from.
type memory struct {
	mem   []byte
	kind  kind
	real  bool      // a file that was really made
	began time.Time // when its making began, if real
	took  time.Duration
}

// store makes and destroys the memory of blocks. It makes real files until
// their share is used up, and afterwards takes RAM in their place.
type store struct {
	calls  calls
	cfg    Config
	files  int           // real ones
	spent  time.Duration // in real files
	cycles []cycle
	left   skipped
	live   int64  // bytes mapped, stand-ins included
	idle   []byte // RAM that stood in for a file, for the next one of its size
}

// cycle is the life of one real file that was destroyed by the insert that
// made it, or the making of one that stayed.
type cycle struct {
	bytes int
	took  time.Duration
}

// skipped is what was not really done.
type skipped struct {
	files int
	bytes int64
}

func (s *store) make(ctx context.Context, size int, k kind) (memory, error) {
	if k == inRAM {
		mem, err := s.anon(size)
		return memory{mem: mem, kind: k}, err
	}
	if err := ctx.Err(); err != nil {
		return memory{}, err
	}
	if s.wantsReal() {
		return s.makeFile(ctx, size)
	}
	return s.makeStandIn(size)
}

func (s *store) wantsReal() bool {
	switch s.cfg.Cycles {
	case Full:
		return true
	case 0:
		return s.files < s.cfg.MinFiles || s.spent < s.cfg.Budget
	}
	return s.files < s.cfg.Cycles
}

func (s *store) makeFile(ctx context.Context, size int) (memory, error) {
	began := time.Now()
	mem, err := mappedFile(ctx, s.calls, s.cfg.Dir, size)
	if err != nil {
		return memory{}, err
	}
	s.files++
	s.live += int64(size)
	took := time.Since(began)
	s.spent += took
	return memory{mem: mem, kind: inFile, real: true, began: began, took: took}, nil
}

func (s *store) makeStandIn(size int) (memory, error) {
	s.left.files++
	s.left.bytes += int64(size)
	mem := s.idle
	s.idle = nil
	if len(mem) == size {
		return memory{mem: mem, kind: inFile}, nil
	}
	if err := s.unmap(mem); err != nil {
		return memory{}, err
	}
	mem, err := s.anon(size)
	return memory{mem: mem, kind: inFile}, err
}

// destroy gives m back. same says that the insert that made it does so.
func (s *store) destroy(m memory, same bool) error {
	if m.kind == inFile && !m.real && s.idle == nil {
		s.idle = m.mem
		return nil
	}
	err := s.unmap(m.mem)
	if m.real {
		s.record(m, same)
	}
	return err
}

func (s *store) record(m memory, same bool) {
	took := m.took
	if same {
		took = time.Since(m.began)
		s.spent += took - m.took
	}
	s.cycles = append(s.cycles, cycle{bytes: len(m.mem), took: took})
}

func (s *store) close() error {
	err := s.unmap(s.idle)
	s.idle = nil
	return err
}
