package temptable_test

import (
	"context"
	"fmt"

	"github.com/spillway-db/spillway/temptable"
)

// open makes an engine with one table, for the examples.
func open(cols []temptable.Column, opts ...temptable.SchemaOption) (*temptable.Engine, *temptable.Table) {
	eng, err := temptable.Open(temptable.Options{MaxRAM: 1 << 20})
	if err != nil {
		panic(err)
	}
	owner, err := eng.NewOwner("example", temptable.Limits{})
	if err != nil {
		panic(err)
	}
	schema, err := temptable.NewSchema(cols, opts...)
	if err != nil {
		panic(err)
	}
	t, err := owner.Create(context.Background(), schema)
	if err != nil {
		panic(err)
	}
	return eng, t
}

var twoInts = []temptable.Column{{Name: "k", Type: temptable.TypeInt, NotNull: true}, {Name: "v", Type: temptable.TypeInt}}

// GROUP BY: the first row of a key makes the group, the others are added to it.
func ExampleUpserter() {
	ctx := context.Background()
	eng, t := open(twoInts, temptable.Distinct(0))
	defer eng.Close()
	u, _ := t.Upserter(ctx, temptable.Fold{Col: 1, Op: temptable.Add})
	for _, r := range [][2]int64{{1, 10}, {2, 20}, {1, 5}} {
		u.SetInt(0, r[0])
		u.SetInt(1, r[1])
		if _, _, err := u.Upsert(); err != nil {
			fmt.Println(err)
		}
	}
	for row := range t.Rows(ctx) {
		fmt.Println(row.Int(0), row.Int(1))
	}
	// Output:
	// 1 15
	// 2 20
}

// INTERSECT ALL: the left side is counted, each row of the right side takes one
// from its counter and comes out while there was one.
func ExampleTable_Handle() {
	ctx := context.Background()
	eng, t := open(twoInts, temptable.Distinct(0))
	defer eng.Close()
	left, _ := t.Upserter(ctx, temptable.Fold{Col: 1, Op: temptable.Add})
	for _, k := range []int64{1, 1, 2} {
		left.SetInt(0, k)
		left.SetInt(1, 1)
		left.Upsert()
	}
	right := t.Index("distinct").Cursor()
	defer right.Close()
	for _, k := range []int64{1, 1, 1, 3} {
		right.SetInt(0, k)
		found, _ := right.Find(ctx)
		if !found {
			continue
		}
		if n, _ := t.Handle(right.ID()).AddInt(1, -1); n >= 0 {
			fmt.Println(k)
		}
	}
	// Output:
	// 1
	// 1
}

// A derived table gets an index when its rows are there: exact lookups, and all
// rows of a key.
func ExampleTable_AddIndex() {
	ctx := context.Background()
	eng, t := open(twoInts)
	defer eng.Close()
	w := t.Writer(ctx)
	for i := range int64(6) {
		w.SetInt(0, i%2)
		w.SetInt(1, i)
		w.Insert()
	}
	x, _ := t.AddIndex(ctx, temptable.IndexSpec{Name: "auto_key", Key: temptable.Asc(0)})
	c := x.Cursor()
	defer c.Close()
	c.SetInt(0, 1)
	for ok, err := c.Find(ctx); ok && err == nil; ok, err = c.NextSame(ctx) {
		row, _ := c.Row()
		fmt.Println(row.Int(1))
	}
	// Output:
	// 1
	// 3
	// 5
}

// A range of an ordered index, backward, and one row for each key.
func ExampleIndexCursor() {
	ctx := context.Background()
	eng, t := open(twoInts)
	defer eng.Close()
	w := t.Writer(ctx)
	for i := range int64(10) {
		w.SetInt(0, i/2)
		w.SetInt(1, i)
		w.Insert()
	}
	x, _ := t.AddIndex(ctx, temptable.IndexSpec{Name: "k", Key: temptable.Asc(0), Ordered: true})
	c := x.Cursor()
	defer c.Close()
	c.SetInt(0, 2)
	c.Stop(temptable.AtOrAfter, 1)
	c.SetInt(0, 4)
	for ok, _ := c.Seek(ctx, temptable.Before, 1); ok; ok, _ = c.Prev(ctx) {
		row, _ := c.Row()
		fmt.Print(row.Int(1), " ")
	}
	c.Stop(0, 0)
	for ok, _ := c.First(ctx); ok; ok, _ = c.NextGroup(ctx, 1) {
		row, _ := c.Row()
		fmt.Print("| ", row.Int(0))
	}
	fmt.Println()
	// Output:
	// 7 6 5 4 | 0| 1| 2| 3| 4
}

// A recursive CTE reads its own tail: rows that it adds come out later.
func ExampleCursor_tail() {
	ctx := context.Background()
	eng, t := open(twoInts)
	defer eng.Close()
	w := t.Writer(ctx)
	w.SetInt(0, 1)
	w.Insert()
	c := t.Cursor(temptable.ScanOptions{})
	defer c.Close()
	for ok, _ := c.Next(ctx); ok; ok, _ = c.Next(ctx) {
		n := c.Row().Int(0)
		fmt.Print(n, " ")
		if n < 32 {
			w.SetInt(0, 2*n)
			w.Insert()
		}
	}
	fmt.Println()
	// Output: 1 2 4 8 16 32
}

// Rows are updated and deleted by id while a scan is under way.
func ExampleUpdater() {
	ctx := context.Background()
	eng, t := open(twoInts)
	defer eng.Close()
	w := t.Writer(ctx)
	for i := range int64(4) {
		w.SetInt(0, i)
		w.Insert()
	}
	u := t.Updater(ctx)
	c := t.Cursor(temptable.ScanOptions{})
	defer c.Close()
	for ok, _ := c.Next(ctx); ok; ok, _ = c.Next(ctx) {
		if k := c.Row().Int(0); k%2 == 1 {
			t.Delete(ctx, c.ID())
			continue
		}
		u.Load(c.ID())
		u.SetInt(1, 100)
		u.Update()
	}
	for row := range t.Rows(ctx) {
		fmt.Println(row.Int(0), row.Int(1))
	}
	// Output:
	// 0 100
	// 2 100
}

// One statement is undone.
func ExampleSavepoint() {
	ctx := context.Background()
	eng, t := open(twoInts)
	defer eng.Close()
	w := t.Writer(ctx)
	w.SetInt(0, 1)
	id, _, _ := w.Insert()
	s, _ := t.Savepoint()
	w.SetInt(0, 2)
	w.Insert()
	t.Delete(ctx, id)
	s.RollbackTo(ctx)
	s.Release()
	for row := range t.Rows(ctx) {
		fmt.Println(row.Int(0))
	}
	// Output: 1
}

// DISTINCT … LIMIT: Insert tells at once whether the row is new.
func ExampleWriter_limit() {
	ctx := context.Background()
	eng, t := open(twoInts, temptable.Distinct(0))
	defer eng.Close()
	w := t.Writer(ctx)
	read := 0
	for _, k := range []int64{7, 7, 8, 7, 9, 10, 11} {
		read++
		w.SetInt(0, k)
		if _, added, _ := w.Insert(); added {
			fmt.Println(k)
		}
		if t.Len() == 2 {
			break
		}
	}
	fmt.Println("read", read)
	// Output:
	// 7
	// 8
	// read 3
}
