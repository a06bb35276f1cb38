package temptable

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCodecModel holds writer, batch encoder, getters and decoder against the
// values themselves, over random schemas and rows.
func TestCodecModel(t *testing.T) {
	for seed := range uint64(rounds(400)) {
		checkCodec(t, rand.New(rand.NewPCG(seed, 1)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// rounds is n, or less where the race detector makes it slow.
func rounds(n int) int {
	if raceEnabled {
		return n / 10
	}
	return n
}

func checkCodec(t testing.TB, rng *rand.Rand) {
	cols := randomColumns(rng)
	s, err := NewSchema(cols, randomDistinct(rng, len(cols))...)
	require.NoError(t, err)
	rows := randomRows(rng, cols, 1+rng.IntN(40))
	encoded := encodeAll(t, rng, s, cols, rows)
	checkBatchEncoder(t, rng, s, cols, rows, encoded)
	checkDecoder(t, rng, s, cols, rows, encoded)
	checkKeys(t, rng, s, cols, rows, encoded)
}

func randomDistinct(rng *rand.Rand, n int) []SchemaOption {
	switch {
	case rng.IntN(3) == 0:
		return nil
	case n == 0 || rng.IntN(2) == 0:
		return []SchemaOption{Distinct()}
	}
	return []SchemaOption{Distinct(rng.Perm(n)[:1+rng.IntN(n)]...)}
}

func encodeAll(t testing.TB, rng *rand.Rand, s *Schema, cols []Column, rows [][]any) [][]byte {
	w := newRowWriter(s)
	encoded := make([][]byte, len(rows))
	for i, row := range rows {
		buf, err := writeRow(w, rng, cols, row)
		require.NoError(t, err)
		require.NoError(t, s.validate(buf))
		requireRow(t, s, cols, row, buf)
		encoded[i] = bytes.Clone(buf)
	}
	return encoded
}

func checkBatchEncoder(t testing.TB, rng *rand.Rand, s *Schema, cols []Column, rows [][]any, encoded [][]byte) {
	e := &batchEncoder{s: s}
	b := batchOf(rng, cols, rows, rng.IntN(2) == 0)
	scratch := dirty(rng.IntN(300))
	for done := 0; done < len(rows); {
		k, err := e.encode(b, done, len(rows), scratch)
		require.NoError(t, err)
		if k == 0 {
			require.Equal(t, len(encoded[done]), e.need)
			scratch = dirty(e.need + rng.IntN(2000))
			continue
		}
		require.Len(t, e.offs, k+1)
		for i := range k {
			require.Equal(t, encoded[done+i], scratch[e.offs[i]:e.offs[i+1]])
		}
		done += k
	}
}

// dirty is memory that holds what no one cleared.
func dirty(n int) []byte { return bytes.Repeat([]byte{0xCC}, n) }

func checkDecoder(t testing.TB, rng *rand.Rand, s *Schema, cols []Column, rows [][]any, encoded [][]byte) {
	var run []byte
	offs := []int32{0}
	for _, e := range encoded {
		run = append(run, e...)
		offs = append(offs, int32(len(run)))
	}
	var b Batch
	for range 2 {
		b.Reset()
		cut := rng.IntN(len(rows) + 1)
		require.Equal(t, cut, s.decodeRows(&b, run, offs[:cut+1]))
		require.Equal(t, len(rows)-cut, s.decodeRows(&b, run, offs[cut:]))
	}
	require.Equal(t, len(rows), b.N)
	checkHashes(t, s, run, offs)
	e := &batchEncoder{s: s}
	scratch := dirty(len(run))
	k, err := e.encode(&b, 0, b.N, scratch)
	require.NoError(t, err)
	require.Equal(t, len(rows), k)
	require.True(t, bytes.Equal(run, scratch))
}

// checkHashes holds the batch form against the single one.
func checkHashes(t testing.TB, s *Schema, run []byte, offs []int32) {
	hashes, err := s.keyHashes(nil, run, offs)
	require.NoError(t, err)
	require.Len(t, hashes, len(offs)-1)
	for i, h := range hashes {
		one, err := s.keyHash(run[offs[i]:offs[i+1]])
		require.NoError(t, err)
		require.Equal(t, one, h)
	}
}

// checkKeys holds equality, hash and canonical key against an independent
// comparison.
func checkKeys(t testing.TB, rng *rand.Rand, s *Schema, cols []Column, rows [][]any, encoded [][]byte) {
	parts := randomParts(rng, len(cols))
	o, err := newKeyOrder(s, parts)
	require.NoError(t, err)
	for range 4 * len(rows) {
		i, j := rng.IntN(len(rows)), rng.IntN(len(rows))
		if rng.IntN(2) == 0 {
			j = max(0, i-1)
		}
		want := compareParts(cols, s.whole.parts, rows[i], rows[j]) == 0
		requireEqualKeys(t, s, want, encoded[i], encoded[j])
		requireOrder(t, o, compareParts(cols, parts, rows[i], rows[j]), encoded[i], encoded[j])
		if len(parts) > 0 {
			requirePrefix(t, o, rng.IntN(len(parts)), encoded[i])
		}
	}
}

func randomParts(rng *rand.Rand, n int) []KeyPart {
	parts := make([]KeyPart, 0, n)
	for _, c := range rng.Perm(n)[:rng.IntN(n+1)] {
		parts = append(parts, KeyPart{Col: c, Desc: rng.IntN(2) == 0, NullsLast: rng.IntN(2) == 0})
	}
	return parts
}

func requireEqualKeys(t testing.TB, s *Schema, want bool, a, b []byte) {
	got, err := s.keyEqual(a, b)
	require.NoError(t, err)
	require.Equal(t, want, got)
	ka, err := s.whole.appendKey(nil, a)
	require.NoError(t, err)
	kb, err := s.whole.appendKey(nil, b)
	require.NoError(t, err)
	require.Equal(t, want, bytes.Equal(ka, kb))
	ha, err := s.keyHash(a)
	require.NoError(t, err)
	hb, err := s.keyHash(b)
	require.NoError(t, err)
	require.Equal(t, want, ha == hb) // a collision of 64 bits would be news
}

func requireOrder(t testing.TB, o *keyOrder, want int, a, b []byte) {
	ka, err := o.appendKey([]byte("x"), a)
	require.NoError(t, err)
	key, _, err := o.key(a, nil)
	require.NoError(t, err)
	require.True(t, bytes.Equal(ka[1:], key))
	kb, err := o.appendKey([]byte("x"), b)
	require.NoError(t, err)
	require.Equal(t, want, bytes.Compare(ka, kb), "%v: %x %x", o.parts, ka, kb)
}

func requirePrefix(t testing.TB, o *keyOrder, k int, row []byte) {
	key, err := o.appendKey(nil, row)
	require.NoError(t, err)
	prefix, err := o.appendPrefix(nil, row, k)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(key, prefix))
}

func FuzzCodec(f *testing.F) {
	f.Add(uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, a, b uint64) { checkCodec(t, rand.New(rand.NewPCG(a, b))) })
}

// FuzzDecode reads arbitrary bytes as a row: what validate lets pass has safe
// getters, and is the encoding of its own values.
func FuzzDecode(f *testing.F) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		cols := randomColumns(rng)
		s, err := NewSchema(cols)
		require.NoError(f, err)
		buf, err := writeRow(newRowWriter(s), rng, cols, randomRows(rng, cols, 1)[0])
		require.NoError(f, err)
		f.Add(seed, buf)
	}
	f.Fuzz(func(t *testing.T, seed uint64, buf []byte) {
		s, err := NewSchema(randomColumns(rand.New(rand.NewPCG(seed, 2))))
		require.NoError(t, err)
		if s.validate(buf) == nil {
			requireReencodes(t, s, buf)
		}
	})
}

