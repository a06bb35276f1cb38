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
	"github.com/spillway-db/spillway/cmd/spillway/internal/picture"
	"github.com/spillway-db/spillway/cmd/spillway/internal/prof"
	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
)

// unionFlags are the flags of `spillway union`.
type unionFlags struct {
	source
	cfg        union.Config
	cycles     cycles
	format     string
	profile    string
	html, plot string
	plotRows   int
}

const unionHelp = `Run "select * from left union select * from right" as the old engine ran it, and
as Spillway runs it in RAM, on pooled mapped files and on the disk table, and
compare them on one screen. Without flags the tables are those of the bug report.

--schema takes MySQL's types: integers, BIT, YEAR, ENUM, SET, FLOAT, DOUBLE, DECIMAL,
DATE, TIME, DATETIME, TIMESTAMP (in UTC), CHAR, VARCHAR, BINARY, VARBINARY, TEXT, BLOB,
JSON, GEOMETRY; NOT NULL; and COLLATE with binary (the default), ascii_general_ci,
latin1_swedish_ci (the report's), utf8mb4_bin, utf8mb4_general_ci, utf8mb4_0900_ai_ci or
utf8mb4_0900_as_cs. The text is UTF-8.`

const unionExamples = `  spillway union
  spillway union --html report.html --plot report.png
  spillway union --max-ram 4MiB --mode legacy-8.0.19,legacy-8.0.21,mmap
  spillway union --rows 1000000 --order random --max-ram 256MiB --mode ram,mmap,disk
  spillway union --left a.tsv --right b.tsv.gz --null NULL \
      --schema 'id int, name varchar(64) collate utf8mb4_0900_ai_ci, at datetime(3), price decimal(10,2)'
  spillway union --legacy-cycles full --mode legacy-8.0.19 --format json`

func newUnion(c *console) *cobra.Command {
	f := &unionFlags{}
	cmd := &cobra.Command{
		Use:     "union",
		Short:   "Join two tables as the old engine did, and as Spillway does",
		Long:    unionHelp,
		Example: unionExamples,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), c) },
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

	f.source.register(cmd)

	fs.StringVar(&f.format, "format", "text", strings.Join(report.Formats(), ", "))
	fs.StringVar(&f.html, "html", "", "write a page with tables and pictures, in one file")
	fs.StringVar(&f.plot, "plot", "", "write the pictures as one .svg or .png")
	fs.IntVar(&f.plotRows, "plot-rows", 0, "largest generated table in the pictures (default 1,048,576 rows)")
	fs.StringVar(&f.profile, "profile", "", "write a profile of the run into the working directory: "+strings.Join(prof.GoKinds(), ", "))
	f.complete(cmd)
}

// complete tells shells what the flags take.
func (f *unionFlags) complete(cmd *cobra.Command) {
	choices(cmd, "mode", union.Modes())
	choices(cmd, "pool", union.Pools())
	choices(cmd, "format", report.Formats())
	choices(cmd, "profile", prof.GoKinds())
	choices(cmd, "legacy-cycles", []string{"auto", "full"})
	choices(cmd, "spill-ram", []string{"auto"})
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.MarkFlagFilename("html", "html")
	_ = cmd.MarkFlagFilename("plot", "svg", "png")
}

// choices tells shells the values of a flag.
func choices(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func (f *unionFlags) validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{errUsage}, args...)...))
	}
	if !slices.Contains(report.Formats(), f.format) {
		fault("--format is one of %s", strings.Join(report.Formats(), ", "))
	}
	if f.profile != "" && !slices.Contains(prof.GoKinds(), f.profile) {
		fault("--profile is one of %s", strings.Join(prof.GoKinds(), ", "))
	}
	if _, err := picture.Format(f.plot); f.plot != "" && err != nil {
		fault("--plot: %w", err)
	}
	if f.plotRows < 0 || f.plotRows > 0 && f.plotRows < 1024 {
		fault("--plot-rows is 1024 at least")
	}
	f.cfg.LegacyCycles = int(f.cycles)
	return errors.Join(append(faults, f.source.validate(), f.cfg.Validate())...)
}

func (f *unionFlags) run(ctx context.Context, c *console) error {
	if err := f.validate(); err != nil {
		return err
	}
	page, err := newOutput(f.html)
	if err != nil {
		return err
	}
	defer page.discard()
	figure, err := newOutput(f.plot)
	if err != nil {
		return err
	}
	defer figure.discard()
	r, err := f.measured(ctx, c)
	if r == nil {
		return err
	}
	return errors.Join(err, f.write(c, r, page, figure))
}

// measured runs everything and returns the report; with it, and an error, if
// results differ.
func (f *unionFlags) measured(ctx context.Context, c *console) (*report.Report, error) {
	in, err := f.load(ctx, c.meter)
	if err != nil {
		return nil, err
	}
	f.cfg.Left, f.cfg.Right, f.cfg.Meter = in.left, in.right, c.meter
	if f.cfg.Answer, err = input.Expect(ctx, in.left, in.right, c.meter); err != nil {
		return nil, err
	}
	warnOfRAM(c, f.cfg.Dir)
	res, err := f.measure(ctx, c)
	if res == nil {
		return nil, err
	}
	r := f.report(in, res)
	if f.html == "" && f.plot == "" || err != nil {
		return r, err
	}
	if r.Fills, err = union.Fills(ctx, f.cfg, res.SpillRAM); err != nil {
		return nil, err
	}
	if r.Sizes, err = union.Sizes(ctx, f.cfg, f.plotRows); err != nil {
		return nil, err
	}
	return r, nil
}

func warnOfRAM(c *console, dir string) {
	if h := host.Describe(dir); h.InRAM {
		c.meter.Note("%s is in RAM (%s): what spills there saves no memory; see --dir", h.Dir, h.FileSystem)
	}
}

// write writes the report and the files.
func (f *unionFlags) write(c *console, r *report.Report, page, figure *output) error {
	var b strings.Builder
	if err := report.Write(&b, r, f.format); err != nil {
		return err
	}
	print := c.print
	if f.format != "text" {
		print = c.plain
	}
	format, _ := picture.Format(f.plot)
	return errors.Join(print(b.String()),
		page.write(func(w io.Writer) error { return picture.WriteHTML(w, r) }),
		figure.write(func(w io.Writer) error { return picture.Write(w, r, format) }))
}

// measure runs the modes under the profile that was asked for.
func (f *unionFlags) measure(ctx context.Context, c *console) (*union.Result, error) {
	stop := prof.Start(f.profile, ".")
	defer func() {
		if file := stop(); file != "" {
			c.meter.Note("%s profile written to %s", f.profile, file)
		}
	}()
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
