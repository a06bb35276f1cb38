package temptable

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// The model's values, and its own notions of equality and order. It shares no
// code with the engine.
type modelVal struct {
	null bool
	i    int64
	f    float64
	s    string
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

// value makes a value of the column; n in [0, domain) says which.
func (c *modelColumn) value(r *rand.Rand, domain, long int) modelVal {
	if !c.NotNull && r.IntN(8) == 0 {
		return modelVal{null: true}
	}
	n := r.IntN(domain)
	switch c.kind {
	case modelText, modelCI:
		return modelVal{s: modelString(n, long, c.kind, r)}
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

const hexDigits = "0123456789abcdef"

func modelString(n, long int, k modelKind, r *rand.Rand) string {
	var b [16]byte
	at := len(b)
	for v := n*n + n; v > 0 || at == len(b); v /= 16 {
		at--
		b[at] = hexDigits[v%16]
	}
	s := string(b[at:])
	if n%7 == 3 {
		s += strings.Repeat(string(rune('a'+n%5)), (n*31)%long)
	}
	s = s[:len(s)-n%2]
	if k == modelCI && r.IntN(4) == 0 {
		s = strings.ToUpper(s) + strings.Repeat(" ", r.IntN(3))
	}
	return s
}

// same reports whether two values are the same to the last bit.
func (v modelVal) same(w modelVal) bool {
	return v.null == w.null && v.i == w.i && v.s == w.s && math.Float64bits(v.f) == math.Float64bits(w.f)
}

// norm is what of a text counts.
func (k modelKind) norm(s string) string {
	if k == modelCI {
		return strings.ToUpper(strings.TrimRight(s, " "))
	}
	return s
}

// compare orders two values that are not NULL.
func (k modelKind) compare(v, w modelVal) int {
	switch k {
	case modelInt:
		return cmp.Compare(v.i, w.i)
	case modelFloat:
		return cmp.Compare(v.f+0, w.f+0)
	case modelText:
		return strings.Compare(v.s, w.s)
	}
	return strings.Compare(k.norm(v.s), k.norm(w.s))
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
		return fmt.Appendf(b, "i%d,", v.i)
	case modelFloat:
		return fmt.Appendf(b, "f%g,", v.f+0)
	}
	s := k.norm(v.s)
	return append(fmt.Appendf(b, "s%d:", len(s)), s...)
}
