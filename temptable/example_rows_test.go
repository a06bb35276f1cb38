package temptable_test

import (
	"context"
	"fmt"

	"github.com/spillway-db/spillway/temptable"
)

// UNION: a row that is there already is told apart at once, and costs nothing.
func ExampleWriter_Insert() {
	ctx := context.Background()
	eng, t := open(twoInts, temptable.Distinct())
	defer eng.Close()
	w := t.Writer(ctx)
	for _, r := range [][2]int64{{1, 1}, {1, 2}, {1, 1}} {
		w.SetInt(0, r[0])
		w.SetInt(1, r[1])
		_, added, err := w.Insert()
		fmt.Println(r, added, err)
	}
	// Output:
	// [1 1] true <nil>
	// [1 2] true <nil>
	// [1 1] false <nil>
}

// Several unique indexes: the one that refuses a row is named, and no other has
// it.
func ExampleWriter_Conflict() {
	ctx := context.Background()
	eng, t := open(twoInts)
	defer eng.Close()
	t.AddIndex(ctx, temptable.IndexSpec{Name: "k", Key: temptable.Asc(0), Unique: true})
	v, _ := t.AddIndex(ctx, temptable.IndexSpec{Name: "v", Key: temptable.Asc(1), Unique: true, Ordered: true})
	w := t.Writer(ctx)
	for _, r := range [][2]int64{{1, 10}, {2, 10}, {2, 20}} {
		w.SetInt(0, r[0])
		w.SetInt(1, r[1])
		_, added, _ := w.Insert()
		fmt.Println(r, added, w.Conflict().Index == v)
	}
	// Output:
	// [1 10] true false
	// [2 10] false true
	// [2 20] true false
}

// A window function: a partition's rows are read by their saved ids, in any
// order, then the table is emptied for the next one and keeps its memory.
func ExampleTable_GetBatch() {
	ctx := context.Background()
	eng, t := open(twoInts)
	defer eng.Close()
	w := t.Writer(ctx)
	var buf temptable.RowBuffer
	rows := make([]temptable.Row, 3)
	for partition := range int64(2) {
		var ids []temptable.RowID
		for i := range int64(5) {
			w.SetInt(0, partition)
			w.SetInt(1, 10*partition+i)
			id, _, _ := w.Insert()
			ids = append(ids, id)
		}
		for at := range 3 { // the frame of three rows from each row on
			n, err := t.GetBatch(ids[at:], rows, &buf)
			if err != nil {
				fmt.Println(err)
			}
			sum := int64(0)
			for _, r := range rows[:n] {
				sum += r.Int(1)
			}
			fmt.Print(sum, " ")
		}
		t.Truncate()
	}
	fmt.Println()
	// Output: 3 6 9 33 36 39
}

// A table that is read for the last time gives its memory back meanwhile.
func ExampleTable_Consume() {
	ctx := context.Background()
	eng, t := open(twoInts)
	defer eng.Close()
	w := t.Writer(ctx)
	for i := range int64(3) {
		w.SetInt(0, i)
		w.Insert()
	}
	c, _ := t.Consume()
	defer c.Close()
	for ok, _ := c.Next(ctx); ok; ok, _ = c.Next(ctx) {
		fmt.Print(c.Row().Int(0), " ")
	}
	fmt.Println()
	// Output: 0 1 2
}
