package input

import (
	"context"
	"encoding/binary"
	"hash/crc32"

	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
)

// Answer is what a UNION gives.
type Answer struct {
	Rows     int    // distinct rows
	Checksum uint64 // as Table.Checksum
	// LeftDup and RightDup are how many rows of each side were there before.
	LeftDup, RightDup int
}

// Expect computes the UNION of the tables' texts with a Go map. It holds all
// distinct rows in memory. Text with a collation is compared by its key, JSON by
// its value; of equal rows the first is the one that is kept. m, if
// not nil, shows how far it is.
func Expect(ctx context.Context, left, right *Table, m *progress.Meter) (Answer, error) {
	task := m.Start("compute the answer", progress.Rows, int64(left.N+right.N))
	defer task.End()
	e := expecter{task: task, seen: make(map[string]struct{}, left.N)}
	for _, c := range left.Schema {
		e.keys = append(e.keys, c.Key())
	}
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
	task            *progress.Task
	seen            map[string]struct{}
	keys            []func(dst, value []byte) []byte // by column; nil: its text
	sum             uint64
	key, field, row []byte
}

// add returns how many rows of t were there before.
func (e *expecter) add(ctx context.Context, t *Table) (dup int, err error) {
	for k := range t.N {
		if k%1024 == 0 {
			e.task.Add(1024)
			if ctx.Err() != nil {
				return dup, ctx.Err()
			}
		}
		e.makeKey(t, k)
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

// makeKey makes the key of row k, so that no two different rows have one: the
// key of each value with its length + 1 before it, 0 for a NULL.
func (e *expecter) makeKey(t *Table, k int) {
	e.key = e.key[:0]
	for c := range t.Cols {
		if t.Cols[c].IsNull(k) {
			e.key = append(e.key, 0)
			continue
		}
		e.field = e.appendField(e.field[:0], t, c, k)
		e.key = binary.AppendUvarint(e.key, uint64(len(e.field))+1)
		e.key = append(e.key, e.field...)
	}
}

func (e *expecter) appendField(dst []byte, t *Table, c, k int) []byte {
	v := &t.Cols[c]
	switch {
	case e.keys[c] != nil:
		return e.keys[c](dst, v.Text(k))
	case v.F64 != nil && v.F64[k] == 0:
		return append(dst, '0') // -0, too
	}
	return t.appendField(dst, c, k)
}
