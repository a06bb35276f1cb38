package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
	"github.com/spillway-db/spillway/testdata/joinit"
)

// source is the flags that say what is joined.
type source struct {
	left, right string
	schema      string
	format      input.Format
	gen         input.Generator
	order       string
}

// tables are the two sides, and what they are.
type tables struct {
	left, right *input.Table
	about       report.Input
}

func (s *source) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&s.left, "left", "", "left table: tab-separated text, gzip too")
	fs.StringVar(&s.right, "right", "", "right table")
	fs.StringVar(&s.schema, "schema", "", "their columns, as in 'i int, s varchar(64) collate utf8mb4_bin, t time'")
	fs.StringVar(&s.format.Null, "null", `\N`, "the text of NULL (the mysql client writes NULL)")
	fs.BoolVar(&s.format.Header, "header", false, "the first line has names")
	fs.IntVar(&s.gen.Rows, "rows", 0, "generate tables of N rows instead, distinct on the left")
	fs.Float64Var(&s.gen.Dup, "dup", 1, "share of them that comes again on the right, before new ones")
	fs.StringVar(&s.order, "order", "same", "order of the right table: same, random")
	fs.Uint64Var(&s.gen.Seed, "seed", 1, "of generated rows and of the random order")
	choices(cmd, "order", []string{"same", "random"})
}

// validate reports flags that contradict each other.
func (s *source) validate() error {
	files := s.left != "" || s.right != ""
	switch {
	case s.order != "same" && s.order != "random":
		return fmt.Errorf("%w: --order is same or random", errUsage)
	case files && (s.left == "" || s.right == "" || s.schema == ""):
		return fmt.Errorf("%w: --left, --right and --schema belong together", errUsage)
	case files && s.gen.Rows > 0:
		return fmt.Errorf("%w: --rows generates tables, --left and --right read them", errUsage)
	case s.gen.Rows < 0 || !(s.gen.Dup >= 0 && s.gen.Dup <= 1):
		return fmt.Errorf("%w: --rows must not be negative, and --dup be from 0 to 1", errUsage)
	}
	return nil
}

// load reads or makes the tables.
func (s *source) load(ctx context.Context, m *progress.Meter) (t tables, err error) {
	switch {
	case s.gen.Rows > 0:
		t, err = s.generate(ctx, m)
	case s.left != "":
		t, err = s.files(ctx, m)
	default:
		t, err = embedded(ctx)
	}
	if err != nil {
		return t, err
	}
	if s.order == "random" {
		if t.right, err = t.right.Shuffled(s.gen.Seed); err != nil {
			return t, err
		}
	}
	t.about.Order = s.order
	t.about.Left.Rows, t.about.Right.Rows = t.left.N, t.right.N
	return t, nil
}

func embedded(ctx context.Context) (t tables, err error) {
	schema, err := input.ParseSchema(joinit.Schema)
	if err != nil {
		return t, err
	}
	t.left, err = input.Read(ctx, joinit.Open(), schema, input.Format{Null: `\N`})
	t.right = t.left
	t.about = report.Input{Left: report.Side{Name: "joinit"}, Right: report.Side{Name: "joinit2"},
		Source: "the bug report's tables", Report: true}
	return t, err
}

func (s *source) generate(ctx context.Context, m *progress.Meter) (t tables, err error) {
	t.left, t.right, err = s.gen.Make(ctx, m)
	t.about = report.Input{Left: report.Side{Name: "left"}, Right: report.Side{Name: "right"}, Source: s.gen.String()}
	return t, err
}

func (s *source) files(ctx context.Context, m *progress.Meter) (t tables, err error) {
	schema, err := input.ParseSchema(s.schema)
	if err != nil {
		return t, fmt.Errorf("%w: --schema: %w", errUsage, err)
	}
	if t.left, err = input.ReadFile(ctx, s.left, schema, s.format, m); err != nil {
		return t, err
	}
	if t.right, err = input.ReadFile(ctx, s.right, schema, s.format, m); err != nil {
		return t, err
	}
	t.about = report.Input{Left: report.Side{Name: filepath.Base(s.left)}, Right: report.Side{Name: filepath.Base(s.right)},
		Source: "files"}
	return t, nil
}
