package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Cells are the table for people: a row a mode.
type Cells struct {
	Header []string
	Rows   []CellRow
}

// CellRow is one mode.
type CellRow struct {
	Cells []string
	Old   bool // a policy of the old engine
}

// Cells returns the table for people.
func (r *Report) Cells() Cells {
	c := Cells{Header: []string{"mode", "time", "ns/row", "files", "filled", "RAM", "mmap", "disk", "vs mmap"}}
	for i := range r.Runs {
		c.Rows = append(c.Rows, CellRow{modeRow(r, &r.Runs[i]), r.Runs[i].Legacy != nil})
	}
	return c
}

func modeTable(r *Report) table.Writer {
	t := table.NewWriter()
	c := r.Cells()
	t.AppendHeader(row(c.Header))
	for _, x := range c.Rows {
		t.AppendRow(row(x.Cells))
	}
	t.SetStyle(PlainStyle())
	t.SetColumnConfigs(rightAligned(2, 9))
	return t
}

func row(cells []string) (r table.Row) {
	for _, c := range cells {
		r = append(r, c)
	}
	return r
}

func modeRow(r *Report, run *Run) []string {
	mark := ""
	if run.Projected {
		mark = "~"
	}
	return []string{run.Mode, mark + Duration(run.Median), mark + Number(run.NsPerRow),
		humanize.Comma(run.FilesCreated), mark + Size(run.BytesFilled), Size(run.RAMPeak),
		Size(run.MmapPeak), Size(run.DiskPeak), ratio(r, run)}
}

// PlainStyle is that of tables for people: no borders.
func PlainStyle() table.Style {
	s := table.StyleLight
	s.Options = table.OptionsNoBordersAndSeparators
	s.Format.Header = text.FormatDefault
	s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
	return s
}

func rightAligned(from, to int) (cs []table.ColumnConfig) {
	for c := from; c <= to; c++ {
		cs = append(cs, table.ColumnConfig{Number: c, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return cs
}

func writeMarkdown(w io.Writer, r *Report) error {
	var b strings.Builder
	for _, line := range r.Head() {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintf(&b, "\n%s\n\n", modeTable(r).RenderMarkdown())
	for _, n := range r.Notes() {
		fmt.Fprintf(&b, "- %s\n", strings.TrimSpace(n.Label+" "+n.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCSV writes a line a mode, with numbers for programs.
func writeCSV(w io.Writer, r *Report) error {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"mode", "median_s", "open_s", "insert_s", "scan_s", "drop_s", "cpu_s", "ns_per_row",
		"rows_out", "checksum", "projected", "pool", "ram_budget", "ram_peak_bytes", "mmap_peak_bytes",
		"disk_peak_bytes", "blocks_created", "blocks_reused", "blocks_per_row", "files_created", "mmap_calls",
		"bytes_filled", "page_reads", "page_writes", "go_allocs", "major_faults"})
	for _, x := range r.Runs {
		t.AppendRow(table.Row{x.Mode, x.Median, x.Phases.Open, x.Phases.Insert, x.Phases.Scan, x.Phases.Drop, x.CPU,
			x.NsPerRow, x.Rows, x.Checksum, x.Projected, x.Pool, x.RAMBudget, x.RAMPeak, x.MmapPeak,
			x.DiskPeak, x.BlocksCreated, x.BlocksReused, x.BlocksPerRow, x.FilesCreated, x.MmapCalls,
			x.BytesFilled, x.PageReads, x.PageWrites, x.GoAllocs, x.MajorFaults})
	}
	_, err := fmt.Fprintln(w, t.RenderCSV())
	return err
}

// Duration writes seconds with three digits that count.
func Duration(seconds float64) string { return duration(time.Duration(seconds * float64(time.Second))) }

func duration(d time.Duration) string {
	switch {
	case d >= 1000*time.Second:
		return humanize.Comma(int64(d.Seconds()+0.5)) + " s"
	case d >= 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.3g µs", d.Seconds()*1e6)
}

// Number writes x with the digits that count.
func Number(x float64) string {
	if x < 100 {
		return fmt.Sprintf("%.1f", x)
	}
	return humanize.Comma(int64(x + 0.5))
}

// Size writes bytes in binary units.
func Size(n int64) string {
	if n == 0 {
		return "0"
	}
	return strings.Replace(humanize.IBytes(uint64(n)), ".0 ", " ", 1)
}

// ratio is the time of run over that of the mode mmap.
func ratio(r *Report, run *Run) string {
	if run.Mode == "mmap" {
		return "1"
	}
	x, ok := r.Ratios[run.Mode+"/mmap"]
	if !ok {
		return "-"
	}
	if x < 10 {
		return fmt.Sprintf("%.2f", x)
	}
	return Number(x)
}
