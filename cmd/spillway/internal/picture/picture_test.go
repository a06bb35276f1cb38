package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
)

// example has data for all pictures.
func example() *report.Report {
	r := &report.Report{
		Schema: report.SchemaName, Expected: report.Expected{Rows: 100, RightDuplicates: 100},
		Input: report.Input{Left: report.Side{Name: "joinit", Rows: 100}, Right: report.Side{Name: "joinit2", Rows: 100}, Report: true},
		Runs: []report.Run{{Mode: "legacy-8.0.19", Median: 213, Projected: true, Legacy: &report.Legacy{FirstFile: 5}, Measured: &report.Measured{}},
			{Mode: "ram", Median: 0.003}, {Mode: "mmap", Median: 0}},
		Fills: []report.Fill{
			{Mode: "spillway", RAMBudget: 1 << 20, MmapBudget: 1 << 20, Points: []report.FillPoint{{}, {Rows: 50, RAM: 1 << 20},
				{Rows: 100, RAM: 1 << 20, Mmap: 1 << 19, Filled: 1 << 20}, {Rows: 200, RAM: 1 << 20, Mmap: 1 << 19, Filled: 1 << 20}}},
			{Mode: "legacy-8.0.19", Points: []report.FillPoint{{}, {Rows: 150, Filled: 8 << 20}, {Rows: 200, Filled: 8 << 30}}},
		},
	}
	for _, mode := range []string{"ram", "mmap"} {
		for n := 1024; n <= 1<<20; n *= 4 {
			r.Sizes = append(r.Sizes, report.SizePoint{Mode: mode, Rows: n, NsPerRow: 40 + float64(n)/10000})
		}
	}
	r.SetRatios()
	return r
}

// texts are those of an svg element.
func texts(t *testing.T, svg string) (all []string) {
	inText := false
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		switch e := tok.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				all = append(all, string(e))
			}
		}
	}
}

func TestPanels(t *testing.T) {
	panels, err := Panels(example())
	require.NoError(t, err)
	require.Len(t, panels, 4)
	for i, want := range [][]string{
		{"8.0.19 (as reported)", "245 s as reported", "252 ms as reported", "legacy-8.0.19", "~213 s projected", "3 ms", "seconds (logarithmic)", "1 s"},
		{"RAM, at most 1.0 MiB", "mapped files, at most 1.0 MiB", "disk table", "rows inserted, left table first", "bytes in use", "right table begins", "512 KiB"},
		{"Spillway", "8.0.19's policy", "bytes (logarithmic)", "16 MiB", "right table begins"},
		{"ram", "mmap", "distinct rows in the table (logarithmic)", "ns an input row (logarithmic)", "1 Mi", "100"},
	} {
		svg, err := panels[i].SVG()
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(svg, `<svg role="img" aria-label="`+panels[i].Title+`" viewBox="0 0 560 340"`), svg[:100])
		require.Subset(t, texts(t, svg), want)
		require.NotContains(t, texts(t, svg), panels[i].Title, "the page has it")
		require.NotEmpty(t, panels[i].Note)
	}
}

// Pictures without data are left out.
func TestPanelsWithoutData(t *testing.T) {
	r := example()
	r.Fills, r.Sizes, r.Input.Report, r.Runs = nil, nil, false, r.Runs[1:2]
	panels, err := Panels(r)
	require.NoError(t, err)
	require.Len(t, panels, 1)
	r.Fills = []report.Fill{{Mode: "spillway", Points: []report.FillPoint{{}, {Rows: 100, RAM: 1}}}}
	panels, err = Panels(r)
	require.NoError(t, err)
	require.Len(t, panels, 2, "nothing was written to files")
}

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, example(), "svg"))
	require.Greater(t, len(texts(t, b.String())), 60)
	require.Contains(t, b.String(), "sans-serif")
	require.Error(t, Write(full{}, example(), "svg"))
	require.Error(t, WriteHTML(full{}, example()))
}

func TestWritePNG(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine, and four million pixels")
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, example(), "png"))
	img, err := png.Decode(&b)
	require.NoError(t, err)
	require.Equal(t, 2*(2*560+3*24), img.Bounds().Dx(), "144 dots an inch")
	require.Error(t, Write(full{}, example(), "png"))
}

// Lines differ where no color is.
func TestLooksDiffer(t *testing.T) {
	seen := map[string]bool{}
	var b bytes.Buffer
	require.NoError(t, Write(&b, example(), "svg"))
	for _, m := range regexp.MustCompile(`stroke-dasharray:[\d,. ]+`).FindAllString(b.String(), -1) {
		seen[m] = true
	}
	require.GreaterOrEqual(t, len(seen), 3)
}

func TestHTMLEscapes(t *testing.T) {
	r := example()
	r.Input.Left.Name = `<script>alert("1")</script>`
	var b strings.Builder
	require.NoError(t, WriteHTML(&b, r))
	require.NotContains(t, b.String(), "<script")
	require.Contains(t, b.String(), "&lt;script&gt;")
	require.Equal(t, 4, strings.Count(b.String(), "<figure>"))
}

func TestFormat(t *testing.T) {
	for name, want := range map[string]string{"a.svg": "svg", "b.PNG": "png"} {
		got, err := Format(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := Format("a.gif")
	require.ErrorIs(t, err, ErrFormat)
}

func TestTicks(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 1: 1, 1.5: 2, 3: 5, 5.5: 10, 70: 100, 1e6: 1e6} {
		require.Equal(t, want, round(v), v)
	}
	for v, want := range map[float64]string{1: "1", 1024: "1 Ki", 65536: "64 Ki", 1 << 20: "1 Mi", 1 << 30: "1 Gi"} {
		require.Equal(t, want, binary(v))
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
