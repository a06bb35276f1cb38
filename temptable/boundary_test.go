package temptable

import (
	"context"
	"fmt"
	"testing"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/stretchr/testify/require"
)

// Rows of 64 bytes tile pages and blocks exactly, so that a row of any number
// can be made the first one of a new block.
func tileSchema(t *testing.T) *Schema {
	s, err := NewSchema([]Column{{Name: "n", Type: TypeBigInt, NotNull: true}, {Name: "s", Type: TypeVarbinary}}, Distinct())
	require.NoError(t, err)
	return s
}

// tileHead is what a row of the schema takes beside its string: header, null
// bits, the integer, one end offset.
const tileHead = 2 + 1 + 8 + 2

// boundary is one run over a boundary between tiers.
type boundary struct {
	t   *testing.T
	tab *Table
	w   *Writer
	ids []RowID
	buf RowBuffer
}

func (b *boundary) row(n, size int) {
	b.w.SetInt(0, int64(n))
	b.w.SetBytes(1, make([]byte, size-tileHead))
}

// insert adds row n and then offers it again: the verdict on it must be right
// whatever moved meanwhile.
func (b *boundary) insert(n, size int) {
	b.row(n, size)
	id, added, err := b.w.Insert()
	if err != nil || !added {
		b.t.Fatalf("row %d: added %v, %v", n, added, err)
	}
	b.row(n, size)
	again, added, err := b.w.Insert()
	if err != nil || added || again != id {
		b.t.Fatalf("row %d again: id %x, then %x, added %v, %v", n, id, again, added, err)
	}
	b.ids = append(b.ids, id)
}

// check compares everything that can be asked with what was inserted.
func (b *boundary) check(c *Cursor, next int) {
	for n, id := range b.ids {
		row, err := b.tab.Get(id, &b.buf)
		if err != nil || row.Int(0) != int64(n) {
			b.t.Fatalf("row %d by id: %d, %v", n, row.Int(0), err)
		}
		b.row(n, len(row.Bytes(1))+tileHead)
		if got, added, err := b.w.Insert(); err != nil || added || got != id {
			b.t.Fatalf("duplicate of row %d: id %x for %x, added %v, %v", n, got, id, added, err)
		}
	}
	b.drain(c, next)
	fresh := b.tab.Cursor(ScanOptions{})
	b.drain(fresh, 0)
	fresh.Close()
}

// drain reads c to its end: rows next, next+1, … of the table.
func (b *boundary) drain(c *Cursor, next int) {
	for ; ; next++ {
		ok, err := c.Next(context.Background())
		if err != nil {
			b.t.Fatal(err)
		}
		if !ok {
			break
		}
		if c.Row().Int(0) != int64(next) || c.ID() != b.ids[next] {
			b.t.Fatalf("scan: row %d is %d, id %x", next, c.Row().Int(0), c.ID())
		}
	}
	if next != len(b.ids) {
		b.t.Fatalf("scan: %d rows of %d", next, len(b.ids))
	}
}

// transition is a way from one tier to the next one.
type transition struct {
	name     string
	o        Options
	from, to Tier
	start    Limits                     // of the table
	at       func(used [3]int64) Limits // from the row on that must go down
}

var transitions = []transition{
	{"ram-mmap", Options{MaxRAM: 8 << 20, MaxDisk: Disabled}, RAM, Mmap, Limits{},
		func(used [3]int64) Limits { return Limits{RAM: used[RAM]} }},
	{"ram-disk", Options{MaxRAM: 8 << 20, MaxMmap: Disabled}, RAM, Disk, Limits{},
		func(used [3]int64) Limits { return Limits{RAM: used[RAM]} }},
	{"mmap-disk", Options{MaxRAM: 8 << 20}, Mmap, Disk, Limits{RAM: Disabled},
		func(used [3]int64) Limits { return Limits{RAM: Disabled, Mmap: used[Mmap]} }},
}

// Wrong results at the boundary between two tiers are the worst fault that
// there is: here each of the rows 1 to 2,000 is, in a run of its own, the first
// one of the first block on the lower tier.
func TestEveryRowAtTheBoundary(t *testing.T) {
	last, step := 2000, 1
	if raceEnabled || testing.Short() {
		step = 61
	}
	for _, named := range []bool{false, true} {
		for _, tr := range transitions {
			t.Run(fmt.Sprintf("%s/named=%v", tr.name, named), func(t *testing.T) {
				fs := sys.NewFaulty(sys.Default())
				if named { // O_TMPFILE is refused: files are created and unlinked
					fs = sys.NewFaulty(sys.Named())
				}
				tr.o.fs = fs
				_, owner := openTest(t, tr.o)
				s := tileSchema(t)
				for k := 1; k <= last; k += step {
					crossAt(t, owner, s, tr, k)
				}
			})
		}
	}
}

// crossAt makes row k, counted from 1 behind fillers, the first one on the
// lower tier.
func crossAt(t *testing.T, owner *Owner, s *Schema, tr transition, k int) {
	tab := createTest(t, owner, s, Limited(tr.start))
	defer func() { require.NoError(t, tab.Drop()) }()
	b := &boundary{t: t, tab: tab, w: tab.Writer(context.Background())}
	n := b.fill(k)
	c := tab.Cursor(ScanOptions{})
	defer c.Close()
	read := 0
	for range k - 1 {
		b.insert(n, 64)
		n++
		if n%7 == 0 { // a cursor that is somewhere in the middle
			ok, err := c.Next(context.Background())
			require.True(t, ok && err == nil)
			read++
		}
	}
	before := tab.Stats()
	require.Zero(t, before.Bytes[tr.to].Rows, "row %d: too early", k)
	require.NotZero(t, before.Bytes[tr.from].Rows)
	tab.SetLimits(tr.at([3]int64{before.Bytes[RAM].Total(), before.Bytes[Mmap].Total(), before.Bytes[Disk].Total()}))
	b.insert(n, 64)
	require.NotZero(t, tab.Stats().Bytes[tr.to].Rows, "row %d: too late", k)
	for range 20 {
		n++
		b.insert(n, 64)
	}
	b.check(c, read)
}

// fill inserts rows such that k-1 rows of 64 bytes later a block is full.
func (b *boundary) fill(k int) (n int) {
	const page = 16 << 10
	total := (k-1)*64 + 64
	fill := (total+page-1)/page*page - (k-1)*64
	for fill > 0 {
		size := min(fill, 4096)
		b.insert(n, size)
		fill -= size
		n++
	}
	return n
}
