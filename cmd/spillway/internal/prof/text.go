package prof

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
)

// columns is the width of the screen.
const columns = 100

// top is how many call paths are shown.
const top = 6

// WriteJSON writes r for programs.
func WriteJSON(w io.Writer, r *Result) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Text returns r for people.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in mode %s: %s.\n", r.Workload, r.Mode, r.About)
	fmt.Fprintf(&b, "%s rows a pass; RAM at most %s%s.\n", humanize.Comma(int64(r.Rows)), size(r.Limits.RAM), r.mmap())
	if r.Legacy != nil {
		r.comparison(&b)
	}
	r.summary(&b)
	r.stacks(&b)
	r.files(&b)
	return b.String()
}

func (r *Result) mmap() string {
	if r.Limits.Mmap == 0 {
		return ", no mapped files"
	}
	return ", mapped files at most " + size(r.Limits.Mmap)
}

// summary is what a pass costs.
func (r *Result) summary(b *strings.Builder) {
	fmt.Fprintf(b, "\nA PASS: %s on average of %s, %s ns a row, %s CPU; the collector takes %.1f %% of it.\n",
		report.Duration(r.Pass), humanize.Comma(int64(r.Passes)), number(r.NsRow), report.Duration(r.CPU), 100*r.GCShare)
	for _, line := range [][2]string{
		{"blocks a row", fmt.Sprintf("%.5f in a new engine (%s)", r.BlocksPerRow, r.blocks())},
		{"system calls", fmt.Sprintf("%s in the first pass (%s), %s in a later one",
			humanize.Comma(total(r.FirstCalls)), calls(r.FirstCalls), number(r.Calls))},
		{"page faults", fmt.Sprintf("%s in the first pass, %s in a later one; %s of them from a device",
			humanize.Comma(r.FirstMinorFaults), number(r.MinorFaults), number(r.MajorFaults))},
		{"Go allocations", number(r.Allocs)},
	} {
		for i, part := range strings.Split(text.WrapSoft(line[1], columns-labelWidth), "\n") {
			label := ""
			if i == 0 {
				label = "  " + line[0]
			}
			fmt.Fprintf(b, "%-*s%s\n", labelWidth, label, strings.TrimRight(part, " "))
		}
	}
}

// labelWidth is the width of the names in the summary.
const labelWidth = 18

// blocks says what the steps took.
func (r *Result) blocks() string {
	var parts []string
	for i := range r.Steps {
		s := &r.Steps[i]
		parts = append(parts, fmt.Sprintf("%s: %s", s.Name, humanize.Comma(s.Blocks())))
	}
	return strings.Join(parts, "; ")
}

// stacks are the call paths that took the most.
func (r *Result) stacks(b *strings.Builder) {
	b.WriteString("\nTOP PATHS: bytes outside the Go heap, taken by a pass in a new engine\n")
	t := newTable("bytes", "blocks", "tier", "of", "path")
	for i := range min(top, len(r.Top)) {
		x := &r.Top[i]
		t.AppendRow(table.Row{size(x.Bytes), humanize.Comma(x.Blocks), x.Tier, x.Purpose, oneLine(x.Path, columns-36)})
	}
	t.SetColumnConfigs([]table.ColumnConfig{right(1), right(2)})
	render(b, t)
	if n := len(r.Top) - top; n > 0 {
		fmt.Fprintf(b, "and %d more; the profile has all of them.\n", n)
	}
}

// files says how to look at the profiles.
func (r *Result) files(b *strings.Builder) {
	b.WriteString("\nOPEN\n")
	for _, f := range r.Files {
		fmt.Fprintf(b, "  %-8s %s\n", f.Kind, f.Open)
	}
	if r.Legacy == nil {
		return
	}
	fmt.Fprintf(b, "  %-8s go tool pprof -http=: %s\n", "then", r.Legacy.File)
}

// comparison shows the old policy's allocation paths and ours.
func (r *Result) comparison(b *strings.Builder) {
	b.WriteString("\nALLOCATION PATHS: blocks taken from the system, and who took them\n")
	fmt.Fprintf(b, "%-*s%s\n", half, LegacyName, "Spillway, mode "+r.Mode)
	for i := range r.Legacy.Steps {
		old := &r.Legacy.Steps[i]
		if ours := r.step(old.Name); ours != nil {
			fmt.Fprintf(b, "\n%s: %s rows, %s of them duplicates\n", strings.ToUpper(old.Name), humanize.Comma(int64(ours.Rows)),
				humanize.Comma(int64(ours.Rows)-ours.Added))
			beside(b, column(old, r.Legacy.Projected), column(ours, false))
		}
	}
	if r.Legacy.Projected {
		b.WriteString("\n~ projected from the files that were really made. legacy: our execution of the policy, not MySQL.\n")
	}
}

// half is the width of each side of the comparison.
const half = columns / 2

// beside writes two columns.
func beside(b *strings.Builder, left, right []string) {
	for i := range max(len(left), len(right)) {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		fmt.Fprintln(b, strings.TrimRight(text.Pad(l, half, ' ')+r, " "))
	}
}

func (r *Result) step(name string) *Step {
	i := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Steps[i]
}

// column says what a step took, and by which path most of it.
func column(s *Step, projected bool) []string {
	mark := ""
	if projected && s.Files > 0 {
		mark = "~"
	}
	lines := wrap(fmt.Sprintf("%s, %s; %s; %s%s", count(s.Blocks(), "block"), size(s.Bytes),
		count(s.Files, "file"), mark, report.Duration(s.Seconds)))
	lines = append(lines, wrap("system calls: "+calls(s.Calls))...)
	if len(s.Taken) == 0 {
		return append(lines, "no path: nothing was taken")
	}
	x := &s.Taken[0]
	what := strings.TrimSpace(x.Tier + " " + x.Purpose)
	lines = append(lines, fmt.Sprintf("%s in %s (%s) by", size(x.Bytes), count(x.Blocks, "block"), what))
	for depth, f := range gist(x.Path) {
		lines = append(lines, strings.Repeat(" ", depth+1)+f)
	}
	return lines
}

func wrap(s string) []string {
	lines := strings.Split(text.WrapSoft(s, half-2), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// count writes a number of things.
func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return humanize.Comma(n) + " " + thing
}

// calls names the kinds of calls, the most frequent first.
func calls(m map[string]int64) string {
	if len(m) == 0 {
		return "none"
	}
	kinds := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return int(m[b] - m[a])
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, k := range kinds {
		if m[k] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", k, humanize.Comma(m[k])))
		}
	}
	return strings.Join(parts, ", ")
}

func newTable(header ...any) table.Writer {
	t := table.NewWriter()
	t.AppendHeader(header)
	t.SetStyle(report.PlainStyle())
	return t
}

func right(n int) table.ColumnConfig {
	return table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
}

// render writes the table without spaces at the ends of lines.
func render(b *strings.Builder, t table.Writer) {
	for line := range strings.Lines(t.Render() + "\n") {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func size(n int64) string { return report.Size(n) }

func number(x float64) string { return report.Number(x) }
