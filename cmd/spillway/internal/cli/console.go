package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
)

// console is where a command writes.
type console struct {
	out   io.Writer // results
	err   io.Writer // everything else
	quiet bool      // nothing but results and errors
	meter *progress.Meter
}

// ready makes the meter, once the flags are known.
func (c *console) ready() {
	if !c.quiet {
		c.meter = progress.New(c.err, isTerminal(c.err))
	}
}

// colors says whether results may have colors: on a terminal, and if nobody
// objects (https://no-color.org).
func (c *console) colors() bool {
	return isTerminal(c.out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// print writes text for people, with colors where they are allowed.
func (c *console) print(text string) error {
	if c.colors() {
		text = paint(text)
	}
	return c.plain(text)
}

// plain writes text for programs.
func (c *console) plain(text string) error {
	_, err := io.WriteString(c.out, text)
	return err
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
