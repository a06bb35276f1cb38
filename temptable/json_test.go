package temptable

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func jsonKeyOf(t testing.TB, text string) []byte {
	t.Helper()
	key, err := jsonCollation{}.AppendKey(nil, []byte(text))
	require.NoError(t, err, text)
	require.LessOrEqual(t, len(key), jsonCollation{}.MaxKeyLen(len(text)))
	return key
}

func TestJSONEqual(t *testing.T) {
	for _, same := range [][]string{
		{"1", "1.0", "1e0", "10e-1", "0.1E+1", " 1 ", "100e-2", "1.000000000000000000000000000000000000000"},
		{"0", "-0", "0.0", "0e5", "-0.00E-7"},
		{"-12.5", "-125e-1", "-0.125e2"},
		{`"a"`, `"\u0061"`}, {`"/"`, `"\/"`}, {`"😀"`, `"\ud83d\ude00"`}, {`"\u0000"`, "\"\\u0000\""},
		{`{}`, ` { } `}, {`[]`, "[\n]"},
		{`{"a":1,"b":2}`, `{"b":2.0,"a":1}`, `{"a":7,"b":2,"a":1}`, `{ "b" : 2 , "\u0061" : 1e0 }`},
		{`[1,"x",null,true,false,{"k":[]}]`, `[ 1.0 , "x" , null , true , false , { "k" : [ ] } ]`},
	} {
		for _, text := range same[1:] {
			require.Equal(t, jsonKeyOf(t, same[0]), jsonKeyOf(t, text), "%s and %s", same[0], text)
		}
	}
}

// TestJSONOrder has MySQL's order, least first.
func TestJSONOrder(t *testing.T) {
	ascending := []string{
		"null", "-1e100", "-100", "-10.1", "-10", "-1.5", "-1", "-1e-100", "0", "1e-100", "0.1", "0.12", "1",
		"1.00000000000000000001", "9", "10", "18446744073709551615", "18446744073709551616", "1e100",
		`""`, `"\u0000"`, `"\u0000\u0000"`, `"\u0001"`, `"A"`, `"a"`, `"ab"`, `"ä"`,
		"{}", `{"a":1}`, `{"a":2}`, `{"b":1}`, `{"a":1,"b":1}`,
		"[]", "[null]", "[1]", "[1,1]", "[2]", `["a"]`, "[[]]", "false", "true",
	}
	for i := 1; i < len(ascending); i++ {
		a, b := jsonKeyOf(t, ascending[i-1]), jsonKeyOf(t, ascending[i])
		require.Negative(t, bytes.Compare(a, b), "%s and %s", ascending[i-1], ascending[i])
	}
}

func TestJSONRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "nul", "nulll", "truefalse", "+1", "01", "-", ".5", "5.", "1e", "1e+", "--1", "1 2", "[1", "[1,]", "[,1]", "]",
		"{", `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{1:1}`, `"`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\u12`, `"\ud800"`, `"\ud800\u0041"`,
		`"\udc00"`, "\"\x01\"", "\"\xff\"", "\"\n\"", "'a'", "\x00", "1\x00", "1e9999999999", strings.Repeat("[", 200),
		strings.Repeat("[", 101) + strings.Repeat("]", 101),
	} {
		_, err := jsonCollation{}.AppendKey(nil, []byte(text))
		require.ErrorIs(t, err, ErrJSON, text)
	}
}

func randomJSON(rng *rand.Rand, depth int) string {
	switch rng.IntN(7 + depth) {
	case 0:
		return pick(rng, "null", "true", "false")
	case 1, 2:
		return pick(rng, "0", "-0", "1", "1.0", "10e-1", "-1", "2", "0.5", "5e-1", "1e2", "100", fmt.Sprint(rng.IntN(300)), fmt.Sprintf("%.2f", rng.NormFloat64()))
	case 3, 4:
		return pick(rng, `""`, `"a"`, `"\u0061"`, `"b"`, `"ab"`, `"\u0000"`, `"ä"`, `"1"`)
	case 5:
		return "[" + strings.Join(jsonList(rng, depth, func() string { return randomJSON(rng, depth-1) }), ",") + "]"
	case 6:
		member := func() string { return pick(rng, `"a"`, `"b"`, `"\u0061"`, `""`) + ":" + randomJSON(rng, depth-1) }
		return "{" + strings.Join(jsonList(rng, depth, member), ",") + "}"
	}
	return randomJSON(rng, depth-1)
}

func jsonList(rng *rand.Rand, depth int, one func() string) []string {
	if depth <= 0 {
		return nil
	}
	list := make([]string, rng.IntN(4))
	for i := range list {
		list[i] = one()
	}
	return list
}

// compareJSON is the order by the standard library's idea of the values.
func compareJSON(a, b any) int {
	if r := cmp.Compare(jsonRank(a), jsonRank(b)); r != 0 {
		return r
	}
	switch x := a.(type) {
	case json.Number:
		p, _ := new(big.Rat).SetString(string(x))
		q, _ := new(big.Rat).SetString(string(b.(json.Number)))
		return p.Cmp(q)
	case string:
		return strings.Compare(x, b.(string))
	case []any:
		return slices.CompareFunc(x, b.([]any), compareJSON)
	case map[string]any:
		return compareObjects(x, b.(map[string]any))
	}
	return 0
}

func jsonRank(v any) int {
	switch x := v.(type) {
	case nil:
		return 0
	case json.Number:
		return 1
	case string:
		return 2
	case map[string]any:
		return 3
	case []any:
		return 4
	case bool:
		return 5 + one01(x)
	}
	panic(v)
}

func compareObjects(a, b map[string]any) int {
	if r := cmp.Compare(len(a), len(b)); r != 0 {
		return r
	}
	p, q := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	for i := range p {
		if r := cmp.Or(strings.Compare(p[i], q[i]), compareJSON(a[p[i]], b[q[i]])); r != 0 {
			return r
		}
	}
	return 0
}

func decodeJSON(t testing.TB, text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v), text)
	return v
}

func TestJSONModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range rounds(20_000) {
		a, b := randomJSON(rng, 3), randomJSON(rng, 3)
		want := compareJSON(decodeJSON(t, a), decodeJSON(t, b))
		require.Equal(t, want, bytes.Compare(jsonKeyOf(t, a), jsonKeyOf(t, b)), "%s and %s", a, b)
	}
}

// FuzzJSON holds the acceptance of texts against the standard library, which
// lets bad surrogates and bad UTF-8 pass.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e3,"\u00e4",null,true]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := jsonCollation{}.AppendKey(nil, text)
		if err == nil {
			require.True(t, json.Valid(text), "%q", text)
		}
	})
}

func TestJSONColumn(t *testing.T) {
	s, err := NewSchema([]Column{{Name: "doc", Type: TypeJSON}}, Distinct())
	require.NoError(t, err)
	encode := func(text string) []byte {
		w := newRowWriter(s)
		w.setString(0, text)
		row, err := w.finish()
		require.NoError(t, err)
		return row
	}
	a, b := encode(`{"x":1,"y":[2]}`), encode(`{"y":[2.0],"x":1}`)
	ha, err := s.keyHash(a)
	require.NoError(t, err)
	hb, err := s.keyHash(b)
	require.NoError(t, err)
	require.Equal(t, ha, hb)
	equal, err := s.keyEqual(a, b)
	require.NoError(t, err)
	require.True(t, equal)
	_, err = s.keyHash(encode("{"))
	require.ErrorIs(t, err, ErrJSON)
	require.ErrorContains(t, err, "column 0 (doc)")
}
