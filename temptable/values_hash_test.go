package temptable

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/dgryski/go-farm"
	"github.com/stretchr/testify/require"
)

// sameHash is a collation under which every string has one hash: what the worst
// plug-in, or a caller of strings that were made to collide, comes to.
type sameHash struct{ foldCase }

func (sameHash) Equal(a, b []byte) bool { return fold(string(a)) == fold(string(b)) }
func (sameHash) Hash([]byte) uint64     { return 0x5bd1e9955bd1e995 }

// C.17: equality is verified, whatever the hashes say.
func TestHashIsNeverTrusted(t *testing.T) {
	onTinyBudgets(t, func(t *testing.T, owner *Owner) {
		s, err := NewSchema([]Column{{Type: TypeVarchar, Collation: sameHash{}}, {Type: TypeInt}}, Distinct(0))
		require.NoError(t, err)
		tab := createTest(t, owner, s)
		w := tab.Writer(context.Background())
		const n = 3000
		ids := make([]RowID, n)
		for k := range 3 * n {
			w.SetString(0, fmt.Sprintf("%c%04d%*s", 'a'-32*(k/n%2), k%n, k/n, ""))
			id, added, err := w.Insert()
			require.NoError(t, err)
			require.Equal(t, k < n, added, k)
			if added {
				ids[k] = id
			}
			require.Equal(t, ids[k%n], id)
		}
		require.EqualValues(t, n, tab.Len())
		require.NoError(t, tab.Drop())

		s, err = NewSchema([]Column{{Type: TypeVarchar}, {Type: TypeVarchar}}, Distinct())
		require.NoError(t, err)
		tab = createTest(t, owner, s)
		w = tab.Writer(context.Background())
		for k, pair := range [][2]string{{"a\x00", "b"}, {"a", "\x00b"}, {"<nil>", ""}, {"", "<nil>"}} {
			w.SetString(0, pair[0])
			w.SetString(1, pair[1])
			_, added, err := w.Insert()
			require.NoError(t, err)
			require.True(t, added, k)
		}
	})
}

// keySets are 100,000 keys each, in the column s or in the columns i and g of
// joinit, that a weak hash takes badly.
func keySets() map[string]*Batch {
	n := rounds(100_000)
	rng := rand.New(rand.NewPCG(8, 8))
	sets := map[string]*Batch{}
	set := func(name string, f func(k int) (int64, string, int64)) {
		b := newJoinit(n)
		for k := range n {
			i, s, g := f(k)
			addJoinit(b, i, s, 0, g)
		}
		sets[name] = b
	}
	set("random", func(int) (int64, string, int64) {
		return int64(int32(rng.Uint32())), fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64()), int64(int32(rng.Uint32()))
	})
	set("equal-columns", func(k int) (int64, string, int64) { return int64(k), fmt.Sprint(k), int64(k) })
	set("permuted-columns", func(k int) (int64, string, int64) { return int64(k % 317), "", int64(k / 317) })
	set("sequential", func(k int) (int64, string, int64) { return int64(k), "", 0 })
	set("uuids", func(k int) (int64, string, int64) {
		return 0, fmt.Sprintf("%08x-8f5a-11eb-8dcd-0242ac130003", 0x6ba7b810+k), 0
	})
	set("crafted", func(k int) (int64, string, int64) { return 0, collision(uint64(k)), 0 })
	return sets
}

// collision makes the k-th of 2^64 strings of 32 bytes with one FarmHash64. Of
// such strings it takes four words through multiplications by odd constants,
//
//	a = w0*k1, b = w1, d = w2*k2, c = w3*mul
//
// and hashes u = rot(a+b,43) + rot(c,30) + d and v = a + rot(b+k2,18) + c: for
// every b there are a and d that lead to the same u and v
// (https://github.com/google/farmhash, hashLen17to32).
func collision(k uint64) string {
	const (
		k1, k2 = 0xb492b66fbe98f273, 0x9ae16a3b2f90404f
		mul    = (k2 + 2*32) & (1<<64 - 1)
		u, v   = 0x0123456789abcdef, 0xfedcba9876543210
		c      = 0x5555555555555555
	)
	b := k * mulGolden
	a := v - bits.RotateLeft64(b+k2, -18) - c
	d := u - bits.RotateLeft64(a+b, -43) - bits.RotateLeft64(c, -30)
	var s []byte
	for _, w := range []uint64{a * inverse(k1), b, d * inverse(k2), c * inverse(mul)} {
		s = binary.LittleEndian.AppendUint64(s, w)
	}
	return string(s)
}

// inverse is 1/m modulo 2^64, by Newton's method.
func inverse(m uint64) uint64 {
	x := m
	for range 6 {
		x *= 2 - m*x
	}
	return x
}

func TestCraftedKeysCollide(t *testing.T) {
	for k := range uint64(100) {
		require.Equal(t, farm.Hash64([]byte(collision(0))), farm.Hash64([]byte(collision(k))))
		require.True(t, k == 0 || collision(0) != collision(k))
	}
}

// keySchema is joinit's, distinct by i, s and g, hashed one after the other.
func keySchema(tb testing.TB) *Schema {
	s, err := NewSchema([]Column{{Type: TypeInt, NotNull: true}, {Type: TypeVarchar}, {Type: TypeTime}, {Type: TypeInt, NotNull: true}}, Distinct(1, 0, 3))
	require.NoError(tb, err)
	return s
}

// C.18: results are right for every set of keys. How long it takes shows
// BenchmarkKeys.
func TestHashQuality(t *testing.T) {
	for name, b := range keySets() {
		t.Run(name, func(t *testing.T) {
			_, owner := openTest(t, Options{MaxRAM: 64 << 20, MaxMmap: Disabled, MaxDisk: Disabled})
			tab := createTest(t, owner, keySchema(t))
			for range 2 {
				_, err := tab.InsertBatch(context.Background(), b, nil)
				require.NoError(t, err)
				require.EqualValues(t, b.N, tab.Len())
			}
		})
	}
}

// BenchmarkKeys inserts 100,000 rows twice: time of each set against random.
func BenchmarkKeys(b *testing.B) {
	for name, rows := range keySets() {
		b.Run(fmt.Sprintf("keys=%s/n=%d", name, rows.N), func(b *testing.B) {
			_, owner := openTest(b, Options{MaxRAM: 64 << 20, MaxMmap: Disabled, MaxDisk: Disabled})
			s := keySchema(b)
			for b.Loop() {
				tab, err := owner.Create(context.Background(), s)
				require.NoError(b, err)
				for range 2 {
					_, err = tab.InsertBatch(context.Background(), rows, nil)
					require.NoError(b, err)
				}
				require.EqualValues(b, rows.N, tab.Len())
				require.NoError(b, tab.Drop())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*rows.N), "ns/row")
		})
	}
}
