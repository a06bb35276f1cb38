package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// store brings the text of a value that travels as bytes into the form in which
// it comes back: CHAR without the spaces at its end, BINARY filled with zero
// bytes, DECIMAL with all digits of its scale.
func (c *Column) store(text []byte) ([]byte, error) {
	switch c.Type {
	case Decimal:
		return c.storeDecimal(text)
	case JSON:
		return text, checkJSON(text)
	case Char:
		text = bytes.TrimRight(text, " ")
	}
	if err := c.checkLength(text); err != nil {
		return nil, err
	}
	if c.Type == Binary {
		return append(text, make([]byte, c.Length-len(text))...), nil
	}
	if c.Collation == nil {
		return text, nil
	}
	if _, err := c.Collation.AppendKey(nil, text); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return text, nil
}

// checkLength says whether a string fits in its column, in characters or in
// bytes.
func (c *Column) checkLength(text []byte) error {
	what, n := "bytes", len(text)
	if types[c.Type].kind == kindText {
		what, n = "characters", utf8.RuneCount(text)
	}
	if n > c.Length && types[c.Type].most > 0 {
		return fmt.Errorf("%d %s do not fit in %s", n, what, c)
	}
	return nil
}

func (c *Column) storeDecimal(text []byte) ([]byte, error) {
	s := string(text)
	_, exp, _ := strings.Cut(strings.ToLower(s), "e")
	if strings.Trim(s, "+-.0123456789eE") != "" || len(exp) > 4 {
		return nil, fmt.Errorf("%q is not a number", s)
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fmt.Errorf("%q is not a number", s)
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Scale)), nil))
	units := new(big.Rat).Mul(r, scale)
	if !units.IsInt() || len(new(big.Int).Abs(units.Num()).String()) > c.Length {
		return nil, fmt.Errorf("%s does not fit in %s", s, c)
	}
	return []byte(r.FloatString(c.Scale)), nil
}

// Key returns what a value of the column is compared by if it is not its stored
// bytes: nil where it is. It appends the key of a stored value, which it does
// not change.
func (c Column) Key() func(dst, value []byte) []byte {
	switch {
	case c.Type == JSON:
		return appendJSONKey
	case c.Collation != nil:
		return func(dst, value []byte) []byte {
			dst, _ = c.Collation.AppendKey(dst, value) // store has tried it
			return dst
		}
	}
	return nil
}

func checkJSON(text []byte) error {
	if !json.Valid(text) || !utf8.Valid(text) {
		return fmt.Errorf("%q is not JSON", text)
	}
	return nil
}

// appendJSONKey appends a text that two JSON values share exactly if SQL calls
// them equal: members in order, the last of each name; numbers by value.
func appendJSONKey(dst, text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	_ = d.Decode(&v) // checkJSON has seen it
	return appendJSON(dst, v)
}

func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case json.Number:
		return append(append(dst, '#'), canonicalNumber(string(v))...)
	case string:
		return strconv.AppendQuote(dst, v)
	case []any:
		dst = append(dst, '[')
		for _, x := range v {
			dst = append(appendJSON(dst, x), ',')
		}
		return append(dst, ']')
	case map[string]any:
		return appendObject(dst, v)
	}
	return fmt.Append(dst, v) // true, false, null
}

func appendObject(dst []byte, m map[string]any) []byte {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = append(dst, '{')
	for _, name := range names {
		dst = append(strconv.AppendQuote(dst, name), ':')
		dst = append(appendJSON(dst, m[name]), ',')
	}
	return append(dst, '}')
}

// canonicalNumber writes a JSON number as its digits, without zeros at either
// end, and the power of ten of the last one.
func canonicalNumber(s string) string {
	s, negative := strings.CutPrefix(s, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp, _ := strconv.Atoi(exponent)
	exp -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	exp += len(digits) - len(short)
	switch {
	case short == "":
		return "0"
	case negative:
		short = "-" + short
	}
	return fmt.Sprintf("%se%d", short, exp)
}
