package collation_test

import (
	"cmp"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/spillway-db/spillway/temptable/collation"
)

// weightTables is testdata/weights.tsv: an account of the collations that shares
// nothing with the package's tables or keys.
type weightTables map[string]map[rune]int

func loadWeights(t testing.TB) weightTables {
	w := weightTables{}
	for _, row := range vectors(t, "weights.tsv") {
		if w[row[0]] == nil {
			w[row[0]] = map[rune]int{}
		}
		w[row[0]][number(t, row[1])] = int(number(t, row[2]))
	}
	return w
}

func (w weightTables) general(r rune) int {
	if r > 0xFFFF {
		return 0xFFFD
	}
	return w.of("utf8mb4_general_ci", r)
}

// of returns the weight of a character, which is itself where none is listed.
func (w weightTables) of(name string, r rune) int {
	if weight, ok := w[name][r]; ok {
		return weight
	}
	return int(r)
}

// compare compares as the documentation says, without keys.
func (w weightTables) compare(t testing.TB, c collation.Collation, a, b []byte) int {
	if c.Name() == "utf8mb4_0900_ai_ci" || c.Name() == "utf8mb4_0900_as_cs" {
		return compareLevels(t, c, a, b)
	}
	x, y := w.weigh(c.Name(), a), w.weigh(c.Name(), b)
	if c.PadSpace() {
		x, y = pad(x, len(y)), pad(y, len(x))
	}
	return slices.Compare(x, y)
}

func pad(weights []int, n int) []int {
	for len(weights) < n {
		weights = append(weights, ' ')
	}
	return weights
}

func (w weightTables) weigh(name string, src []byte) (weights []int) {
	if name == "utf8mb4_general_ci" {
		eachCharacter(src, func(r rune, text []byte) {
			if r < 0 {
				weights = append(weights, utf8.MaxRune+int(text[0]))
			} else {
				weights = append(weights, w.general(r))
			}
		})
		return weights
	}
	for _, b := range src {
		weights = append(weights, w.of(name, rune(b)))
	}
	return weights
}

// eachCharacter calls f with each character and its bytes, -1 for an invalid one.
func eachCharacter(src []byte, f func(r rune, text []byte)) {
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		if r == utf8.RuneError && n == 1 {
			r = -1
		}
		f(r, src[:n])
		src = src[n:]
	}
}

// compareLevels compares level by level, all characters of a level before any of
// the next. The weights of single characters are those of their keys, which the
// golden sums vouch for.
func compareLevels(t testing.TB, c collation.Collation, a, b []byte) int {
	x, y := levels(t, c, a), levels(t, c, b)
	return cmp.Or(slices.Compare(x[0], y[0]), slices.Compare(x[1], y[1]), slices.Compare(x[2], y[2]))
}

func levels(t testing.TB, c collation.Collation, src []byte) (out [3][]int) {
	eachCharacter(src, func(r rune, text []byte) {
		if r < 0 {
			out[0] = append(out[0], 0x10000+int(text[0]))
			return
		}
		level := 0
		for key := keyOf(t, c, text); len(key) > 0; key = key[2:] {
			if w := int(key[0])<<8 | int(key[1]); w == 0 {
				level++
			} else {
				out[level] = append(out[level], w)
			}
		}
	})
	return out
}
