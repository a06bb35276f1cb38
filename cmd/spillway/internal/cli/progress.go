package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
)

// watch shows on stderr how far a run is: notes always, a bar on a terminal.
func watch(stderr io.Writer) union.Watch {
	w := union.Watch{Note: func(text string) { fmt.Fprintln(stderr, text) }}
	if !isTerminal(stderr) {
		return w
	}
	var bar *progressbar.ProgressBar
	w.Begin = func(what string, total int) { bar = newBar(stderr, what, total) }
	w.Step = func() { _ = bar.Add(1) }
	w.End = func() { _ = bar.Finish() }
	return w
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func newBar(w io.Writer, what string, total int) *progressbar.ProgressBar {
	return progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(30))
}
