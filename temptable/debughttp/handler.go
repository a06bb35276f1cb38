package debughttp

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spillway-db/spillway/temptable"
	"github.com/spillway-db/spillway/temptable/offheap"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"size": size, "ago": ago, "bar": bar, "percent": percent, "num": num,
}).Parse(pageText))

// maxRows is how many tables, and owners, the page lists; JSON has all.
const maxRows = 200

// handler serves one engine.
type handler struct {
	e       *temptable.Engine
	ring    *Ring
	metrics http.Handler
}

// Handler returns a handler for the engine, to be registered under any path
// that ends with a slash. ring has its recent events; nil: none are shown.
func Handler(e *temptable.Engine, ring *Ring) http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(NewCollector(e)) // it has not been registered anywhere: this cannot fail
	return &handler{e, ring, promhttp.HandlerFor(reg, promhttp.HandlerOpts{})}
}

// ServeHTTP implements http.Handler. All requests only read.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "read only", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case strings.HasSuffix(r.URL.Path, "/metrics"):
		h.metrics.ServeHTTP(w, r)
	case strings.HasSuffix(r.URL.Path, "/offheap"):
		h.offheap(w)
	case !strings.HasSuffix(r.URL.Path, "/") && path.Ext(r.URL.Path) != "":
		http.NotFound(w, r)
	case r.FormValue("format") == "json":
		h.json(w)
	default:
		h.page(w)
	}
}

func (h *handler) json(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(newView(h.e, h.ring)) // whoever hung up does not want to know
}

func (h *handler) offheap(w http.ResponseWriter) {
	var buf bytes.Buffer
	if err := offheap.Write(&buf, h.e); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="offheap.pb.gz"`)
	_, _ = w.Write(buf.Bytes())
}

// page writes the page. Only what carries the nonce may run.
func (h *handler) page(w http.ResponseWriter) {
	nonce := rand.Text()
	data := struct {
		*View
		Nonce    string
		Max      int
		NoEvents bool
	}{newView(h.e, h.ring), nonce, maxRows, h.ring == nil}
	var buf bytes.Buffer
	if err := page.Execute(&buf, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; style-src 'nonce-%s'; "+
		"script-src 'nonce-%s'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'", nonce, nonce))
	_, _ = w.Write(buf.Bytes())
}

// size writes a number of bytes with a unit.
func size(n int64) string {
	if n < 0 {
		return "–"
	}
	f, unit := float64(n), 0
	for ; f >= 1023.95 && unit < 5; unit++ {
		f /= 1024
	}
	name := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}[unit]
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, name)
}

// num writes an integer with its digits in groups of three.
func num(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// ago is how long ago t was, to about two digits.
func ago(now, t time.Time) string {
	d := max(now.Sub(t), 0)
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// segment is one part of a bar, in thousandths of its width.
type segment struct {
	Class string
	Name  string
	Bytes int64
	X, W  float64
}

// bar lays the parts of a tier out side by side. Its full width is the limit,
// or the peak where there is none.
func bar(t TierView) (out []segment) {
	full := max(t.Limit, t.Used, 1)
	if t.Limit < 0 {
		full = max(t.Peak, t.Used, 1)
	}
	x := 0.0
	for _, p := range t.Parts {
		w := 1000 * float64(p.Bytes) / float64(full)
		out = append(out, segment{Class: strings.ReplaceAll(p.Name, " ", "-"), Name: p.Name, Bytes: p.Bytes, X: x, W: w})
		x += w
	}
	return out
}

// percent is how much of its limit a tier uses; "" without a limit.
func percent(t TierView) string {
	if t.Limit <= 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*float64(t.Used)/float64(t.Limit))
}
