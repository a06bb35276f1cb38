package input

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSchema is returned for a text that describes no table.
var ErrSchema = errors.New("not a schema")

// Schema is the columns of a table.
type Schema []Column

// Column describes one column.
type Column struct {
	Name    string
	Type    Type
	Length  int // VARCHAR: the most characters
	FSP     int // TIME: digits behind the point of the seconds, 0 to 6
	NotNull bool
}

// String returns the schema as ParseSchema takes it.
func (s Schema) String() string {
	parts := make([]string, len(s))
	for i, c := range s {
		parts[i] = c.String()
	}
	return strings.Join(parts, ", ")
}

// String returns the column as SQL declares it.
func (c Column) String() string {
	text := c.Name + " " + types[c.Type].name
	switch {
	case c.isString():
		text += fmt.Sprintf("(%d)", c.Length)
	case c.FSP > 0:
		text += fmt.Sprintf("(%d)", c.FSP)
	}
	if types[c.Type].kind == kindUint {
		text += " unsigned"
	}
	if c.NotNull {
		text += " not null"
	}
	return text
}

func (c Column) isString() bool { return types[c.Type].kind == kindString }

// ParseSchema reads columns as SQL declares them, separated by commas:
//
//	i int not null, s varchar(64), t time(3), n bigint unsigned
//
// Errors are ErrSchema and name the column.
func ParseSchema(text string) (Schema, error) {
	var s Schema
	for i, decl := range strings.Split(text, ",") {
		c, err := parseColumn(decl)
		if err != nil {
			return nil, fmt.Errorf("%w: column %d, %q: %w", ErrSchema, i+1, strings.TrimSpace(decl), err)
		}
		s = append(s, c)
	}
	return s, nil
}

func parseColumn(decl string) (c Column, err error) {
	words := strings.Fields(spaceParens(decl))
	if len(words) < 2 {
		return c, errors.New("a name and a type are wanted")
	}
	c.Name = strings.Trim(words[0], "`")
	name, arg, rest, err := typeWords(lower(words[1:]))
	if err != nil {
		return c, err
	}
	rest = c.attributes(rest)
	if len(rest) > 0 && rest[0] == "unsigned" {
		name += " unsigned"
		rest = c.attributes(rest[1:])
	}
	if len(rest) > 0 {
		return c, fmt.Errorf("%q is not understood", strings.Join(rest, " "))
	}
	t, ok := typeNames[name]
	if !ok {
		return c, fmt.Errorf("type %s is not one of %s", name, knownTypes())
	}
	c.Type = t
	return c, c.setArg(arg)
}

// spaceParens makes words of "varchar (64)" and "varchar(64)" alike.
func spaceParens(s string) string {
	return strings.NewReplacer("(", " ( ", ")", " ) ").Replace(s)
}

func lower(words []string) []string {
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	return words
}

// typeWords splits off the type's name and its argument, -1 if there is none.
func typeWords(words []string) (name string, arg int, rest []string, err error) {
	name, rest = words[0], words[1:]
	if len(rest) == 0 || rest[0] != "(" {
		return name, -1, rest, nil
	}
	if len(rest) < 3 || rest[2] != ")" {
		return "", 0, nil, errors.New("one number in parentheses is wanted behind the type")
	}
	arg, err = strconv.Atoi(rest[1])
	if err != nil || arg < 0 {
		return "", 0, nil, fmt.Errorf("%q is not a length", rest[1])
	}
	return name, arg, rest[3:], nil
}

// attributes takes NULL and NOT NULL from the front of words.
func (c *Column) attributes(words []string) []string {
	switch {
	case len(words) > 0 && words[0] == "null":
		return words[1:]
	case len(words) > 1 && words[0] == "not" && words[1] == "null":
		c.NotNull = true
		return words[2:]
	}
	return words
}

// setArg applies the number behind the type; an integer's is its display
// width, which means nothing.
func (c *Column) setArg(arg int) error {
	switch {
	case c.isString():
		if arg < 0 || arg > maxVarchar {
			return fmt.Errorf("a length from 0 to %d is wanted", maxVarchar)
		}
		c.Length = arg
	case c.Type == Time && arg > 6:
		return errors.New("at most 6 digits of a second")
	case c.Type == Time:
		c.FSP = max(arg, 0)
	}
	return nil
}
