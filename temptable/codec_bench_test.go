//go:build unix

package temptable

import (
	"encoding/binary"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/dgryski/go-farm"
	"github.com/stretchr/testify/require"
)

// perRow runs f, which handles rows of them, and reports CPU time, which a busy
// machine disturbs less than the clock.
func perRow(b *testing.B, rows int, f func()) {
	b.Helper()
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N)/float64(rows), "cpu-ns/row")
}

func cpuTime(b *testing.B) int64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u.Utime.Nano() + u.Stime.Nano()
}

// encodedJoinit is 1,024 rows as a batch and encoded.
func encodedJoinit(b *testing.B) (*Schema, *batchEncoder, *Batch, []byte) {
	s := joinitSchema(b)
	e := &batchEncoder{s: s}
	batch := joinitBatch(1024, rand.New(rand.NewPCG(1, 2)))
	scratch := make([]byte, 1024*56)
	n, err := e.encode(batch, 0, 1024, scratch)
	require.NoError(b, err)
	require.Equal(b, 1024, n)
	return s, e, batch, scratch
}

// BenchmarkEncode compares encoders of joinit rows with a loop written for them
// alone, the floor.
func BenchmarkEncode(b *testing.B) {
	s, e, batch, scratch := encodedJoinit(b)
	b.Run("impl=floor/n=1024", func(b *testing.B) {
		perRow(b, 1024, func() { encodeFloor(batch, scratch) })
	})
	b.Run("impl=batch/n=1024", func(b *testing.B) {
		perRow(b, 1024, func() { _, _ = e.encode(batch, 0, 1024, scratch) })
	})
	w := newRowWriter(s)
	b.Run("impl=writer/n=1024", func(b *testing.B) {
		perRow(b, 1024, func() { writeRows(w, batch) })
	})
}

func writeRows(w *rowWriter, b *Batch) {
	i, v, t, g := &b.Cols[0], &b.Cols[1], &b.Cols[2], &b.Cols[3]
	for k := range b.N {
		w.begin()
		w.setInt(0, i.I64[k])
		w.setBytes(1, v.Bytes[v.Off[k]:v.Off[k+1]])
		w.setInt(2, t.I64[k])
		w.setInt(3, g.I64[k])
		_, _ = w.finish()
	}
}

func encodeFloor(b *Batch, buf []byte) {
	i, v, t, g := &b.Cols[0], &b.Cols[1], &b.Cols[2], &b.Cols[3]
	for k := range b.N {
		row := buf[56*k : 56*k+56]
		binary.LittleEndian.PutUint64(row[48:], 0)
		binary.LittleEndian.PutUint32(row, 7)
		binary.LittleEndian.PutUint32(row[3:], uint32(i.I64[k]))
		binary.LittleEndian.PutUint32(row[7:], uint32(t.I64[k]/1e6))
		binary.LittleEndian.PutUint32(row[10:], uint32(g.I64[k]))
		binary.LittleEndian.PutUint16(row[14:], 36)
		copy(row[16:], v.Bytes[v.Off[k]:v.Off[k+1]])
	}
}

// BenchmarkHash compares the hash of the key with farm's of the same bytes.
func BenchmarkHash(b *testing.B) {
	s, e, _, rows := encodedJoinit(b)
	hashes := make([]uint64, 0, 1024)
	b.Run("impl=floor/n=1024", func(b *testing.B) {
		perRow(b, 1024, func() {
			hashes = hashes[:0]
			for k := range 1024 {
				hashes = append(hashes, farm.Hash64(rows[56*k+2:56*k+52]))
			}
		})
	})
	b.Run("impl=schema/n=1024", func(b *testing.B) {
		perRow(b, 1024, func() { hashes, _ = s.keyHashes(hashes[:0], rows, e.offs) })
	})
}

// BenchmarkHashKey hashes keys of other kinds, one at a time.
func BenchmarkHashKey(b *testing.B) {
	for _, c := range []struct {
		name string
		cols []Column
		row  []any
	}{
		{"impl=word/key=int", []Column{{Type: TypeInt, NotNull: true}}, []any{int64(7)}},
		{"impl=word/key=int_null", []Column{{Type: TypeInt}}, []any{int64(7)}},
		{"impl=two/key=bigint_bigint", []Column{{Type: TypeBigInt}, {Type: TypeBigInt}}, []any{int64(7), int64(8)}},
		{"impl=columns/key=double", []Column{{Type: TypeDouble}}, []any{0.5}},
		{"impl=columns/key=varchar_key", []Column{{Type: TypeVarchar, Collation: keyed{}}}, []any{joinitText}},
		{"impl=columns/key=varchar_hash", []Column{{Type: TypeVarchar, Collation: keyedQuick{}}}, []any{joinitText}},
	} {
		s, err := NewSchema(c.cols, Distinct())
		require.NoError(b, err)
		row, err := writeAll(newRowWriter(s), c.cols, c.row)
		require.NoError(b, err)
		b.Run(c.name+"/n=1024", func(b *testing.B) {
			perRow(b, 1024, func() {
				for range 1024 {
					_, _ = s.keyHash(row)
				}
			})
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	s, e, _, rows := encodedJoinit(b)
	var out Batch
	b.Run("impl=batch/n=1024", func(b *testing.B) {
		perRow(b, 1024, func() {
			out.Reset()
			s.decodeRows(&out, rows, e.offs)
		})
	})
	sum := int64(0)
	for _, g := range []struct {
		name string
		get  func(r Row)
	}{
		{"impl=none", func(Row) {}},
		{"impl=Int", func(r Row) { sum += r.Int(0) }},
		{"impl=Time", func(r Row) { sum += int64(r.Time(2)) }},
		{"impl=Bytes", func(r Row) { sum += int64(len(r.Bytes(1))) }},
	} {
		b.Run(g.name+"/n=1024", func(b *testing.B) {
			perRow(b, 1024, func() {
				for k := range 1024 {
					g.get(Row{s, rows[56*k : 56*k+56]})
				}
			})
		})
	}
}
