package collation_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spillway-db/spillway/temptable/collation"
	"github.com/stretchr/testify/require"
)

func all(t testing.TB) []collation.Collation {
	var cs []collation.Collation
	for _, name := range collation.Names() {
		cs = append(cs, byName(t, name))
	}
	return cs
}

func TestNames(t *testing.T) {
	noPad := []string{"binary", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs"}
	require.Equal(t, []string{
		"binary", "ascii_general_ci", "latin1_swedish_ci", "utf8mb4_bin",
		"utf8mb4_general_ci", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs",
	}, collation.Names())
	for _, c := range all(t) {
		require.Equal(t, !slices.Contains(noPad, c.Name()), c.PadSpace(), c.Name())
		require.True(t, c == byName(t, c.Name()), "two look-ups give one collation")
	}
	_, err := collation.ByName("klingon_ci")
	require.ErrorIs(t, err, collation.ErrUnknown)
	require.ErrorContains(t, err, "klingon_ci")
}

// TestKnownRelations are facts that MySQL's manual and every server agree on.
func TestKnownRelations(t *testing.T) {
	for _, v := range []struct{ name, chain string }{
		{"binary", "a < ab < b < ß"},
		{"binary", "A < a"},
		{"ascii_general_ci", "a = A < b = B"},
		{"utf8mb4_bin", "A < a < ä < ａ < 😀"},
		{"utf8mb4_general_ci", "a = Ä = á < b < s = ß < ss < æ"},
		{"utf8mb4_general_ci", "😀 = 🍣 = \ufffd"},
		{"utf8mb4_0900_ai_ci", "_ < 1 = ① < a = A = Á = ａ < ae = æ < b < ss = ß < σ = ς = Σ < я < か = ガ < 漢"},
		{"utf8mb4_0900_ai_ci", "a\x00b = ab = a\u00adb"},
		{"utf8mb4_0900_as_cs", "a < A < á < Á < ae < æ < ss < ß"},
		{"utf8mb4_0900_as_cs", "🍣 < 😀 < é = e\u0301 < 漢"},
	} {
		c := byName(t, v.name)
		words := strings.Fields(v.chain)
		for i := 2; i < len(words); i += 2 {
			want := map[string]int{"=": 0, "<": -1}[words[i-1]]
			require.Equal(t, want, compareKeys(t, c, []byte(words[i-2]), []byte(words[i])), "%s: %s", v.name, v.chain)
		}
	}
}

func TestTrailingSpaces(t *testing.T) {
	rising := []string{"", "a\x00", "a\t", "a \x1f", "a  \t", "a  \x1f", "a", "a  !", "a !", "a!", "ab"}
	for _, c := range append(all(t), collation.Latin1SwedishUTF8()) {
		if !c.PadSpace() {
			require.Equal(t, -1, compareKeys(t, c, []byte("a"), []byte("a ")), c.Name())
			continue
		}
		for i, a := range rising {
			require.Equal(t, keyOf(t, c, []byte(a)), keyOf(t, c, []byte(a+strings.Repeat(" ", i+1))), "%s %q", c.Name(), a)
			for j, b := range rising {
				want := max(-1, min(1, i-j))
				require.Equal(t, want, compareKeys(t, c, []byte(a), []byte(b+" ")), "%s %q %q", c.Name(), a, b)
			}
		}
	}
}

func TestInvalidBytes(t *testing.T) {
	rising := []string{"a", "\U0010ffff", "\x80", "\xc3", "\xc3a", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xff\xff"}
	for _, c := range []collation.Collation{
		byName(t, "utf8mb4_general_ci"), byName(t, "utf8mb4_0900_ai_ci"), byName(t, "utf8mb4_0900_as_cs"),
	} {
		for i := range rising[1:] {
			require.Equal(t, -1, compareKeys(t, c, []byte(rising[i]), []byte(rising[i+1])), "%s %q", c.Name(), rising[i+1])
		}
	}
	require.Equal(t, -1, compareKeys(t, byName(t, "utf8mb4_bin"), []byte("\xfd\xff"), []byte("\xfe")))
}

func TestLatin1OfOtherText(t *testing.T) {
	c := collation.Latin1SwedishUTF8()
	for _, text := range []string{"abc漢", "\xe4", "\u0152\u0100", "\ufffd", "\xff        "} {
		dst, err := c.AppendKey([]byte("kept"), []byte(text))
		require.ErrorIs(t, err, collation.ErrCharset, "%q", text)
		require.Equal(t, "kept", string(dst))
	}
}

// alphabet gives random texts many ties, runs of spaces and broken sequences.
var alphabet = []string{
	" ", " ", " ", "a", "A", "á", "b", "B", "z", "Z", "{", "!", "`", "\x00", "\t", "\x1f", "\x7f",
	"ß", "ss", "æ", "e\u0301", "é", "한", "漢", "😀", "\ufffd", "\U0010ffff", "\x80", "\xc3", "\xe2\x82", "\xfc", "\xfd", "\xff",
	"plain ASCII words", "ABCDEFGH",
}

func randomText(rng *rand.Rand) []byte {
	var b []byte
	for range rng.IntN(6) {
		b = append(b, alphabet[rng.IntN(len(alphabet))]...)
	}
	return b
}

// TestOrder holds keys against an independent comparison: equal texts have equal
// keys and no others do, and the order is the same. Since bytes.Compare is a total
// order, so is the collation then.
func TestOrder(t *testing.T) {
	weights := loadWeights(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		prefix := randomText(rng)
		a := slices.Concat(prefix, randomText(rng))
		b := slices.Concat(prefix, randomText(rng))
		for _, c := range all(t) {
			if got, want := compareKeys(t, c, a, b), weights.compare(t, c, a, b); got != want {
				t.Fatalf("%s: %q against %q is %d, want %d", c.Name(), a, b, got, want)
			}
		}
	}
}

// TestAppend shows that a key does not depend on where it is written, that what
// lies before it stays, and that the text is only read.
func TestAppend(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2_000 {
		src := randomText(rng)
		before := bytes.Clone(src)
		for _, c := range all(t) {
			dst, err := c.AppendKey([]byte("a \"\""), src)
			require.NoError(t, err)
			require.Equal(t, "a \"\""+string(keyOf(t, c, src)), string(dst), c.Name())
			require.Equal(t, before, src, c.Name())
		}
	}
}

func TestMaxKeyLenIsReached(t *testing.T) {
	longest := map[string]string{
		"binary": "abc", "ascii_general_ci": "abc", "latin1_swedish_ci": "abc", "utf8mb4_bin": "\xfd\xfe\xff",
		"utf8mb4_general_ci": "\x80\xc3\xff", "utf8mb4_0900_as_cs": "\ufdfa\ufdfa",
	}
	for name, text := range longest {
		c := byName(t, name)
		require.Len(t, keyOf(t, c, []byte(text)), c.MaxKeyLen(len(text)), name)
	}
}

func TestNoAllocation(t *testing.T) {
	for _, c := range append(all(t), collation.Latin1SwedishUTF8()) {
		for _, text := range []string{"", "plain ASCII", "tab\t \t and é, Ÿ  ", strings.Repeat("é", 100)} {
			if c.Name() == "latin1_swedish_ci" && c != collation.Latin1SwedishUTF8() {
				text = strings.ReplaceAll(text, "é", "\xe9")
			}
			src := []byte(text)
			dst := make([]byte, 0, c.MaxKeyLen(len(src)))
			allocs := testing.AllocsPerRun(100, func() { _, _ = c.AppendKey(dst, src) })
			require.Zero(t, allocs, "%s %q", c.Name(), text)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	for _, c := range all(t) {
		want := keyOf(t, c, []byte("Tab\t é 한 漢  "))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 100 {
					key, err := c.AppendKey(nil, []byte("Tab\t é 한 漢  "))
					if err != nil || !bytes.Equal(want, key) {
						t.Errorf("%s: %x, %v", c.Name(), key, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func FuzzOrder(f *testing.F) {
	cs := all(f)
	for i, text := range alphabet {
		f.Add(uint8(i), []byte(text+"  \t"), []byte(alphabet[len(alphabet)-1-i]+" "))
	}
	weights := loadWeights(f)
	f.Fuzz(func(t *testing.T, which uint8, a, b []byte) {
		c := cs[int(which)%len(cs)]
		want := weights.compare(t, c, a, b)
		if got, back := compareKeys(t, c, a, b), compareKeys(t, c, b, a); got != want || back != -want {
			t.Fatalf("%s: %q against %q is %d, and back %d, want %d", c.Name(), a, b, got, back, want)
		}
	})
}
