package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/text"
)

// The screen's limits.
const (
	screenLines   = 20
	screenColumns = 100
)

// writeText writes the screen: what is joined, a line a mode, why, and the
// check.
func writeText(w io.Writer, r *Report) error {
	var lines []string
	for _, line := range r.Head() {
		lines = append(lines, wrap(line, screenColumns)...)
	}
	lines = append(lines, "")
	lines = append(lines, strings.Split(modeTable(r).Render(), "\n")...)
	lines = append(lines, "")
	for _, n := range r.Notes() {
		lines = append(lines, n.lines()...)
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// Head says what is joined, what the report said of it, and what spills.
func (r *Report) Head() []string {
	lines := []string{joined(r)}
	if r.Input.Report {
		lines = append(lines, "MySQL bug 98739, as reported: 8.0.19 at 12 MiB 245 s and 26,036 files; its disk engine 0.252 s.")
	}
	if line := spilling(r); line != "" {
		lines = append(lines, line)
	}
	return lines
}

func joined(r *Report) string {
	return fmt.Sprintf("%s UNION %s: %s + %s rows, %s; %s come out.", r.Input.Left.Name, r.Input.Right.Name,
		comma(r.Input.Left.Rows), comma(r.Input.Right.Rows), duplicates(r), comma(r.Expected.Rows))
}

func duplicates(r *Report) string {
	what := comma(r.Expected.RightDuplicates) + " on the right are duplicates"
	if r.Expected.RightDuplicates == r.Input.Right.Rows {
		what = "every right row a duplicate"
	}
	if n := r.Expected.LeftDuplicates; n > 0 {
		what += fmt.Sprintf(", %s on the left", comma(n))
	}
	return what
}

// spilling says why the modes mmap and disk get less RAM.
func spilling(r *Report) string {
	ram, budget := r.Run("ram"), Size(r.Options.MaxRAM)
	switch {
	case ram == nil:
		return ""
	case spilled(ram):
		return fmt.Sprintf("%s is too little for these rows: the mode ram spills, too (see --max-ram).", budget)
	case spilled(r.Run("mmap")) || spilled(r.Run("disk")):
		return fmt.Sprintf("Spillway takes %s and would not overflow %s: mmap and disk get %s, so that they spill.",
			Size(ram.RAMPeak), budget, Size(r.Options.SpillRAM))
	case r.Run("mmap") != nil || r.Run("disk") != nil:
		return fmt.Sprintf("Spillway takes %s, too little to spill: mmap and disk stay in RAM, too.", Size(ram.RAMPeak))
	}
	return ""
}

func spilled(run *Run) bool { return run != nil && run.MmapPeak+run.DiskPeak > 0 }

// Note is a paragraph below the table.
type Note struct{ Label, Text string }

// labelWidth is the indentation of the notes on the screen.
const labelWidth = 7

// lines wraps the note for the screen.
func (n Note) lines() []string {
	lines := wrap(n.Text, screenColumns-labelWidth)
	label := n.Label
	for i, line := range lines {
		lines[i] = text.Pad(label, labelWidth, ' ') + line
		label = ""
	}
	return lines
}

// Notes are the marks' meaning, WHY and CHECK.
func (r *Report) Notes() []Note {
	all := projections(r)
	if r.Run("legacy-8.0.19") != nil || r.Run("legacy-8.0.21") != nil {
		all = append(all, Note{"", "legacy: our execution of the old engine's policy, not MySQL."})
	}
	if old := r.Run("legacy-8.0.19"); old != nil {
		all = append(all, Note{"WHY", why(old.Legacy)})
	}
	return append(all, Note{"CHECK", check(r)})
}

func projections(r *Report) (all []Note) {
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Projected {
			all = append(all, Note{"~", fmt.Sprintf("%s: %s of %s cycles run, %s each; time and bytes projected.",
				run.Mode, comma(run.Measured.Cycles), humanize.Comma(run.FilesCreated), Duration(run.Measured.P50))})
		}
	}
	return all
}

// why explains what the old policy did to this input.
func why(old *Legacy) string {
	then := "here the blocks in use had room for that, or a block of RAM was made for each."
	if old.FirstFile >= 0 {
		then = fmt.Sprintf("after %s duplicates each further one made, filled, mapped and destroyed a file of %s.",
			comma(old.FirstFile), Size(int64(old.FileBytes)))
	}
	return "8.0.19 stored each row before asking whether it was a duplicate and could not take it back: " +
		then + " Spillway asks first: a duplicate allocates nothing."
}

func check(r *Report) string {
	bad := r.Differing()
	if len(bad) == 0 {
		return fmt.Sprintf("every mode gives %s rows and checksum %d, as a Go map over the text does.",
			comma(r.Expected.Rows), r.Expected.Checksum)
	}
	what := fmt.Sprintf("FAILED: %s rows and checksum %d are right", comma(r.Expected.Rows), r.Expected.Checksum)
	for _, run := range bad {
		what += fmt.Sprintf("; %s: %s, %d", run.Mode, comma(run.Rows), run.Checksum)
	}
	return what + "."
}

func wrap(s string, width int) []string { return strings.Split(text.WrapSoft(s, width), "\n") }

func comma(n int) string { return humanize.Comma(int64(n)) }