func requireReencodes(t testing.TB, s *Schema, buf []byte) {
	var b Batch
	s.decodeRows(&b, buf, []int32{0, int32(len(buf))})
	e := &batchEncoder{s: s}
	again := dirty(len(buf))
	k, err := e.encode(&b, 0, 1, again)
	require.NoError(t, err)
	require.Equal(t, 1, k)
	require.Equal(t, buf, again)
	row := Row{s, buf}
	for i := range row.NumCols() {
		row.Int(i)
		row.AppendText(nil, i)
	}
}

// TestValidateRefuses changes one thing in a good row.
func TestValidateRefuses(t *testing.T) {
	s, err := NewSchema([]Column{{Type: TypeInt}, {Type: TypeVarchar}, {Type: TypeYear, NotNull: true}, {Type: TypeVarchar, Length: 4}})
	require.NoError(t, err)
	w := newRowWriter(s)
	w.setInt(0, 5)
	w.setString(1, "one")
	w.setInt(2, 2000)
	w.setString(3, "two")
	good, err := w.finish()
	require.NoError(t, err)
	require.NoError(t, s.validate(good))
	for name, spoil := range map[string]func(b []byte) []byte{
		"empty":            func([]byte) []byte { return nil },
		"cut":              func(b []byte) []byte { return b[:16] },
		"odd":              func(b []byte) []byte { return b[:len(b)-1] },
		"longer":           func(b []byte) []byte { return append(b, make([]byte, 8)...) },
		"deleted":          func(b []byte) []byte { setHeader(b, header(b)|flagDeleted); return b },
		"wide":             func(b []byte) []byte { setHeader(b, flagChained); return b },
		"unknown null bit": func(b []byte) []byte { b[2] |= 0x80; return b },
		"NULL with bytes":  func(b []byte) []byte { b[2] |= 1; return b },
		"NULL with text":   func(b []byte) []byte { b[2] |= 2; return b },
		"ends fall":        func(b []byte) []byte { binary.LittleEndian.PutUint16(b[8:], 7); return b },
		"end outside":      func(b []byte) []byte { binary.LittleEndian.PutUint16(b[10:], 700); return b },
		"too long":         func(b []byte) []byte { binary.LittleEndian.PutUint16(b[8:], 1); return b },
		"padding":          func(b []byte) []byte { b[len(b)-1] = 1; return b },
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, s.validate(spoil(bytes.Clone(good))), ErrCorrupt)
		})
	}
}

