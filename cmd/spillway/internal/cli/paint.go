package cli

import "regexp"

// The colors of a terminal (ECMA-48). What they say is in the words, too.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	normal = "\x1b[0m"
)

// paints are the parts of lines that have a color.
var paints = []struct {
	part  *regexp.Regexp
	color string
}{
	{regexp.MustCompile(`(?m)^CHECK  FAILED.*$`), bold + red},
	{regexp.MustCompile(`(?m)^(CHECK|OPEN)\b`), bold + green},
	{regexp.MustCompile(`(?m)^(WHY|[A-Z][A-Z -]+:)`), bold},
	{regexp.MustCompile(`(?m)^ *(mode|bytes) {2,}.*$`), bold},
	{regexp.MustCompile(`(?m)^legacy-\S+`), red},
	{regexp.MustCompile(`(?m)^(ram|mmap|disk)\b`), green},
	{regexp.MustCompile(`(?m)^ {7}legacy:.*$|^~ .*$`), dim},
}

// paint adds colors to text without any.
func paint(text string) string {
	for _, p := range paints {
		text = p.part.ReplaceAllString(text, p.color+"$0"+normal)
	}
	return text
}
