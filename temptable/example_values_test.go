package temptable_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spillway-db/spillway/temptable"
	"github.com/spillway-db/spillway/temptable/collation"
)

// Setters take Go values; their errors come out of Insert.
func ExampleWriter_setters() {
	eng, t := open([]temptable.Column{
		{Name: "n", Type: temptable.TypeTinyInt},
		{Name: "price", Type: temptable.TypeDecimal, Length: 10, Scale: 2},
		{Name: "took", Type: temptable.TypeTime, FSP: 3},
		{Name: "ratio", Type: temptable.TypeDouble},
		{Name: "note", Type: temptable.TypeText},
	})
	defer eng.Close()
	w := t.Writer(context.Background())
	w.SetInt(0, -5)
	w.SetString(1, "19.9")
	w.SetTime(2, 90*time.Second+250*time.Millisecond)
	w.SetFloat(3, math.Pi)
	id, _, err := w.Insert() // the note was not set: it is NULL
	if err != nil {
		log.Fatal(err)
	}
	var buf temptable.RowBuffer
	row, err := t.Get(id, &buf)
	if err != nil {
		log.Fatal(err)
	}
	for i := range row.NumCols() {
		fmt.Printf("%s|", row.AppendText(nil, i))
	}
	fmt.Println(row.IsNull(4))

	w.SetInt(0, 1000)
	_, _, err = w.Insert()
	fmt.Println(err)
	// Output:
	// -5|19.90|00:01:30.250|3.141592653589793||true
	// temptable: insert into table: temptable: value out of range: column 0 (n)
}

// A collation decides what is equal, for DISTINCT as for indexes and orders.
func ExampleCollation() {
	ci, err := collation.ByName("utf8mb4_0900_ai_ci")
	if err != nil {
		log.Fatal(err)
	}
	eng, t := open([]temptable.Column{{Name: "city", Type: temptable.TypeVarchar, Collation: ci}}, temptable.Distinct())
	defer eng.Close()
	w := t.Writer(context.Background())
	for _, city := range []string{"Malmö", "MALMO", "Malmo ", "Lund"} {
		w.SetString(0, city)
		_, added, err := w.Insert()
		fmt.Printf("%q %t %v\n", city, added, err)
	}
	// Output:
	// "Malmö" true <nil>
	// "MALMO" false <nil>
	// "Malmo " true <nil>
	// "Lund" true <nil>
}

// A blob goes in from a reader and out to a writer, some KiB at a time.
func ExampleWriter_SetReader() {
	eng, t := open([]temptable.Column{
		{Name: "id", Type: temptable.TypeInt},
		{Name: "page", Type: temptable.TypeBlob},
	}, temptable.Distinct())
	defer eng.Close()
	ctx := context.Background()
	w := t.Writer(ctx)
	for range 2 {
		w.SetInt(0, 7)
		w.SetReader(1, io.LimitReader(endless{}, 8<<20)) // 8 times the engine's RAM
		id, added, err := w.Insert()
		fmt.Println(added, err)
		n, err := t.Stream(ctx, id, 1, io.Discard)
		fmt.Println(n, err)
	}
	// Output:
	// true <nil>
	// 8388608 <nil>
	// false <nil>
	// 8388608 <nil>
}

// endless is a reader of spaces.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, strings.Repeat(" ", len(p))), nil }

// A scan may leave large values out and stream those that it wants.
func ExampleCursor_Stream() {
	eng, t := open([]temptable.Column{{Name: "doc", Type: temptable.TypeText}})
	defer eng.Close()
	ctx := context.Background()
	w := t.Writer(ctx)
	for _, n := range []int{3, 2000} {
		w.SetReader(0, strings.NewReader(strings.Repeat("spill.", n)))
		if _, _, err := w.Insert(); err != nil {
			log.Fatal(err)
		}
	}
	c := t.Cursor(temptable.ScanOptions{SkipLarge: true})
	defer c.Close()
	for {
		ok, err := c.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		if !ok {
			break
		}
		fmt.Println(c.Row().Len(0), len(c.Row().Bytes(0)))
		if c.Row().Len(0) < 100 {
			_, _ = c.Stream(ctx, 0, os.Stdout)
			fmt.Println()
		}
	}
	// Output:
	// 18 18
	// spill.spill.spill.
	// 12000 0
}

// An executor with rows of its own gives the key that decides, and the rest.
func ExampleWriter_InsertEncoded() {
	eng, err := temptable.Open(temptable.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	session, err := eng.NewOwner("session", temptable.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	t, err := session.Create(context.Background(), temptable.EncodedSchema())
	if err != nil {
		log.Fatal(err)
	}
	w := t.Writer(context.Background())
	for _, payload := range []string{"first", "second"} {
		_, added, err := w.InsertEncoded([]byte("key"), []byte(payload))
		fmt.Println(added, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}
