package input

import (
	"context"
	"encoding/binary"
	"hash/crc32"
)

// Answer is what a UNION gives.
type Answer struct {
	Rows     int    // distinct rows
	Checksum uint64 // as Table.Checksum
	// LeftDup and RightDup are how many rows of each side were there before.
	LeftDup, RightDup int
}

// Expect computes the UNION of the tables' texts with a Go map. It holds all
// distinct rows in memory.
func Expect(ctx context.Context, left, right *Table) (Answer, error) {
	e := expecter{seen: make(map[string]struct{}, left.N)}
	var a Answer
	var err error
	if a.LeftDup, err = e.add(ctx, left); err != nil {
		return a, err
	}
	if a.RightDup, err = e.add(ctx, right); err != nil {
		return a, err
	}
	a.Rows, a.Checksum = len(e.seen), e.sum
	return a, nil
}

type expecter struct {
	seen     map[string]struct{}
	sum      uint64
	key, row []byte
}

// add returns how many rows of t were there before.
func (e *expecter) add(ctx context.Context, t *Table) (dup int, err error) {
	for k := range t.N {
		if k%1024 == 0 && ctx.Err() != nil {
			return dup, ctx.Err()
		}
		e.key = t.appendKey(e.key[:0], k)
		if _, ok := e.seen[string(e.key)]; ok {
			dup++
			continue
		}
		e.seen[string(e.key)] = struct{}{}
		e.row = t.AppendRow(e.row[:0], k)
		e.sum += uint64(crc32.ChecksumIEEE(e.row))
	}
	return dup, nil
}

// appendKey appends the texts of row k so that no two rows look alike: each
// with its length + 1 before it, 0 for a NULL.
func (t *Table) appendKey(dst []byte, k int) []byte {
	var field []byte
	for c := range t.Cols {
		if t.Cols[c].IsNull(k) {
			dst = append(dst, 0)
			continue
		}
		field = t.appendField(field[:0], c, k)
		dst = binary.AppendUvarint(dst, uint64(len(field))+1)
		dst = append(dst, field...)
	}
	return dst
}
