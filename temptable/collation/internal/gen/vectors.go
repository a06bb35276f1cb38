package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
)

var uca = []string{"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs"}

const source = "vitess.io/vitess v0.24.4 (collations of MySQL " + mysqlVersion + ")"

// telling are strings whose keys are worth reading.
var telling = []string{
	"", "a", "A", "á", "a\u0301", "Á", "ä", "å", "ß", "ss", "ẞ", "æ", "ae", "ø", "ﬀ", "ǆ",
	" ", "a ", "a  b", "a\tb", "a\x00b", "\x7f", "\u00ad", "\u200d", "Å", "Å",
	"ı", "İ", "i", "I", "σ", "ς", "Σ", "µ", "μ", "ａ", "½", "①", "Ⅷ", "㍿", "ﷺ",
	"か", "が", "ガ", "ｶﾞ", "ー", "漢", "㐀", "𠀀", "𗀀", "한", "한", "가", "각", "\ud7a4", "\ud7af",
	"ไทย", "เก", "ລາວ", "नमस्ते", "க்ஷ", "مرحبا", "שלום", "Привет", "й", "ё", "😀", "👩\u200d👩",
	"\ufffd", "\ufffe", "\uffff", "\U0010ffff", "\u0378", "\ue000", "\U000f0000",
}

// ucaVectors is a file of keys: telling strings, then random ones over the parts
// of Unicode that have weights.
func ucaVectors() []byte {
	texts := append([]string{}, telling...)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		texts = append(texts, randomText(rng))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Text and WEIGHT_STRING, in hexadecimal, as computed by\n# %s.\n", source)
	for _, collation := range uca {
		for _, text := range texts {
			fmt.Fprintf(&b, "%s\t%x\t%x\n", collation, text, vitessKey(collation, text))
		}
	}
	return b.Bytes()
}

func randomText(rng *rand.Rand) string {
	limits := []rune{0x80, 0x250, 0x3000, 0x10000, 0x20000, 0x110000}
	var b strings.Builder
	for range 1 + rng.IntN(8) {
		if r := rng.Int32N(limits[rng.IntN(len(limits))]); valid(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ucaSums is a file of the SHA-256 of the keys of all characters, in order.
func ucaSums() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# SHA-256 of the WEIGHT_STRINGs of every character, U+0000 to U+10FFFF, each with a\n# line feed behind it, as computed by\n# %s.\n", source)
	for _, collation := range uca {
		h := sha256.New()
		for r := range rune(0x110000) {
			if valid(r) {
				h.Write(append(vitessKey(collation, string(r)), '\n'))
			}
		}
		fmt.Fprintf(&b, "%s\t%x\n", collation, h.Sum(nil))
	}
	return b.Bytes()
}
