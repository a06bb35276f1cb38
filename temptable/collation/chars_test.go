package collation_test

import (
	"testing"

	"github.com/spillway-db/spillway/temptable/collation"
	"github.com/stretchr/testify/require"
)

// Collations of UTF-8 text count characters, the others have one byte each.
func TestChars(t *testing.T) {
	type counter interface{ Chars(src []byte) int }
	for _, name := range collation.Names() {
		c, err := collation.ByName(name)
		require.NoError(t, err)
		k, ok := c.(counter)
		require.Equal(t, len(name) > 4 && name[:4] == "utf8", ok, name)
		if ok {
			require.Equal(t, 0, k.Chars(nil))
			require.Equal(t, 4, k.Chars([]byte("aä漢😀")))
			require.Equal(t, 3, k.Chars([]byte("a\xff\xc3")), "an invalid byte is a character")
		}
	}
	require.Equal(t, 1, collation.Latin1SwedishUTF8().(counter).Chars([]byte("å")))
}
