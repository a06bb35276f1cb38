package filespace

import (
	"context"
	"errors"
)

// Prepare makes bytes that Take will find, and find warm, in pieces of the
// size largest, then of smaller ones down to smallest where the rest or the
// limit wants it. Others who find nothing to take meanwhile wait for it. It
// stops at the first failure, or when ctx ends; what was prepared stays.
func (s *Space) Prepare(ctx context.Context, bytes int64, largest, smallest int) error {
	s.grow.Lock()
	defer s.grow.Unlock()
	held, err := s.hold(ctx, bytes, largest, smallest)
	dead := false
	for i := len(held) - 1; i >= 0; i-- { // the first is taken first then
		_, d := s.free(held[i])
		dead = dead || d
	}
	if dead {
		s.trimDead()
	}
	return err
}

// hold takes warm pieces of bytes in all.
func (s *Space) hold(ctx context.Context, bytes int64, size, smallest int) (held []Piece, err error) {
	for bytes > 0 {
		if err := ctx.Err(); err != nil {
			return held, err
		}
		for int64(size) > bytes && size > smallest {
			size /= 2
		}
		p, err := s.allocWarm(size)
		if errors.Is(err, ErrLimit) && size > smallest {
			size /= 2
			continue
		}
		if err != nil {
			return held, err
		}
		held = append(held, p)
		bytes -= int64(size)
	}
	return held, nil
}
