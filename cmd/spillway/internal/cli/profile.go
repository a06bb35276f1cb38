package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-db/spillway/cmd/spillway/internal/prof"
	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
)

// profileFlags are the flags of `spillway profile`.
type profileFlags struct {
	source
	cfg     prof.Config
	compare string
	format  string
}

// profileFormats are what --format takes.
var profileFormats = []string{"text", "json"}

func profileHelp() string {
	var b strings.Builder
	b.WriteString("Run a workload under Go's profilers, and with a record of who takes memory outside the\n" +
		"Go heap, which they cannot see; say at once what matters, and how to open each profile.\n\nWorkloads:\n")
	for _, w := range prof.Workloads() {
		fmt.Fprintf(&b, "  %-9s %s\n", w, prof.About(w))
	}
	b.WriteString("\nThe tables are those of the bug report unless flags say otherwise. --compare shows the\n" +
		"allocation path of the bug beside ours.")
	return b.String()
}

const profileExamples = `  spillway profile union --compare legacy-8.0.19
  spillway profile groupby --kind cpu,offheap --out /tmp/profiles --time 5s
  spillway profile sort --rows 1000000 --mode disk --spill-ram 8MiB
  spillway profile union --kind offheap --format json`

func newProfile(c *console) *cobra.Command {
	f := &profileFlags{}
	cmd := &cobra.Command{
		Use:       "profile WORKLOAD",
		Short:     "Profile a workload, memory outside the Go heap included",
		Long:      profileHelp(),
		Example:   profileExamples,
		Args:      cobra.ExactArgs(1),
		ValidArgs: prof.Workloads(),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.cfg.Workload = args[0]
			return f.run(cmd.Context(), c)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *profileFlags) register(cmd *cobra.Command) {
	f.cfg.MaxRAM, f.cfg.MaxMmap = 12<<20, 1<<30
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringSliceVar(&f.cfg.Kinds, "kind", prof.Kinds(), "profiles to write")
	fs.StringVar(&f.cfg.Out, "out", ".", "directory of the profiles; it is made")
	fs.DurationVar(&f.cfg.Time, "time", time.Second, "how long the workload runs under each profiler")
	fs.StringVar(&f.compare, "compare", "", "show the allocation path of an old policy, too: "+prof.LegacyName)
	fs.StringVar(&f.cfg.Mode, "mode", union.Mmap, "where the rows go: "+strings.Join(prof.Modes(), ", "))
	fs.Var(byteSize{bytes: &f.cfg.MaxRAM}, "max-ram", "temptable_max_ram of the old policy and of the mode ram")
	fs.Var(byteSize{bytes: &f.cfg.SpillRAM, word: "auto"}, "spill-ram", "the same of mmap and disk; auto: half of what the workload takes, or less until it spills")
	fs.Var(byteSize{bytes: &f.cfg.MaxMmap}, "max-mmap", "temptable_max_mmap of ram and mmap")
	fs.StringVar(&f.cfg.Dir, "dir", os.TempDir(), "where the engine makes files; they have no names")

	f.source.register(cmd)
	fs.StringVar(&f.format, "format", "text", strings.Join(profileFormats, ", "))

	choices(cmd, "kind", prof.Kinds())
	choices(cmd, "mode", prof.Modes())
	choices(cmd, "compare", []string{prof.LegacyName})
	choices(cmd, "format", profileFormats)
	choices(cmd, "spill-ram", []string{"auto"})
	_ = cmd.MarkFlagDirname("out")
	_ = cmd.MarkFlagDirname("dir")
}

func (f *profileFlags) validate() error {
	var faults []error
	if !slices.Contains(profileFormats, f.format) {
		faults = append(faults, fmt.Errorf("%w: --format is one of %s", errUsage, strings.Join(profileFormats, ", ")))
	}
	if f.compare != "" && f.compare != prof.LegacyName {
		faults = append(faults, fmt.Errorf("%w: --compare takes %s", errUsage, prof.LegacyName))
	}
	f.cfg.Compare = f.compare != ""
	return errors.Join(append(faults, f.source.validate(), f.cfg.Validate())...)
}

func (f *profileFlags) run(ctx context.Context, c *console) error {
	if err := f.validate(); err != nil {
		return err
	}
	in, err := f.load(ctx, c.meter)
	if err != nil {
		return err
	}
	f.cfg.Left, f.cfg.Right, f.cfg.Meter = in.left, in.right, c.meter
	warnOfRAM(c, f.cfg.Dir)
	r, err := prof.Run(ctx, f.cfg)
	if err != nil {
		return err
	}
	if f.format == "json" {
		return prof.WriteJSON(c.out, r)
	}
	return c.print(r.Text())
}
