package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
)

// pictured is a quick run that all pictures come from.
var pictured = []string{"union", "--mode", "legacy-8.0.19,legacy-8.0.21,ram,mmap,disk", "--legacy-cycles", "2", "--count", "1", "--plot-rows", "1024"}

func TestHTML(t *testing.T) {
	dir := t.TempDir()
	r := runBinary(t, binary, dir, with(pictured, "--html", "report.html", "--format", "json")...)
	require.Equal(t, 0, r.code, r.stderr)
	text, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	page := string(text)
	require.Equal(t, 4, strings.Count(page, "<svg "))
	for _, want := range []string{"Time of the statement, by mode", "245 s as reported", "projected", "rows inserted, left table first",
		"bytes in use", "ns an input row", "<td>26,035</td>", "70478173962876"} {
		require.Contains(t, page, want)
	}
	require.Empty(t, regexp.MustCompile(`(?i)<script|<link|<img|src=|@import|url\(`).FindAllString(page, -1), "the page needs nothing else")
	for _, url := range regexp.MustCompile(`https?://[^"'< ]*`).FindAllString(page, -1) {
		require.Contains(t, url, "www.w3.org", "names of namespaces only")
	}
	var rep report.Report
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &rep))
	require.Len(t, rep.Fills, 2)
	require.Len(t, rep.Sizes, 3)
	drawnByChromium(t, filepath.Join(dir, "report.html"))
}

// drawnByChromium opens the page in a real browser, where there is one.
func drawnByChromium(t *testing.T, page string) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	shot := page + ".png"
	out, err := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--window-size=1280,1800", "--screenshot="+shot, "file://"+page).CombinedOutput()
	require.NoError(t, err, string(out))
	img := decodePNG(t, shot)
	require.GreaterOrEqual(t, img.colors, 100)
}

func TestPlot(t *testing.T) {
	dir := t.TempDir()
	r := runBinary(t, binary, dir, with(quick, "--count", "1", "--plot-rows", "1024", "--plot", "r.png")...)
	require.Equal(t, 0, r.code, r.stderr)
	img := decodePNG(t, filepath.Join(dir, "r.png"))
	require.Greater(t, img.width, 1600)
	require.Greater(t, img.colors, 20)

	r = runBinary(t, binary, dir, with(quick, "--count", "1", "--plot-rows", "1024", "--plot", "r.svg")...)
	require.Equal(t, 0, r.code, r.stderr)
	f, err := os.Open(filepath.Join(dir, "r.svg"))
	require.NoError(t, err)
	defer f.Close()
	texts := 0
	for dec := xml.NewDecoder(f); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "text" {
			texts++
		}
	}
	require.Greater(t, texts, 40)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing else is left")
}

type pixels struct{ width, colors int }

func decodePNG(t *testing.T, name string) pixels {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	colors := map[any]bool{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += 2 {
		for x := b.Min.X; x < b.Max.X; x += 2 {
			colors[img.At(x, y)] = true
		}
	}
	return pixels{b.Dx(), len(colors)}
}

// A picture that cannot be written is known before the work.
func TestPicturesThatCannotBeWritten(t *testing.T) {
	for _, flag := range []string{"--html", "--plot"} {
		r := run(t, with(quick, flag, "none/x.svg")...)
		require.Equal(t, 1, r.code)
		require.Contains(t, r.stderr, "none/")
		require.Empty(t, r.stdout)
	}
	r := run(t, with(quick, "--plot", "x.gif")...)
	require.Equal(t, 2, r.code)
	require.Contains(t, r.stderr, "a picture is an .svg or a .png: x.gif")
	require.Equal(t, 2, run(t, with(quick, "--plot-rows", "5")...).code)
}
