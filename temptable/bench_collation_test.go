package temptable

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/spillway-db/spillway/temptable/collation"
	"github.com/stretchr/testify/require"
)

// BenchmarkCollation is the report's query with a collation. It runs binary in
// turn with it and compares the shortest times, so that what else the machine
// does matters less.
func BenchmarkCollation(b *testing.B) {
	left := unionBatch(b)
	rights := map[string]*Batch{"same": left, "random": shuffled(left)}
	for _, name := range collation.Names() {
		for _, order := range []string{"same", "random"} {
			for _, api := range []string{"batch", "row"} {
				insert := insertAll
				if api == "row" {
					insert = insertEach
				}
				b.Run(fmt.Sprintf("collation=%s/order=%s/api=%s", name, order, api), func(b *testing.B) {
					c, err := collation.ByName(name)
					require.NoError(b, err)
					benchCollation(b, c, left, rights[order], insert)
				})
			}
		}
	}
}

func benchCollation(b *testing.B, c Collation, left, right *Batch, insert func(testing.TB, *Table, *Batch) int) {
	_, owner := openTest(b, benchModes[0].o)
	best := [2]time.Duration{time.Hour, time.Hour}
	schemas := [2]*Schema{collatedUnion(b, nil), collatedUnion(b, c)}
	for b.Loop() {
		for i, s := range schemas {
			start := time.Now()
			unionOnce(b, owner, s, left, right, insert)
			best[i] = min(best[i], time.Since(start))
		}
	}
	b.ReportMetric(float64(best[1])/float64(best[0]), "x-binary")
	b.ReportMetric(float64(best[1].Nanoseconds())/float64(left.N+right.N), "ns/row")
}

func collatedUnion(tb testing.TB, c Collation) *Schema {
	cols := make([]Column, 0, 4)
	base := unionSchema(tb)
	for i := range base.NumCols() {
		cols = append(cols, base.Column(i))
	}
	cols[1].Collation = c
	s, err := NewSchema(cols, Distinct())
	require.NoError(tb, err)
	return s
}

func unionOnce(b *testing.B, owner *Owner, s *Schema, left, right *Batch, insert func(testing.TB, *Table, *Batch) int) {
	t, err := owner.Create(context.Background(), s)
	if err != nil {
		b.Fatal(err)
	}
	var out Batch
	if n := insert(b, t, left) + insert(b, t, right); n != left.N || scanAll(b, t, &out) != n {
		b.Fatal(n)
	}
	if err := t.Drop(); err != nil {
		b.Fatal(err)
	}
}
