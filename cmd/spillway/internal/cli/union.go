package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spillway-db/spillway/cmd/spillway/internal/host"
	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
)

// unionFlags are the flags of `spillway union`.
type unionFlags struct {
	source
	cfg     union.Config
	cycles  cycles
	format  string
	profile string
}

const unionHelp = `Run "select * from left union select * from right" as the old engine ran it, and
as Spillway runs it in RAM, on pooled mapped files and on the disk table, and
compare them on one screen. Without flags the tables are those of the bug report.`

const unionExamples = `  spillway union
  spillway union --max-ram 4MiB --mode legacy-8.0.19,legacy-8.0.21,mmap
  spillway union --rows 1000000 --order random --max-ram 256MiB --mode ram,mmap,disk
  spillway union --left a.tsv --right b.tsv.gz --schema 'id int, name varchar(64), at time' --null NULL
  spillway union --legacy-cycles full --mode legacy-8.0.19 --format json`

func newUnion() *cobra.Command {
	f := &unionFlags{}
	cmd := &cobra.Command{
		Use:     "union",
		Short:   "Join two tables as the old engine did, and as Spillway does",
		Long:    unionHelp,
		Example: unionExamples,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.register(cmd)
	return cmd
}

func (f *unionFlags) register(cmd *cobra.Command) {
	f.cfg.MaxRAM, f.cfg.MaxMmap = 12<<20, 1<<30
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringSliceVar(&f.cfg.Modes, "mode", union.Modes(), "what to run")
	fs.Var(byteSize{bytes: &f.cfg.MaxRAM}, "max-ram", "temptable_max_ram of the legacy modes and of ram")
	fs.Var(byteSize{bytes: &f.cfg.SpillRAM, word: "auto"}, "spill-ram", "the same of mmap and disk; auto: half of what ram takes")
	fs.Var(byteSize{bytes: &f.cfg.MaxMmap}, "max-mmap", "temptable_max_mmap of ram and mmap")
	fs.StringVar(&f.cfg.Dir, "dir", os.TempDir(), "where files are made; they have no names")
	fs.IntVar(&f.cfg.Count, "count", 5, "samples of each mode, in turn")
	fs.StringVar(&f.cfg.Pool, "pool", union.Hot, "the pool of files before a sample: "+strings.Join(union.Pools(), ", "))
	fs.Var(&f.cycles, "legacy-cycles", "files that the legacy modes really make; auto: for 2 s, and 20 at least")

	fs.StringVar(&f.left, "left", "", "left table: tab-separated text, gzip too")
	fs.StringVar(&f.right, "right", "", "right table")
	fs.StringVar(&f.schema, "schema", "", "their columns, as in 'i int, s varchar(64), t time, g int'")
	fs.StringVar(&f.source.format.Null, "null", `\N`, "the text of NULL (the mysql client writes NULL)")
	fs.BoolVar(&f.source.format.Header, "header", false, "the first line has names")
	fs.IntVar(&f.gen.Rows, "rows", 0, "generate tables of N rows instead, distinct on the left")
	fs.Float64Var(&f.gen.Dup, "dup", 1, "share of them that comes again on the right, before new ones")
	fs.StringVar(&f.order, "order", "same", "order of the right table: same, random")
	fs.Uint64Var(&f.gen.Seed, "seed", 1, "of generated rows and of the random order")

	fs.StringVar(&f.format, "format", "text", strings.Join(report.Formats(), ", "))
	fs.StringVar(&f.profile, "profile", "", "write a profile of the run into the working directory: "+strings.Join(profiles(), ", "))
}

func (f *unionFlags) validate() error {
	var faults []error
	if !slices.Contains(report.Formats(), f.format) {
		faults = append(faults, fmt.Errorf("%w: --format is one of %s", errUsage, strings.Join(report.Formats(), ", ")))
	}
	if f.profile != "" && !slices.Contains(profiles(), f.profile) {
		faults = append(faults, fmt.Errorf("%w: --profile is one of %s", errUsage, strings.Join(profiles(), ", ")))
	}
	f.cfg.LegacyCycles = int(f.cycles)
	return errors.Join(append(faults, f.source.validate(), f.cfg.Validate())...)
}

func (f *unionFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	if err := f.validate(); err != nil {
		return err
	}
	in, err := f.load(ctx)
	if err != nil {
		return err
	}
	f.cfg.Left, f.cfg.Right = in.left, in.right
	if f.cfg.Answer, err = input.Expect(ctx, in.left, in.right); err != nil {
		return err
	}
	f.cfg.Watch = watch(stderr)
	if h := host.Describe(f.cfg.Dir); h.InRAM {
		fmt.Fprintf(stderr, "%s is in RAM (%s): what spills there saves no memory; see --dir\n", h.Dir, h.FileSystem)
	}
	res, err := f.measure(ctx, stderr)
	if res == nil {
		return err
	}
	return errors.Join(err, report.Write(stdout, f.report(in, res), f.format))
}

// measure runs the modes under the profile that was asked for.
func (f *unionFlags) measure(ctx context.Context, stderr io.Writer) (*union.Result, error) {
	stop := startProfile(f.profile, stderr)
	defer stop()
	return union.Run(ctx, f.cfg)
}

func (f *unionFlags) report(in tables, res *union.Result) *report.Report {
	r := &report.Report{
		Schema: report.SchemaName, Options: f.options(res), Host: host.Describe(f.cfg.Dir),
		Input: in.about, Expected: expected(f.cfg.Answer), Runs: res.Runs,
	}
	r.SetRatios()
	return r
}

func expected(a input.Answer) report.Expected {
	return report.Expected{Rows: a.Rows, Checksum: a.Checksum, LeftDuplicates: a.LeftDup, RightDuplicates: a.RightDup}
}

func (f *unionFlags) options(res *union.Result) report.Options {
	v, commit := build()
	return report.Options{
		Modes: f.cfg.Modes, MaxRAM: f.cfg.MaxRAM, MaxMmap: f.cfg.MaxMmap,
		SpillRAM: res.SpillRAM, SpillRAMAuto: f.cfg.SpillRAM == 0, Dir: f.cfg.Dir, Count: f.cfg.Count, Pool: f.cfg.Pool,
		LegacyCycles: f.cycles.String(), Left: f.left, Right: f.right, Null: f.source.format.Null,
		Header: f.source.format.Header, TableSchema: f.cfg.Left.Schema.String(), Rows: f.gen.Rows, Dup: f.gen.Dup,
		Order: f.order, Seed: f.gen.Seed, Format: f.format, Profile: f.profile,
		Version: v, Commit: commit, GOMAXPROCS: runtime.GOMAXPROCS(0),
	}
}
