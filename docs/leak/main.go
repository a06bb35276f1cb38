// Command leak runs queries on an engine, and has a leak: docs/profiling.md
// shows how to find it. It prints what the engine's statistics say and writes
// an off-heap profile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spillway-db/spillway/temptable"
	"github.com/spillway-db/spillway/temptable/offheap"
)

func main() {
	queries := flag.Int("queries", 200, "how many queries to run")
	fixed := flag.Bool("fixed", false, "run without the leak")
	out := flag.String("out", "", "file for the off-heap profile")
	flag.Parse()
	if err := run(os.Stdout, *queries, *fixed, *out); err != nil {
		fmt.Fprintln(os.Stderr, "leak:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, queries int, fixed bool, out string) (err error) {
	eng, err := temptable.Open(temptable.Options{MaxRAM: 64 << 20, ProfileRate: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	session, err := eng.NewOwner("session 42", temptable.Limits{})
	if err != nil {
		return err
	}
	ex := executor{session: session, fixed: fixed}
	for q := range queries {
		if err := ex.query(q); err != nil {
			return err
		}
	}
	report(w, eng)
	return writeProfile(out, eng)
}

// executor runs the queries of one session.
type executor struct {
	session *temptable.Owner
	fixed   bool
}

// query is SELECT … FROM (SELECT DISTINCT …) UNION SELECT …: a derived table
// and a result. Every fourth one has a derived table that is empty.
func (ex *executor) query(q int) error {
	derived, err := ex.materialize("derived", q%4*500)
	if err != nil {
		return err
	}
	if derived.Len() == 0 {
		return ex.nothing(derived)
	}
	result, err := ex.materialize("result", 2000)
	if err != nil {
		return err
	}
	return errors.Join(derived.Drop(), result.Drop())
}

// nothing is the shortcut for a derived table without matching rows. It does
// not need the table any more, and forgets to say so.
func (ex *executor) nothing(derived *temptable.Table) error {
	if ex.fixed {
		return derived.Drop()
	}
	return nil
}

// materialize makes a table of n rows, and one that says where they end.
func (ex *executor) materialize(name string, n int) (*temptable.Table, error) {
	ctx := context.Background()
	schema, err := temptable.NewSchema([]temptable.Column{{Name: "id", Type: temptable.TypeBigInt, NotNull: true},
		{Name: "note", Type: temptable.TypeVarchar, Length: 64}}, temptable.Distinct())
	if err != nil {
		return nil, err
	}
	t, err := ex.session.Create(ctx, schema, temptable.Named(name))
	if err != nil {
		return nil, err
	}
	if err := fill(t.Writer(ctx), n); err != nil || n > 0 {
		return t, err
	}
	if err := fill(t.Writer(ctx), 300); err != nil { // rows that the filter drops
		return nil, err
	}
	return t, t.Truncate()
}

func fill(w *temptable.Writer, n int) error {
	for i := range n {
		w.SetInt(0, int64(i))
		w.SetString(1, "a note of some thirty characters")
		if _, _, err := w.Insert(); err != nil {
			return err
		}
	}
	return nil
}

// report prints the engine's numbers, and its tables by name.
func report(w io.Writer, eng *temptable.Engine) {
	s := eng.Stats()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "tables made\t%d\n", s.TablesCreated)
	fmt.Fprintf(t, "tables now\t%d\n", s.Live)
	fmt.Fprintf(t, "bytes of their rows\t%d\n", s.Bytes[temptable.RAM].Rows)
	fmt.Fprintf(t, "bytes of their indexes\t%d\n", s.Bytes[temptable.RAM].Index)
	fmt.Fprintf(t, "blocks created\t%d\n", s.Count.Created)
	fmt.Fprintf(t, "blocks reused\t%d\n", s.Count.Reused)
	fmt.Fprintf(t, "blocks freed\t%d\n", s.Count.Freed)
	byName := map[string]int{}
	for _, tab := range eng.Tables() {
		byName[tab.Owner+" "+tab.Name]++
	}
	for name, n := range byName {
		fmt.Fprintf(t, "of these, %s\t%d\n", name, n)
	}
	_ = t.Flush()
}

func writeProfile(name string, eng *temptable.Engine) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(offheap.Write(f, eng), f.Close())
}