func TestKeyOfOneStringIsNotCopied(t *testing.T) {
	s, err := NewSchema([]Column{{Type: TypeInt}, {Type: TypeVarchar, NotNull: true}})
	require.NoError(t, err)
	w := newRowWriter(s)
	w.setString(1, "in the row")
	row, err := w.finish()
	require.NoError(t, err)
	o, err := newKeyOrder(s, []KeyPart{{Col: 1}})
	require.NoError(t, err)
	key, _, err := o.key(row, nil)
	require.NoError(t, err)
	require.Equal(t, "in the row", string(key))
	key[0] = 'I'
	require.Equal(t, "In the row", Row{s, row}.String(1))
}

// TestDecodeStopsAtTheLimit: the limit itself is 2 GiB, so the cut is tested
// with less.
func TestDecodeStopsAtTheLimit(t *testing.T) {
	s, err := NewSchema([]Column{{Type: TypeVarchar}, {Type: TypeDecimal, Length: 5}})
	require.NoError(t, err)
	w := newRowWriter(s)
	w.setString(0, "ten bytes.")
	row, err := w.finish()
	require.NoError(t, err)
	run := bytes.Repeat(row, 5)
	offs := make([]int32, 6)
	for i := range offs {
		offs[i] = int32(i * len(row))
	}
	require.Len(t, s.cols[0].cutToRoom(s, run, offs, 50), 6)
	require.Len(t, s.cols[0].cutToRoom(s, run, offs, 49), 5)
	require.Len(t, s.cols[0].cutToRoom(s, run, offs, 9), 1)
	require.Len(t, s.cols[1].cutToRoom(s, run, offs, 2*maxDecimalText), 3)
}

// TestSchemaIsShared hashes and compares on several goroutines at once.
func TestSchemaIsShared(t *testing.T) {
	cols := []Column{{Type: TypeVarchar, Collation: foldCase{}}}
	s, err := NewSchema(cols, Distinct())
	require.NoError(t, err)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(9, uint64(g)))
			rows := randomRows(rng, cols, 50)
			encoded := encodeAll(t, rng, s, cols, rows)
			checkKeys(t, rng, s, cols, rows, encoded)
		})
	}
	wg.Wait()
}
