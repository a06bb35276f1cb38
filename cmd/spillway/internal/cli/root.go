package cli

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Run runs the tool with args (without the program's name) and returns its exit
// code. Canceling ctx interrupts it.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	begun := false
	root := newRoot(&console{out: stdout, err: stderr}, &begun)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !begun {
		err = fmt.Errorf("%w: %w", errUsage, err)
	}
	if err != nil {
		fmt.Fprintf(stderr, "spillway: %v\n", err)
	}
	return exitCode(err)
}

const rootHelp = `A temporary-table engine that spills without a cliff, and the old one beside it.

Results go to standard output, everything else to standard error. Exit codes:
0 done, 1 failure, 2 usage, 3 results differ, 4 no space or a limit, 130 interrupted.`

const rootExamples = `  spillway union                                        the bug report, run and explained
  spillway union --html report.html                     the same as a page with pictures
  spillway profile union --compare legacy-8.0.19        who allocates what, then and now
  spillway completion bash > /etc/bash_completion.d/spillway`

// newRoot returns the command tree; begun becomes true when the command line
// was understood.
func newRoot(c *console, begun *bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "spillway",
		Short:         "A temporary-table engine that spills without a cliff, and the old one beside it",
		Long:          rootHelp,
		Example:       rootExamples,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			*begun = true
			c.ready()
		},
	}
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.PersistentFlags().BoolVarP(&c.quiet, "quiet", "q", false, "no progress and no notes")
	root.AddCommand(newUnion(c), newProfile(c))
	return root
}

// version is the module's version, and the commit that it was built from.
func version() string {
	v, commit := build()
	if commit == "" {
		return v
	}
	return v + " " + commit
}

func build() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			commit += "+changes"
		}
	}
	return info.Main.Version, commit
}
