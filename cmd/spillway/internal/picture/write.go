package picture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
)

// ErrFormat is returned for a file name that ends neither in .svg nor in .png.
var ErrFormat = errors.New("a picture is an .svg or a .png")

// The size of a panel, and the resolution of a PNG.
const (
	width   = vg.Length(560)
	height  = vg.Length(340)
	gap     = vg.Length(24)
	columns = 2
	dpi     = 144
)

// Format returns the format that the end of a file's name says: svg or png.
func Format(name string) (string, error) {
	for _, f := range []string{"svg", "png"} {
		if strings.HasSuffix(strings.ToLower(name), "."+f) {
			return f, nil
		}
	}
	return "", fmt.Errorf("%w: %s", ErrFormat, name)
}

// Write writes all panels as one picture.
func Write(w io.Writer, r *report.Report, format string) error {
	panels, err := Panels(r)
	if err != nil {
		return err
	}
	cols := min(columns, len(panels))
	rows := (len(panels) + cols - 1) / cols
	total := func(n int, one vg.Length) vg.Length { return vg.Length(n)*(one+gap) + gap }
	c, finish := canvas(total(cols, width), total(rows, height), format)
	tiles := draw.Tiles{Cols: cols, Rows: rows, PadX: gap, PadY: gap, PadTop: gap, PadBottom: gap, PadLeft: gap, PadRight: gap}
	for i, p := range panels {
		p.plot.Draw(tiles.At(c, i%cols, i/cols))
	}
	return finish(w)
}

// canvas returns an empty canvas, and what writes it.
func canvas(w, h vg.Length, format string) (draw.Canvas, func(io.Writer) error) {
	if format == "png" {
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}
		return draw.New(c), func(w io.Writer) error { _, err := c.WriteTo(w); return err }
	}
	c := vgsvg.New(w, h)
	return draw.New(c), func(w io.Writer) error { return writeSVG(w, c) }
}

// writeSVG names fonts of the same widths beside the one that the text was
// measured in.
func writeSVG(w io.Writer, c *vgsvg.Canvas) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(family.ReplaceAll(b.Bytes(), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif")))
	return err
}

var family = regexp.MustCompile(`font-family:Liberation Sans`)

// SVG returns the panel as an svg element for a page, which has its title.
func (p Panel) SVG() (string, error) {
	c, finish := canvas(width, height, "svg")
	bare := *p.plot
	bare.Title.Text = ""
	bare.Draw(c)
	var b strings.Builder
	if err := finish(&b); err != nil {
		return "", err
	}
	_, element, _ := strings.Cut(b.String(), "<svg ")
	return fixedSize.ReplaceAllString("<svg "+element, fmt.Sprintf(`<svg role="img" aria-label=%q `, p.Title)), nil
}

// fixedSize is what keeps an svg element from filling its place on a page.
var fixedSize = regexp.MustCompile(`^<svg width="[^"]*" height="[^"]*" `)
