package debughttp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/spillway-db/spillway/temptable"
	"github.com/stretchr/testify/require"
)

// nasty is a name that would be markup if it were not escaped.
const nasty = `<script>alert("x")</script>&'"` + "`"

// serve runs an engine with tables on all tiers behind a server.
func serve(t *testing.T, tables ...string) (*temptable.Engine, *httptest.Server) {
	ring := NewRing(64)
	eng, err := temptable.Open(temptable.Options{MaxRAM: 2 << 20, MaxMmap: 1 << 20, Dir: t.TempDir(), Events: ring.Events(), ProfileRate: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, eng.Close()) })
	session, err := eng.NewOwner("session 42", temptable.Limits{})
	require.NoError(t, err)
	query, err := session.NewOwner(nasty, temptable.Limits{})
	require.NoError(t, err)
	for i, name := range tables {
		fill(t, query, name, 20_000>>(3*i))
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/spillway/", Handler(eng, ring))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return eng, srv
}

func fill(t *testing.T, owner *temptable.Owner, name string, n int) {
	s, err := temptable.NewSchema([]temptable.Column{{Name: "n", Type: temptable.TypeBigInt},
		{Name: "s", Type: temptable.TypeVarchar, Length: 200}}, temptable.Distinct())
	require.NoError(t, err)
	tab, err := owner.Create(context.Background(), s, temptable.Named(name))
	require.NoError(t, err)
	w := tab.Writer(context.Background())
	for i := range n {
		w.SetInt(0, int64(i))
		w.SetString(1, strings.Repeat("x", 150))
		_, added, err := w.Insert()
		require.True(t, added && err == nil)
	}
}

func get(t *testing.T, url string) (*http.Response, string) {
	res, err := http.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

func TestJSON(t *testing.T) {
	eng, srv := serve(t, "big", "middle", nasty)
	res, body := get(t, srv.URL+"/debug/spillway/?format=json")
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	var v View
	require.NoError(t, json.Unmarshal([]byte(body), &v))
	require.Len(t, v.Tables, 3)
	require.Equal(t, []string{"big", "middle", nasty}, []string{v.Tables[0].Name, v.Tables[1].Name, v.Tables[2].Name}, "the largest first")
	require.Equal(t, "session 42/"+nasty, v.Tables[0].Owner)
	require.EqualValues(t, 20_000, v.Tables[0].Rows)
	require.Equal(t, "disk", v.Tables[0].Tier)
	require.Contains(t, v.Tables[0].WhySpilled, "RAM limit")
	s := eng.Stats()
	for i, used := range []int64{s.RAM, s.Pool.Used, s.Disk.Bytes} {
		require.Equal(t, used, v.Tiers[i].Used)
		sum := int64(0)
		for _, p := range v.Tiers[i].Parts {
			sum += p.Bytes
		}
		require.Equal(t, used, sum, "parts of %s", v.Tiers[i].Name)
	}
	require.EqualValues(t, 2<<20, v.Tiers[0].Limit)
	require.EqualValues(t, -1, v.Tiers[2].Limit, "no limit")
	require.Len(t, v.Owners, 2)
	require.Eventually(t, func() bool {
		_, body := get(t, srv.URL+"/debug/spillway/?format=json")
		return strings.Contains(body, `"kind": "tier change"`) && strings.Contains(body, `"kind": "file created"`)
	}, 10*time.Second, 10*time.Millisecond)
}

func TestPageEscapes(t *testing.T) {
	_, srv := serve(t, nasty, "plain")
	res, body := get(t, srv.URL+"/debug/spillway/")
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.NotContains(t, body, "alert(\"x\")</script>")
	require.Contains(t, body, "&lt;script&gt;alert(&#34;x&#34;)")
	require.Contains(t, body, "plain")
	require.Contains(t, res.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	for _, external := range []string{"http://", "https://", "src=", "@import", "url("} {
		require.NotContains(t, body, external, "nothing is loaded from elsewhere")
	}
	_, again := get(t, srv.URL+"/debug/spillway/")
	require.NotEqual(t, nonceOf(body), nonceOf(again))
}

func nonceOf(page string) string {
	_, after, _ := strings.Cut(page, `nonce="`)
	nonce, _, _ := strings.Cut(after, `"`)
	return nonce
}

func TestReadOnly(t *testing.T) {
	_, srv := serve(t)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
		for _, path := range []string{"", "metrics", "offheap"} {
			req, err := http.NewRequest(method, srv.URL+"/debug/spillway/"+path, nil)
			require.NoError(t, err)
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode, "%s %s", method, path)
		}
	}
	res, err := http.Head(srv.URL + "/debug/spillway/")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	res, _ = get(t, srv.URL+"/debug/spillway/favicon.ico")
	require.Equal(t, http.StatusNotFound, res.StatusCode)
}

