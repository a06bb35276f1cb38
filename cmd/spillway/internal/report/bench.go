package report

import (
	"fmt"
	"io"
	"strings"
)

// writeBench writes a line a sample, in Go's benchmark format, so that
// benchstat reads it.
func writeBench(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: github.com/spillway-db/spillway/cmd/spillway\ncpu: %s\n",
		r.Host.OS, r.Host.Arch, r.Host.CPU)
	rows := float64(r.Input.Rows())
	for _, run := range r.Runs {
		name := fmt.Sprintf("BenchmarkUnion/mode=%s/rows=%d/order=%s/pool=%s", run.Mode, r.Input.Rows(), r.Input.Order, run.Pool)
		if run.Projected {
			name += "/projected=true"
		}
		for _, s := range run.Samples {
			fmt.Fprintf(&b, "%s-%d 1 %.0f ns/op %.2f ns/row\n", name, r.Options.GOMAXPROCS, s*1e9, s*1e9/max(rows, 1))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
