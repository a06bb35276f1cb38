package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// ErrFormat is returned for a format that no one writes.
var ErrFormat = errors.New("unknown format")

var writers = map[string]func(io.Writer, *Report) error{
	"text": writeText, "json": writeJSON, "markdown": writeMarkdown, "csv": writeCSV, "bench": writeBench,
}

// Formats lists the names that Write knows.
func Formats() []string { return slices.Sorted(maps.Keys(writers)) }

// Write writes r in a format. Errors are ErrFormat, or those of w.
func Write(w io.Writer, r *Report, format string) error {
	write, ok := writers[format]
	if !ok {
		return fmt.Errorf("%w: %s is not one of %s", ErrFormat, format, strings.Join(Formats(), ", "))
	}
	return write(w, r)
}

func writeJSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
