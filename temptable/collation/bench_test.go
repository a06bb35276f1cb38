package collation_test

import (
	"fmt"
	"testing"

	"github.com/spillway-db/spillway/temptable/collation"
)

func BenchmarkAppendKey(b *testing.B) {
	texts := []struct{ name, text string }{
		{"ascii", "6ccd780c-baba-1026-9564-5b8c656024db"},
		{"words", "It is a truth universally known, or so"},
		{"accents", "Größe, Ærø, naïve café — Ŝtŭpo und Öl"},
	}
	for _, text := range texts {
		for _, c := range all(b) {
			bench(b, c, c.Name(), text.name, text.text)
		}
	}
	bench(b, collation.Latin1SwedishUTF8(), "latin1_swedish_ci of UTF-8", texts[0].name, texts[0].text)
}

func bench(b *testing.B, c collation.Collation, impl, kind, text string) {
	b.Run(fmt.Sprintf("impl=%s/text=%s/n=%d", impl, kind, len(text)), func(b *testing.B) {
		src := []byte(text)
		dst := make([]byte, 0, c.MaxKeyLen(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.AppendKey(dst, src); err != nil {
				b.Fatal(err)
			}
		}
	})
}
