package temptable

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// The model's values, and its own notions of equality and order. It shares no
// code with the engine.
type modelVal struct {
	null bool
	i    int64
	f    float64
	s    string
	norm string // what of s counts
}

// modelKind is what kind of value a column has, for the model.
type modelKind uint8

const (
	modelInt modelKind = iota
	modelFloat
	modelText
	modelCI // text without regard to ASCII case and trailing spaces
)

type modelColumn struct {
	Column
	kind modelKind
	wide bool
}

// foldASCII is a collation for the test: upper case decides, trailing spaces do
// not count.
type foldASCII struct{}

func (foldASCII) Name() string        { return "test_ci" }
func (foldASCII) PadSpace() bool      { return true }
func (foldASCII) MaxKeyLen(n int) int { return n }
func (foldASCII) AppendKey(dst, src []byte) ([]byte, error) {
	n := len(src)
	for n > 0 && src[n-1] == ' ' {
		n--
	}
	for _, b := range src[:n] {
		if b >= 'a' && b <= 'z' {
			b -= 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst, nil
}

func randomModelColumn(r *rand.Rand, i int) modelColumn {
	c := modelColumn{Column: Column{Name: fmt.Sprint("c", i), NotNull: r.IntN(2) == 0}}
	switch r.IntN(7) {
	case 0, 1:
		c.Type = TypeInt
	case 2:
		c.Type = TypeBigInt
	case 3:
		c.Type = TypeTime
	case 4:
		c.Type, c.kind = TypeDouble, modelFloat
	case 5:
		c.Type, c.kind = TypeVarchar, modelText
		if r.IntN(2) == 0 {
			c.kind, c.Collation = modelCI, foldASCII{}
		}
	default:
		c.Type, c.kind = TypeBlob, modelText
	}
	return c
}

// wideModelColumn is one of some hundred bytes a value, so that some dozen rows
// are more than a block.
func wideModelColumn(i int) modelColumn {
	return modelColumn{Column: Column{Name: fmt.Sprint("c", i), Type: TypeBlob, NotNull: true}, kind: modelText, wide: true}
}

var padding = strings.Repeat("All that a table has not in memory it has elsewhere. ", 20)

// value makes a value of the column; n in [0, domain) says which.
func (c *modelColumn) value(r *rand.Rand, domain int, texts *modelTexts) modelVal {
	if !c.NotNull && r.IntN(8) == 0 {
		return modelVal{null: true}
	}
	n := r.IntN(domain)
	if c.wide {
		s := padding[n%64:][:n%601]
		return modelVal{s: s, norm: s}
	}
	switch c.kind {
	case modelText, modelCI:
		return texts.value(n, c.kind, r)
	case modelFloat:
		if n == 0 {
			return modelVal{f: math.Copysign(0, float64(r.IntN(2)*2-1))}
		}
		return modelVal{f: float64(n-domain/2) / 4}
	}
	v := int64(n - domain/2)
	if c.Type == TypeTime {
		v *= 1e6
	}
	return modelVal{i: v}
}

// modelTexts are the texts of a harness: text n is always the same, and at most
// some bytes more than long.
type modelTexts struct {
	long  int
	plain [1 << 13]string
	upper [1 << 13]string // without regard to case
}

func (m *modelTexts) value(n int, k modelKind, r *rand.Rand) modelVal {
	if m.upper[n] == "" {
		m.plain[n] = modelString(n, m.long)
		m.upper[n] = strings.ToUpper(m.plain[n])
	}
	if k == modelText {
		return modelVal{s: m.plain[n], norm: m.plain[n]}
	}
	v := modelVal{s: m.plain[n], norm: m.upper[n]}
	if w := r.IntN(12); w < 3 {
		v.s = m.upper[n] + "  "[:w]
	}
	return v
}

func modelString(n, long int) string {
	s := strconv.FormatInt(int64(n*n+n), 16)
	if n%7 == 3 {
		s += strings.Repeat(string(rune('a'+n%5)), (n*31)%long)
	}
	return s[:len(s)-n%2]
}

// same reports whether two values are the same to the last bit.
func (v modelVal) same(w modelVal) bool {
	return v.null == w.null && v.i == w.i && v.s == w.s && math.Float64bits(v.f) == math.Float64bits(w.f)
}

// compare orders two values that are not NULL.
func (k modelKind) compare(v, w modelVal) int {
	switch k {
	case modelInt:
		return cmp.Compare(v.i, w.i)
	case modelFloat:
		return cmp.Compare(v.f+0, w.f+0)
	}
	return strings.Compare(v.norm, w.norm)
}

// comparePart orders two values as one part of a key does.
func comparePart(p KeyPart, k modelKind, v, w modelVal) int {
	switch {
	case v.null && w.null:
		return 0
	case v.null != w.null:
		if v.null == p.NullsLast {
			return 1
		}
		return -1
	}
	c := k.compare(v, w)
	if p.Desc {
		c = -c
	}
	return c
}

// appendModelKey appends bytes that are the same for equal values only.
func (k modelKind) appendModelKey(b []byte, v modelVal) []byte {
	if v.null {
		return append(b, 'N')
	}
	switch k {
	case modelInt:
		return binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v.i))
	case modelFloat:
		return binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(v.f+0))
	}
	return append(binary.BigEndian.AppendUint32(append(b, 's'), uint32(len(v.norm))), v.norm...)
}
