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

// modeTable is the table for people: a row a mode.
func modeTable(r *Report) table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"mode", "time", "ns/row", "files", "filled", "RAM", "mmap", "disk", "vs mmap"})
	for i := range r.Runs {
		t.AppendRow(modeRow(r, &r.Runs[i]))
	}
	t.SetStyle(plainStyle())
	t.SetColumnConfigs(rightAligned(2, 9))
	return t
}

func modeRow(r *Report, run *Run) table.Row {
	mark := ""
	if run.Projected {
		mark = "~"
	}
	return table.Row{run.Mode, mark + duration(seconds(run.Median)), mark + number(run.NsPerRow),
		humanize.Comma(run.FilesCreated), mark + size(run.BytesFilled), size(run.RAMPeak),
		size(run.MmapPeak), size(run.DiskPeak), ratio(r, run)}
}

func plainStyle() table.Style {
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
	for _, line := range head(r) {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintf(&b, "\n%s\n\n", modeTable(r).RenderMarkdown())
	for _, n := range notes(r) {
		fmt.Fprintf(&b, "- %s\n", strings.TrimSpace(n.label+" "+n.text))
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

// duration writes d with three digits that count.
func duration(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.3g µs", d.Seconds()*1e6)
}

func number(x float64) string {
	if x < 100 {
		return fmt.Sprintf("%.1f", x)
	}
	return humanize.Comma(int64(x + 0.5))
}

func size(n int64) string {
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
	return number(x)
}
