package temptable

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/spillway-db/spillway/testdata/joinit"
	"github.com/stretchr/testify/require"
)

// unionSchema is the bug report's table, as the result of its UNION.
func unionSchema(tb testing.TB) *Schema {
	s, err := NewSchema([]Column{
		{Name: "i", Type: TypeInt, NotNull: true},
		{Name: "s", Type: TypeVarchar, Length: 64},
		{Name: "t", Type: TypeTime, NotNull: true},
		{Name: "g", Type: TypeInt, NotNull: true},
	}, Distinct())
	require.NoError(tb, err)
	return s
}

// unionBatch is the bug report's 32,768 rows.
func unionBatch(tb testing.TB) *Batch {
	zip, err := gzip.NewReader(joinit.Open())
	require.NoError(tb, err)
	b := newJoinit(32768)
	for lines := bufio.NewScanner(zip); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		i, err := strconv.ParseInt(f[0], 10, 64)
		require.NoError(tb, err)
		var hh, mm, ss int64
		_, err = fmt.Sscanf(f[2], "%d:%d:%d", &hh, &mm, &ss)
		require.NoError(tb, err)
		g, err := strconv.ParseInt(f[3], 10, 64)
		require.NoError(tb, err)
		addJoinit(b, i, f[1], (hh*3600+mm*60+ss)*1e6, g)
	}
	require.Equal(tb, 32768, b.N)
	return b
}

func newJoinit(n int) *Batch {
	return &Batch{Cols: []Vector{
		{I64: make([]int64, 0, n)},
		{Off: append(make([]int32, 0, n+1), 0), Bytes: make([]byte, 0, 36*n)},
		{I64: make([]int64, 0, n)},
		{I64: make([]int64, 0, n)}}}
}

func addJoinit(b *Batch, i int64, s string, t, g int64) {
	b.N++
	b.Cols[0].I64 = append(b.Cols[0].I64, i)
	b.Cols[1].Bytes = append(b.Cols[1].Bytes, s...)
	b.Cols[1].Off = append(b.Cols[1].Off, int32(len(b.Cols[1].Bytes)))
	b.Cols[2].I64 = append(b.Cols[2].I64, t)
	b.Cols[3].I64 = append(b.Cols[3].I64, g)
}

// randomJoinit makes n rows of joinit's shape with random keys.
func randomJoinit(n int) *Batch {
	r := rand.New(rand.NewPCG(1, 2))
	b := newJoinit(n)
	for i := range n {
		s := fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", r.Uint32(), r.Uint32()&0xffff, r.Uint32()&0xffff, r.Uint32()&0xffff, r.Uint64()&(1<<48-1))
		addJoinit(b, int64(i), s, r.Int64N(86400)*1e6, r.Int64N(60))
	}
	return b
}

// shuffled returns the rows of b in random order.
func shuffled(b *Batch) *Batch {
	out := newJoinit(b.N)
	for _, k := range rand.New(rand.NewPCG(3, 4)).Perm(b.N) {
		c := b.Cols
		addJoinit(out, c[0].I64[k], string(c[1].Bytes[c[1].Off[k]:c[1].Off[k+1]]), c[2].I64[k], c[3].I64[k])
	}
	return out
}

// window is rows [from, to) of b, without a copy.
func window(b *Batch, from, to int, dst *Batch) {
	dst.N = to - from
	dst.Cols = append(dst.Cols[:0], b.Cols...)
	for i := range dst.Cols {
		v := &dst.Cols[i]
		if v.I64 != nil {
			v.I64 = v.I64[from:to]
		}
		if v.Off != nil {
			v.Off = v.Off[from : to+1]
		}
	}
}

// insertAll inserts b, 1,024 rows a call, and returns how many were added.
func insertAll(tb testing.TB, t *Table, b *Batch) (added int) {
	var w Batch
	res := make([]Result, 1024)
	for at := 0; at < b.N; at += 1024 {
		window(b, at, min(at+1024, b.N), &w)
		n, err := t.InsertBatch(context.Background(), &w, res)
		if err != nil || n != w.N {
			tb.Fatal(n, err)
		}
		for _, r := range res[:n] {
			if r.Added {
				added++
			}
		}
	}
	return added
}

// insertEach is insertAll row by row.
func insertEach(tb testing.TB, t *Table, b *Batch) (added int) {
	w := t.Writer(context.Background())
	c := b.Cols
	for k := range b.N {
		w.SetInt(0, c[0].I64[k])
		w.SetBytes(1, c[1].Bytes[c[1].Off[k]:c[1].Off[k+1]])
		w.SetInt(2, c[2].I64[k])
		w.SetInt(3, c[3].I64[k])
		_, ok, err := w.Insert()
		if err != nil {
			tb.Fatal(err)
		}
		if ok {
			added++
		}
	}
	return added
}

func scanAll(tb testing.TB, t *Table, b *Batch) (n int) {
	c := t.Cursor(ScanOptions{})
	defer c.Close()
	for {
		k, err := c.ReadBatch(context.Background(), b)
		if err != nil {
			tb.Fatal(err)
		}
		if k == 0 {
			return n
		}
		n += k
	}
}

type benchMode struct {
	name string
	o    Options
}

// spillRAM is half of what the joinit union takes in RAM.
const spillRAM = 1536 << 10

var benchModes = []benchMode{
	{"ram", Options{MaxRAM: 12 << 20, MaxMmap: Disabled, MaxDisk: Disabled}},
	{"mmap", Options{MaxRAM: spillRAM, MaxMmap: 1 << 30, MaxDisk: Disabled}},
	{"disk", Options{MaxRAM: spillRAM, MaxMmap: Disabled}},
}

// BenchmarkJoinit is the report's query: create, insert both sides, scan, drop.
// One operation is 65,536 input rows.
func BenchmarkJoinit(b *testing.B) {
	left := unionBatch(b)
	for _, order := range []string{"same", "random"} {
		right := left
		if order == "random" {
			right = shuffled(left)
		}
		for _, m := range benchModes {
			for _, api := range []string{"batch", "row"} {
				insert := insertAll
				if api == "row" {
					insert = insertEach
				}
				b.Run(fmt.Sprintf("mode=%s/order=%s/api=%s", m.name, order, api), func(b *testing.B) {
					benchUnion(b, m.o, left, right, insert)
				})
			}
		}
	}
}

func benchUnion(b *testing.B, o Options, left, right *Batch, insert func(testing.TB, *Table, *Batch) int) {
	o.Dir = b.TempDir()
	eng, err := Open(o)
	require.NoError(b, err)
	defer eng.Close()
	owner, err := eng.NewOwner("bench", Limits{})
	require.NoError(b, err)
	s := unionSchema(b)
	var out Batch
	run := func() {
		t, err := owner.Create(context.Background(), s)
		if err != nil {
			b.Fatal(err)
		}
		if n := insert(b, t, left); n != left.N {
			b.Fatal(n)
		}
		if n := insert(b, t, right); n != 0 {
			b.Fatal(n)
		}
		if n := scanAll(b, t, &out); n != left.N {
			b.Fatal(n)
		}
		if err := t.Drop(); err != nil {
			b.Fatal(err)
		}
	}
	run() // the pool is hot from here on
	before := eng.Stats().Disk
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		run()
	}
	rows := float64(b.N) * float64(left.N+right.N)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/rows, "ns/row")
	if after := eng.Stats().Disk; after.PageReads+after.PageWrites > 0 {
		b.ReportMetric(float64(after.PageReads-before.PageReads)/rows, "reads/row")
		b.ReportMetric(float64(after.PageWrites-before.PageWrites)/rows, "writes/row")
	}
}
