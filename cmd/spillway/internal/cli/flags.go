package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/spillway-db/spillway/internal/legacy"
)

// byteSize is a flag such as 12MiB; word, if not empty, stands for 0.
type byteSize struct {
	bytes *int64
	word  string
}

// String returns the size as Set takes it.
func (b byteSize) String() string {
	switch {
	case b.bytes == nil:
		return ""
	case *b.bytes == 0 && b.word != "":
		return b.word
	}
	return strings.ReplaceAll(humanize.IBytes(uint64(*b.bytes)), " ", "")
}

// Set reads a size: a number, and kB, MB, GB or KiB, MiB, GiB.
func (b byteSize) Set(s string) error {
	if b.word != "" && s == b.word {
		*b.bytes = 0
		return nil
	}
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return fmt.Errorf("a size such as 12MiB is wanted%s", orWord(b.word))
	}
	*b.bytes = int64(n)
	return nil
}

// Type names the flag's kind in the help.
func (b byteSize) Type() string { return "size" }

func orWord(word string) string {
	if word == "" {
		return ""
	}
	return ", or " + word
}

// cycles is the flag --legacy-cycles.
type cycles int

// String returns the flag as Set takes it.
func (c *cycles) String() string {
	switch *c {
	case legacy.Full:
		return "full"
	case 0:
		return "auto"
	}
	return strconv.Itoa(int(*c))
}

// Set reads full, auto or a number.
func (c *cycles) Set(s string) error {
	switch s {
	case "full":
		*c = legacy.Full
		return nil
	case "auto":
		*c = 0
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return fmt.Errorf("a number from 1, full, or auto is wanted")
	}
	*c = cycles(n)
	return nil
}

// Type names the flag's kind in the help.
func (c *cycles) Type() string { return "N|full" }

var (
	_ pflag.Value = byteSize{}
	_ pflag.Value = (*cycles)(nil)
)
