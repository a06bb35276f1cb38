package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A charset is an alphabet full of traps, with the collations to compare by.
type charset struct {
	introducer string
	alphabet   []string
	collations []string
}

var asciiTraps = strings.Split("a A b B z Z 0 ! @ [ \\ ] ^ _ ` { | } ~ \x7f \x00 \x01 \t \n \x1f", " ")

var charsets = []charset{
	{"_ascii", asciiTraps, []string{"ascii_general_ci"}},
	{"_latin1", append(strings.Split("\xe4 \xc4 \xe5 \xc5 \xf6 \xd6 \xe9 \xc9 \xdf \xe6 \xc6 \xd0 \xfe \xff \x80 \x9f \xa0 \xb5 \xd7 \xf7", " "), asciiTraps...),
		[]string{"latin1_swedish_ci"}},
	{"_utf8mb4", append(strings.Split("ä Ä å é É ß ẞ æ Æ ÿ Ÿ µ μ Μ σ ς Σ ı İ i I ǆ ǅ Ǆ ﬀ ā Ā đ ø Ø Å ａ Ａ \u00a0 \u0301 \u3000 \u1680 漢 한 \ufffd \uffff 😀 𐐀 𐐨", " "), asciiTraps...),
		[]string{"utf8mb4_bin", "utf8mb4_general_ci"}},
}

const pairs = 1500 // a collation

// comparisons is a file of STRCMP's answers to random pairs.
func (db *mariaDB) comparisons() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# STRCMP by collation of two strings, in hexadecimal, as answered by MariaDB %s.\n", db.version)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, cs := range charsets {
		for _, collation := range cs.collations {
			rows, err := db.query(cs.sql(rng, collation))
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				fmt.Fprintln(&b, strings.Join(row, "\t"))
			}
		}
	}
	return b.Bytes(), nil
}

func (cs charset) sql(rng *rand.Rand, collation string) string {
	var b strings.Builder
	for range pairs {
		x, y := cs.pair(rng)
		fmt.Fprintf(&b, "SELECT '%[1]s', '%[3]x', '%[4]x', STRCMP(%[2]s x'%[3]x' COLLATE %[1]s, %[2]s x'%[4]x' COLLATE %[1]s);\n", collation, cs.introducer, x, y)
	}
	return b.String()
}

// pair returns two strings that begin alike.
func (cs charset) pair(rng *rand.Rand) (string, string) {
	prefix := cs.text(rng)
	return prefix + cs.text(rng), prefix + cs.text(rng)
}

// text is up to four characters, every second of them a space.
func (cs charset) text(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(5) {
		if rng.IntN(2) == 0 {
			b.WriteByte(' ')
		} else {
			b.WriteString(cs.alphabet[rng.IntN(len(cs.alphabet))])
		}
	}
	return b.String()
}
