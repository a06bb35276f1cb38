package picture

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"io"

	"github.com/spillway-db/spillway/cmd/spillway/internal/report"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// view is what the page shows.
type view struct {
	Report *report.Report
	Head   []string
	Table  report.Cells
	Notes  []report.Note
	Panels []picture
	JSON   string
}

type picture struct {
	Panel
	SVG template.HTML
}

// WriteHTML writes r as one page that needs no other file.
func WriteHTML(w io.Writer, r *report.Report) error {
	v := view{Report: r, Head: r.Head(), Table: r.Cells(), Notes: r.Notes()}
	panels, err := Panels(r)
	if err != nil {
		return err
	}
	for _, p := range panels {
		svg, err := p.SVG()
		if err != nil {
			return err
		}
		v.Panels = append(v.Panels, picture{p, template.HTML(svg)}) // drawn by us, its texts escaped by the library
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	v.JSON = string(text)
	return page.Execute(w, v)
}
