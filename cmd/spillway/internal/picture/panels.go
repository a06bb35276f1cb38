package picture

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
)

// Panel is one picture.
type Panel struct {
	Title string
	// Note says how to read it.
	Note string
	plot *plot.Plot
}

// What the bug report says, in seconds.
const (
	reported     = 245
	reportedDisk = 0.252
)

// Panels draws all that r has data for.
func Panels(r *report.Report) (panels []Panel, err error) {
	for _, draw := range []func(*report.Report) (*Panel, error){times, memory, filled, sizes} {
		p, err := draw(r)
		if err != nil {
			return nil, fmt.Errorf("picture: %w", err)
		}
		if p != nil {
			p.Title = p.plot.Title.Text
			panels = append(panels, *p)
		}
	}
	return panels, nil
}

// times are bars on a logarithmic scale.
func times(r *report.Report) (*Panel, error) {
	var b bars
	if r.Input.Report {
		b = append(b, bar{"8.0.19 (as reported)", reported, report.Duration(reported) + " as reported", nil},
			bar{"its disk engine (as reported)", reportedDisk, report.Duration(reportedDisk) + " as reported", nil})
	}
	for _, run := range r.Runs {
		c, label := ours, report.Duration(run.Median)
		if strings.HasPrefix(run.Mode, "legacy") {
			c = old
		}
		if run.Projected {
			label = "~" + label + " projected"
		}
		b = append(b, bar{run.Mode, max(run.Median, 1e-6), label, c})
	}
	p := newPlot("Time of the statement, by mode", "seconds (logarithmic)", "")
	logAxis(&p.X, 10, report.Duration)
	grid(p, false)
	p.Add(b)
	p.X.Min, p.X.Max = b.limits()
	p.NominalY(b.names()...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(b))-0.4
	return &Panel{plot: p, Note: "Each gridline is ten times the one before. Legacy modes are our execution of the old engine's policy, not MySQL."}, nil
}

// memory is what a run through all tiers has in use.
func memory(r *report.Report) (*Panel, error) {
	f := fillOf(r, "spillway")
	if f == nil {
		return nil, nil
	}
	p := newPlot("Memory and disk in use while rows are inserted", "rows inserted, left table first", "bytes in use")
	rowsAxis(&p.X)
	bytesAxis(&p.Y)
	grid(p, true)
	for n, of := range []struct {
		name string
		get  func(report.FillPoint) int64
	}{
		{"RAM, at most " + humanize.IBytes(uint64(f.RAMBudget)), func(x report.FillPoint) int64 { return x.RAM }},
		{"mapped files, at most " + humanize.IBytes(uint64(f.MmapBudget)), func(x report.FillPoint) int64 { return x.Mmap }},
		{"disk table", func(x report.FillPoint) int64 { return x.Disk }},
	} {
		if err := addLine(p, n, of.name, series(f, of.get, 0), false); err != nil {
			return nil, err
		}
	}
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.3 // room for the legend
	mark(p, float64(r.Input.Left.Rows), "right table begins")
	return &Panel{plot: p, Note: "Spillway with a RAM budget that is too small and a limit on mapped files that is too small, too: each step is a tier that is full. Duplicates take nothing on any tier."}, nil
}

// filled is what was written to files so far, then and now.
func filled(r *report.Report) (*Panel, error) {
	p := newPlot("Bytes written to files while rows are inserted", "rows inserted, left table first", "bytes (logarithmic)")
	rowsAxis(&p.X)
	logAxis(&p.Y, 16, func(v float64) string { return humanize.IBytes(uint64(v)) })
	grid(p, true)
	any := false
	for n, of := range []struct{ mode, name string }{{"spillway", "Spillway"}, {"legacy-8.0.19", "8.0.19's policy"}} {
		f := fillOf(r, of.mode)
		if f == nil {
			continue
		}
		points := series(f, func(x report.FillPoint) int64 { return x.Filled }, 1)
		if len(points) == 0 {
			continue
		}
		any = true
		if err := addLine(p, 2*n, of.name, points, false); err != nil {
			return nil, err
		}
	}
	if !any {
		return nil, nil
	}
	p.X.Min, p.X.Max = 0, float64(r.Input.Rows())
	p.Y.Min, p.Y.Max = p.Y.Min/4, p.Y.Max*16
	mark(p, float64(r.Input.Left.Rows), "right table begins")
	return &Panel{plot: p, Note: "8.0.19 stored each row before asking whether it was a duplicate: once its last block was full, every further duplicate made, filled and destroyed a file. A line begins where the first file is made."}, nil
}

