package input

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
)

// Generator makes two tables of the report's shape.
type Generator struct {
	// Rows is the number of rows of each table. Those on the left are distinct.
	Rows int
	// Dup is the share of the left rows, 0 to 1, that come again on the right,
	// first and in the same order; new rows follow.
	Dup  float64
	Seed uint64
}

// generatedSchema is that of the tables that a Generator makes.
var generatedSchema = Schema{
	{Name: "i", Type: Int, NotNull: true}, {Name: "s", Type: Varchar, Length: 64},
	{Name: "t", Type: Time, NotNull: true}, {Name: "g", Type: Int, NotNull: true},
}

// String says what is made.
func (g Generator) String() string {
	return fmt.Sprintf("generated: %s; i counts up, s is a random UUID, t a random time, g one of 60; seed %d",
		generatedSchema, g.Seed)
}

// Make returns the tables. The same Generator makes the same ones. m, if not
// nil, shows how far it is.
func (g Generator) Make(ctx context.Context, m *progress.Meter) (left, right *Table, err error) {
	task := m.Start("generate", progress.Rows, 2*int64(g.Rows))
	defer task.End()
	rnd := rand.New(rand.NewPCG(g.Seed, 0x5eed))
	left, right = NewTable(generatedSchema), NewTable(generatedSchema)
	again := int(g.Dup*float64(g.Rows) + 0.5)
	for k := range g.Rows {
		if k%1024 == 0 {
			task.Add(2 * 1024)
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
		}
		if err := left.generate(rnd, k+1); err != nil {
			return nil, nil, err
		}
		if k < again {
			if err := right.appendRow(left, k); err != nil {
				return nil, nil, err
			}
		}
	}
	for right.N < g.Rows {
		if err := right.generate(rnd, g.Rows+right.N-again+1); err != nil {
			return nil, nil, err
		}
	}
	return left, right, nil
}

// generate appends a row that i makes distinct.
func (t *Table) generate(rnd *rand.Rand, i int) error {
	t.Cols[0].appendInt(t.N, int64(i))
	a, b := rnd.Uint64(), rnd.Uint64()
	uuid := fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff|0x4000, b>>48&0x3fff|0x8000, b&(1<<48-1))
	if err := t.Cols[1].appendText(t.N, []byte(uuid)); err != nil {
		return err
	}
	t.Cols[2].appendInt(t.N, rnd.Int64N(24*3600)*1e6)
	t.Cols[3].appendInt(t.N, rnd.Int64N(60))
	t.N++
	return nil
}

// Shuffled returns the rows of t in a random order that seed decides.
func (t *Table) Shuffled(seed uint64) (*Table, error) {
	rnd := rand.New(rand.NewPCG(seed, 0x0de7))
	s := NewTable(t.Schema)
	for _, k := range rnd.Perm(t.N) {
		if err := s.appendRow(t, k); err != nil {
			return nil, err
		}
	}
	return s, nil
}
