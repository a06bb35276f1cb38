package picture

import (
	"image/color"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colors differ in lightness, too.
var (
	ink   = color.Gray{0x22}
	faint = color.Gray{0xd8}
	old   = color.RGBA{0x8c, 0x1d, 0x18, 0xff}
	ours  = color.RGBA{0x4f, 0x9b, 0xd9, 0xff}
	blue  = color.RGBA{0x0b, 0x4f, 0x8a, 0xff}
	gold  = color.RGBA{0xb8, 0x7a, 0x00, 0xff}
)

// look is how a line is told from the others.
type look struct {
	color  color.Color
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

var looks = []look{
	{blue, nil, draw.CircleGlyph{}},
	{gold, []vg.Length{7, 3}, draw.BoxGlyph{}},
	{old, []vg.Length{2, 2}, draw.PyramidGlyph{}},
	{ink, []vg.Length{9, 3, 2, 3}, draw.CrossGlyph{}},
}

// newPlot returns an empty plot with its titles; x and y say units.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 8
	styleText(&p.Title.TextStyle, 13)
	p.Title.TextStyle.Font.Weight = font.WeightBold
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		styleText(&a.Label.TextStyle, 11)
		styleText(&a.Tick.Label, 10)
		a.Label.Padding = 4
		a.Color, a.Tick.Color = ink, ink
	}
	styleText(&p.Legend.TextStyle, 11)
	p.Legend.Top, p.Legend.Left, p.Legend.Padding, p.Legend.ThumbnailWidth = true, true, 3, 34
	p.Legend.XOffs, p.Legend.YOffs = 8, -4
	return p
}

func styleText(s *text.Style, size float64) {
	s.Font.Variant, s.Font.Size, s.Color = "Sans", vg.Points(size), ink
}

// grid draws lines at the axes' major ticks.
func grid(p *plot.Plot, horizontal bool) {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = faint, faint
	if !horizontal {
		g.Horizontal.Color = nil
	}
	p.Add(g)
}

// addLine adds a line in the n-th look; marks at its points tell it apart, too.
func addLine(p *plot.Plot, n int, name string, points plotter.XYs, marks bool) error {
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	l := looks[n%len(looks)]
	line.Color, line.Width, line.Dashes = l.color, vg.Points(2), l.dashes
	dots.Color, dots.Shape, dots.Radius = l.color, l.glyph, vg.Points(3.5)
	p.Add(line)
	if !marks {
		p.Legend.Add(name, line)
		return nil
	}
	p.Add(dots)
	p.Legend.Add(name, line, dots)
	return nil
}

// bytesAxis gives an axis of bytes ticks in binary units.
func bytesAxis(a *plot.Axis) {
	a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) (ticks []plot.Tick) {
		step := math.Exp2(math.Ceil(math.Log2(max(hi-lo, 1) / 6)))
		for v := math.Ceil(lo/step) * step; v <= hi; v += step {
			ticks = append(ticks, plot.Tick{Value: v, Label: humanize.IBytes(uint64(v))})
		}
		return ticks
	})
}

// logAxis gives an axis a logarithmic scale with a tick a power of base.
func logAxis(a *plot.Axis, base float64, label func(float64) string) {
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) (ticks []plot.Tick) {
		from, to := math.Log(lo)/math.Log(base), math.Log(hi)/math.Log(base)
		for n := math.Ceil(from - 1e-9); n <= to+1e-9; n++ {
			v := math.Pow(base, n)
			ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
		}
		return ticks
	})
}

// rowsAxis gives an axis of rows ticks at round numbers.
func rowsAxis(a *plot.Axis) {
	a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) (ticks []plot.Tick) {
		step := round((hi - lo) / 6)
		for v := math.Ceil(lo/step) * step; v <= hi; v += step {
			ticks = append(ticks, plot.Tick{Value: v, Label: humanize.Comma(int64(v))})
		}
		return ticks
	})
}

// round returns the least of 1, 2, 5, 10, 20, … that is not below v.
func round(v float64) float64 {
	for ten := math.Pow(10, math.Floor(math.Log10(max(v, 1)))); ; ten *= 10 {
		for _, digit := range []float64{1, 2, 5} {
			if digit*ten >= v {
				return digit * ten
			}
		}
	}
}

// roundAxis gives an axis a logarithmic scale with ticks at 1, 2, 5, 10, ….
func roundAxis(a *plot.Axis) {
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) (ticks []plot.Tick) {
		for v := round(lo); v <= hi*1.001; v = round(v * 1.001) {
			ticks = append(ticks, plot.Tick{Value: v, Label: humanize.Comma(int64(v))})
		}
		return ticks
	})
}

// binary writes 65536 as 64 Ki.
func binary(v float64) string {
	units := []string{"", " Ki", " Mi", " Gi"}
	i := 0
	for ; v >= 1024 && i+1 < len(units); i++ {
		v /= 1024
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + units[i]
}