// sizes is the speed by the size of the table.
func sizes(r *report.Report) (*Panel, error) {
	if len(r.Sizes) == 0 {
		return nil, nil
	}
	p := newPlot("Speed by the size of the table", "distinct rows in the table (logarithmic)", "ns an input row (logarithmic)")
	logAxis(&p.X, 4, binary)
	roundAxis(&p.Y)
	grid(p, true)
	byMode := map[string]plotter.XYs{}
	var modes []string
	for _, s := range r.Sizes {
		if byMode[s.Mode] == nil {
			modes = append(modes, s.Mode)
		}
		byMode[s.Mode] = append(byMode[s.Mode], plotter.XY{X: float64(s.Rows), Y: s.NsPerRow})
	}
	for n, m := range modes {
		if err := addLine(p, n, m, byMode[m], true); err != nil {
			return nil, err
		}
	}
	p.Y.Min, p.Y.Max = p.Y.Min/1.5, p.Y.Max*2.5 // room for the legend
	return &Panel{plot: p, Note: "Generated rows, inserted and then rejected in random order; mmap and disk have half of the RAM that the table needs."}, nil
}

func fillOf(r *report.Report, mode string) *report.Fill {
	for i := range r.Fills {
		if r.Fills[i].Mode == mode {
			return &r.Fills[i]
		}
	}
	return nil
}

// series are the points of at least least bytes.
func series(f *report.Fill, get func(report.FillPoint) int64, least int64) (points plotter.XYs) {
	for _, x := range f.Points {
		if v := get(x); v >= least {
			points = append(points, plotter.XY{X: float64(x.Rows), Y: float64(v)})
		}
	}
	return points
}

// mark draws a vertical line at x that says what begins there.
func mark(p *plot.Plot, x float64, what string) { p.Add(marker{x, what}) }

type marker struct {
	x    float64
	what string
}

// Plot implements plot.Plotter.
func (m marker) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	x := tx(m.x)
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: vg.Points(0.8), Dashes: []vg.Length{1, 3}}, x, c.Min.Y, x, c.Max.Y)
	style := p.Legend.TextStyle
	style.YAlign = draw.YBottom
	c.FillText(style, vg.Point{X: x + 4, Y: c.Min.Y + 3}, m.what)
}

// bar is one bar; a nil color leaves it empty.
type bar struct {
	name  string
	value float64
	label string
	color interface{ RGBA() (r, g, b, a uint32) }
}

// bars lie one above the other, the first one at the top.
type bars []bar

func (b bars) names() []string {
	names := make([]string, len(b))
	for i, x := range b {
		names[len(b)-1-i] = x.name
	}
	return names
}

// limits are powers of ten around the values, with room for labels.
func (b bars) limits() (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, x := range b {
		lo, hi = min(lo, x.value), max(hi, x.value)
	}
	return math.Pow(10, math.Floor(math.Log10(lo)-0.3)), hi * 60
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	half := (ty(1) - ty(0)) * 0.36
	style := p.Legend.TextStyle
	style.YAlign = draw.YCenter
	for i, x := range b {
		y, end := ty(float64(len(b)-1-i)), tx(x.value)
		box := []vg.Point{{X: c.Min.X, Y: y - half}, {X: end, Y: y - half}, {X: end, Y: y + half}, {X: c.Min.X, Y: y + half}}
		if x.color != nil {
			c.FillPolygon(x.color, box)
		}
		c.StrokeLines(draw.LineStyle{Color: ink, Width: vg.Points(0.8)}, append(box, box[0]))
		c.FillText(style, vg.Point{X: end + 5, Y: y}, x.label)
	}
}
