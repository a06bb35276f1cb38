// Package debughttp shows an engine in a browser, to scripts and to
// Prometheus. Nothing is registered anywhere but by its caller:
//
//	ring := debughttp.NewRing(256)
//	eng, err := temptable.Open(temptable.Options{Events: ring.Events()})
//	http.Handle("/debug/spillway/", debughttp.Handler(eng, ring))
//
// Below the path that it is registered for there are
//
//	…/              a page: the tiers as bars, the tables by size, recent events
//	…/?format=json  the same as JSON
//	…/metrics       the same in Prometheus' text format, without the tables
//	…/offheap       a pprof profile of off-heap bytes by call path, while the
//	                engine records them
//
// The page needs no script, loads nothing from elsewhere, and refreshes itself
// where scripts run. All requests only read; names of tables and owners are
// escaped, and the page forbids itself to run anything but its own script.
// Who may read it sees names, sizes and limits, no rows: it is for operators.
package debughttp