// An empty engine, and one without a ring, have a page.
func TestEmpty(t *testing.T) {
	eng, err := temptable.Open(temptable.Options{MaxRAM: 1 << 20, MaxMmap: temptable.Disabled, MaxDisk: temptable.Disabled})
	require.NoError(t, err)
	defer func() { require.NoError(t, eng.Close()) }()
	srv := httptest.NewServer(Handler(eng, nil))
	defer srv.Close()
	_, body := get(t, srv.URL)
	require.Contains(t, body, "Not recorded")
	require.Equal(t, 2, strings.Count(body, ">None.<"))
	res, body := get(t, srv.URL+"/offheap")
	require.Equal(t, http.StatusNotFound, res.StatusCode)
	require.Contains(t, body, "does not record")
	_, body = get(t, srv.URL+"/?format=json")
	require.NotContains(t, body, "null", "lists are lists")
}

func TestMetrics(t *testing.T) {
	eng, srv := serve(t, "big", "small")
	res, body := get(t, srv.URL+"/debug/spillway/metrics")
	require.True(t, strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain"), res.Header)
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)

	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err)
	value := func(name string, labels ...string) float64 {
		require.Contains(t, families, name)
	next:
		for _, m := range families[name].Metric {
			for _, l := range m.Label {
				found := false
				for k := 0; k < len(labels); k += 2 {
					found = found || l.GetName() == labels[k] && l.GetValue() == labels[k+1]
				}
				if !found {
					continue next
				}
			}
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
		t.Fatalf("%s%v is missing", name, labels)
		return 0
	}
	s := eng.Stats()
	require.EqualValues(t, s.Bytes[0].Rows, value("spillway_bytes", "tier", "ram", "purpose", "rows"))
	require.EqualValues(t, s.Bytes[2].Rows, value("spillway_bytes", "tier", "disk", "purpose", "rows"))
	require.EqualValues(t, 2<<20, value("spillway_limit_bytes", "tier", "ram"))
	require.EqualValues(t, 2, value("spillway_tables"))
	require.EqualValues(t, s.Count.Created, value("spillway_blocks_taken_total", "source", "created"))
	require.EqualValues(t, s.ReachedDisk, value("spillway_tables_spilled_total", "tier", "disk"))
	require.EqualValues(t, s.Calls["allocate"], value("spillway_system_calls_total", "call", "allocate"))
	require.NotContains(t, body, "small", "the number of metrics does not depend on the tables")
}

func TestOffheap(t *testing.T) {
	_, srv := serve(t, "big")
	_, body := get(t, srv.URL+"/debug/spillway/offheap")
	p, err := profile.Parse(strings.NewReader(body))
	require.NoError(t, err)
	require.NotEmpty(t, p.Sample)
}

func TestRing(t *testing.T) {
	r := NewRing(3)
	require.Empty(t, r.Recent())
	for i := range 5 {
		r.Events().OnLimit(temptable.Event{Rows: int64(i)})
	}
	got := r.Recent()
	require.Len(t, got, 3)
	require.EqualValues(t, []int64{4, 3, 2}, []int64{got[0].Rows, got[1].Rows, got[2].Rows})
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{-1: "–", 0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1<<20 - 1: "1.0 MiB",
		12 << 20: "12.0 MiB", 1 << 40: "1.0 TiB"} {
		require.Equal(t, want, size(n))
	}
	require.Equal(t, "1\u202f234\u202f567", num(1234567))
	require.Equal(t, "999", num(999))
	require.Equal(t, "-1\u202f000", num(-1000))
	now := time.Now()
	require.Equal(t, "1.5s", ago(now, now.Add(-1520*time.Millisecond)))
	require.Equal(t, "0s", ago(now, now.Add(time.Hour)))
}

// The page in a browser: it
// refreshes itself, and names do not become scripts.
func TestChromium(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium")
	}
	eng, srv := serve(t, "union result", "derived table", nasty)
	late, err := eng.NewOwner("late", temptable.Limits{})
	require.NoError(t, err)
	dir := t.TempDir()
	run := func(args ...string) string {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, browser, append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
			"--user-data-dir=" + filepath.Join(dir, "profile"), "--hide-scrollbars"}, args...)...)
		out, err := cmd.Output()
		require.NoError(t, err)
		return string(out)
	}
	page := srv.URL + "/debug/spillway/"

	// A table that is made after the page was read appears on it.
	first := sync.OnceFunc(func() { fill(t, late, "made while the page is open", 1) })
	watched := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		srv.Config.Handler.ServeHTTP(w, r)
		if r.URL.Path == "/debug/spillway/" {
			first()
		}
	}))
	defer watched.Close()
	dom := run("--dump-dom", "--virtual-time-budget=10000", watched.URL+"/debug/spillway/")
	require.Contains(t, dom, "union result")
	require.Contains(t, dom, "made while the page is open")
	require.Equal(t, 1, strings.Count(dom, "<script"), "names are not markup")

	shot := filepath.Join(dir, "page.png")
	run("--screenshot="+shot, "--window-size=1280,1500", page)
	if keep := os.Getenv("SPILLWAY_SCREENSHOT"); keep != "" {
		png, err := os.ReadFile(shot)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(keep, png, 0o644))
	}
	info, err := os.Stat(shot)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(20_000), "something was drawn")
}
