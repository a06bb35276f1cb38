package collation_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spillway-db/spillway/temptable/collation"
	"github.com/stretchr/testify/require"
)

// vectors returns the lines of a file in testdata, cut at tabs, without comments.
func vectors(t testing.TB, name string) [][]string {
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	require.NotEmpty(t, rows)
	return rows
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

func number(t testing.TB, s string) rune {
	n, err := strconv.ParseUint(s, 16, 32)
	require.NoError(t, err)
	return rune(n)
}

func byName(t testing.TB, name string) collation.Collation {
	c, err := collation.ByName(name)
	require.NoError(t, err)
	return c
}

func keyOf(t testing.TB, c collation.Collation, src []byte) []byte {
	key, err := c.AppendKey(nil, src)
	if err != nil || len(key) > c.MaxKeyLen(len(src)) {
		t.Fatalf("%s: key of %q is %x, %v", c.Name(), src, key, err)
	}
	return key
}

func compareKeys(t testing.TB, c collation.Collation, a, b []byte) int {
	return bytes.Compare(keyOf(t, c, a), keyOf(t, c, b))
}

func TestComparisonsOfMariaDB(t *testing.T) {
	weights := loadWeights(t)
	seen := map[string]int{}
	for _, row := range vectors(t, "comparisons.tsv") {
		c := byName(t, row[0])
		a, b := unhex(t, row[1]), unhex(t, row[2])
		want, err := strconv.Atoi(row[3])
		require.NoError(t, err)
		require.Equal(t, want, compareKeys(t, c, a, b), row)
		require.Equal(t, want, weights.compare(t, c, a, b), row)
		seen[row[0]]++
	}
	for _, name := range []string{"ascii_general_ci", "latin1_swedish_ci", "utf8mb4_bin", "utf8mb4_general_ci"} {
		require.Equal(t, 1500, seen[name], name)
	}
}

// TestWeightsOfMariaDB holds the order of all single characters against the
// weights, which is the order of the keys' first codes.
func TestWeightsOfMariaDB(t *testing.T) {
	weights := loadWeights(t)
	for _, c := range []collation.Collation{byName(t, "ascii_general_ci"), byName(t, "latin1_swedish_ci")} {
		for a := range 256 {
			for b := range 256 {
				x, y := []byte{byte(a)}, []byte{byte(b)}
				if got, want := compareKeys(t, c, x, y), weights.compare(t, c, x, y); got != want {
					t.Fatalf("%s: %x against %x is %d, want %d", c.Name(), a, b, got, want)
				}
			}
		}
	}
}

func TestGeneralWeightsOfEveryCharacter(t *testing.T) {
	weights := loadWeights(t)
	c := byName(t, "utf8mb4_general_ci")
	for r := range rune(utf8.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		w := rune(weights.general(r))
		key := keyOf(t, c, []byte(string(r)))
		if key2 := keyOf(t, c, []byte(string(w))); !bytes.Equal(key, key2) {
			t.Fatalf("%U has key %x, its weight %U has %x", r, key, w, key2)
		}
		if w >= utf8.RuneSelf && string(key[:len(key)-1]) != string(w) {
			t.Fatalf("%U has key %x, want the weight %U", r, key, w)
		}
	}
}

func TestKeysOfMySQL0900(t *testing.T) {
	for _, row := range vectors(t, "uca900.tsv") {
		c := byName(t, row[0])
		require.Equal(t, row[2], hex.EncodeToString(keyOf(t, c, unhex(t, row[1]))), row)
	}
}

func TestKeysOfEveryCharacter0900(t *testing.T) {
	for _, row := range vectors(t, "uca900.sha256") {
		c := byName(t, row[0])
		h := sha256.New()
		var key []byte
		for r := range rune(utf8.MaxRune + 1) {
			if utf8.ValidRune(r) {
				key, _ = c.AppendKey(key[:0], utf8.AppendRune(nil, r))
				h.Write(append(key, '\n'))
			}
		}
		require.Equal(t, row[1], hex.EncodeToString(h.Sum(nil)), row[0])
	}
}

func TestLatin1OfUTF8(t *testing.T) {
	bytesOf, textOf := byName(t, "latin1_swedish_ci"), collation.Latin1SwedishUTF8()
	seen := 0
	for _, row := range vectors(t, "weights.tsv") {
		if row[0] == "latin1" {
			text := []byte(string(number(t, row[2])))
			require.Equal(t, keyOf(t, bytesOf, unhex(t, row[1])), keyOf(t, textOf, text), row)
			seen++
		}
	}
	require.Equal(t, 256, seen)
}
