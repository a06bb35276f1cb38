package difftest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/spillway-db/spillway/temptable"
)

// value is one value: as a literal of the engine, and as a setter's call.
type value struct {
	lit string
	set func(w *temptable.Writer, col int)
}

var null = value{"NULL", func(w *temptable.Writer, col int) { w.SetNull(col) }}

// kind is a column, as the engine and as temptable know it.
type kind struct {
	name string
	ddl  string
	col  temptable.Column
	// pool are the values that rows are drawn from, NULL apart.
	pool []value
	// sel is what to select for the text of the column %s; show is how
	// temptable's text becomes the same. An empty sel: the text is not compared.
	sel  string
	show func(text []byte) string
	// unordered says that the engine does not sort by it as SQL does.
	unordered bool
}

func (k kind) draw(rng *rand.Rand) value {
	if rng.IntN(8) == 0 {
		return null
	}
	return k.pool[rng.IntN(len(k.pool))]
}

func plain(text []byte) string { return string(text) }
func hexed(text []byte) string { return fmt.Sprintf("%X", text) }

// integer is the value v with a literal of its own.
func integer(lit string, v int64) value {
	return value{lit, func(w *temptable.Writer, col int) { w.SetInt(col, v) }}
}

func float(v float64) value {
	return value{fmt.Sprintf("%.17e", v), func(w *temptable.Writer, col int) { w.SetFloat(col, v) }}
}

// text is a string whose literal is made by wrap of its bytes in hexadecimal.
func text(wrap, s string) value {
	return value{fmt.Sprintf(wrap, fmt.Sprintf("x'%x'", s)), func(w *temptable.Writer, col int) { w.SetString(col, s) }}
}

func texts(wrap string, pool ...string) []value {
	vals := make([]value, len(pool))
	for i, s := range pool {
		vals[i] = text(wrap, s)
	}
	return vals
}

// numbers are decimals by their text.
func numbers(pool string) []value {
	var vals []value
	for _, s := range strings.Fields(pool) {
		vals = append(vals, value{"'" + s + "'", func(w *temptable.Writer, col int) { w.SetString(col, s) }})
	}
	return vals
}
