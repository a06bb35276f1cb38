package input

import (
	"errors"
	"fmt"
	"strings"
)

// word is a piece of a declaration: a name, a number, a sign, or what was in
// quotes.
type word struct {
	text   string
	quoted bool
}

// words are those that are left.
type words struct{ left []word }

func (w *words) next() word {
	x := w.left[0]
	w.left = w.left[1:]
	return x
}

// take takes the given words, in lower case, if they are next.
func (w *words) take(want ...string) bool {
	if len(w.left) < len(want) {
		return false
	}
	for i, t := range want {
		if w.left[i].quoted || strings.ToLower(w.left[i].text) != t {
			return false
		}
	}
	w.left = w.left[len(want):]
	return true
}

var errArguments = errors.New("numbers or members in parentheses are wanted behind the type")

// arguments takes what is in parentheses, if anything is.
func (w *words) arguments() (args []word, err error) {
	if !w.take("(") {
		return nil, nil
	}
	for {
		if len(w.left) < 2 || !w.left[0].quoted && strings.Contains("(),", w.left[0].text) {
			return nil, errArguments
		}
		args = append(args, w.next())
		if w.take(")") {
			return args, nil
		}
		if !w.take(",") {
			return nil, errArguments
		}
	}
}

// attributes are what follows the type.
type attributes struct {
	unsigned, notNull bool
	collation         string
}

func (w *words) attributes() (a attributes, err error) {
	for len(w.left) > 0 {
		switch {
		case w.take("unsigned"):
			a.unsigned = true
		case w.take("not", "null"):
			a.notNull = true
		case w.take("null"):
		case len(w.left) > 1 && w.take("collate"):
			a.collation = strings.ToLower(w.next().text)
		default:
			return a, fmt.Errorf("%q is not understood", w.rest())
		}
	}
	return a, nil
}

func (w *words) rest() string {
	texts := make([]string, len(w.left))
	for i, x := range w.left {
		texts[i] = x.text
	}
	return strings.Join(texts, " ")
}

// splitColumns splits declarations at the commas outside of parentheses.
func splitColumns(s string) (decls []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'', '`':
			i = endOfQuote(s, i)
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				decls = append(decls, s[from:i])
				from = i + 1
			}
		}
	}
	return append(decls, s[from:])
}

// endOfQuote is the index of the quote that ends what begins at s[i], in which
// two quotes stand for one.
func endOfQuote(s string, i int) int {
	q := s[i]
	for i++; i < len(s); i++ {
		if s[i] == q && (i+1 == len(s) || s[i+1] != q) {
			return i
		}
		if s[i] == q {
			i++
		}
	}
	return i
}

// split makes words of a declaration.
func split(s string) (all []word) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'' || c == '`':
			end := endOfQuote(s, i)
			q := string(c)
			text := strings.ReplaceAll(s[i+1:min(end, len(s))], q+q, q)
			all = append(all, word{text, c == '\''})
			i = end + 1
		case strings.IndexByte("(),", c) >= 0:
			all = append(all, word{text: s[i : i+1]})
			i++
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		default:
			n := strings.IndexAny(s[i:], "(),'` \t\r\n")
			if n < 0 {
				n = len(s) - i
			}
			all = append(all, word{text: s[i : i+n]})
			i += n
		}
	}
	return all
}
