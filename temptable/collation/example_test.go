package collation_test

import (
	"bytes"
	"fmt"

	"github.com/spillway-db/spillway/temptable/collation"
)

// Keys of equal strings are equal, and bytes.Compare orders them.
func ExampleByName() {
	c, err := collation.ByName("latin1_swedish_ci")
	if err != nil {
		fmt.Println(err)
		return
	}
	key := func(s string) []byte {
		k, _ := c.AppendKey(nil, []byte(s)) // fails only where a charset can lack a character
		return k
	}
	fmt.Println(bytes.Equal(key("Spillway"), key("SPILLWAY  ")))
	fmt.Println(bytes.Compare(key("a\t"), key("a")), bytes.Compare(key("a"), key("ab")))
	// Output:
	// true
	// -1 -1
}

// Latin1 has no kanji, so the comparison that MySQL would make does not exist.
func ExampleLatin1SwedishUTF8() {
	c := collation.Latin1SwedishUTF8()
	u, _ := c.AppendKey(nil, []byte("Müller"))
	y, _ := c.AppendKey(nil, []byte("MYLLER"))
	_, err := c.AppendKey(nil, []byte("漢字"))
	fmt.Println(bytes.Equal(u, y))
	fmt.Println(err)
	// Output:
	// true
	// latin1_swedish_ci: character "漢": text is not in the collation's character set
}
