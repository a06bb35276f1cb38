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
	root := newRoot(&begun)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !begun {
		err = fmt.Errorf("%w: %w", errUsage, err)
	}
	if err != nil {
		fmt.Fprintf(stderr, "spillway: %v\n", err)
	}
	return exitCode(err)
}

// newRoot returns the command tree; begun becomes true when the command line
// was understood.
func newRoot(begun *bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "spillway",
		Short:         "A temporary-table engine that spills without a cliff, and the old one beside it",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			*begun = true
		},
	}
	root.AddCommand(newUnion())
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
