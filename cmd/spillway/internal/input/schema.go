package input

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-db/spillway/temptable/collation"
)

// ErrSchema is returned for a text that describes no table.
var ErrSchema = errors.New("not a schema")

// Schema is the columns of a table.
type Schema []Column

// Column describes one column.
type Column struct {
	Name string
	Type Type
	// Length is the most characters of CHAR and VARCHAR, bytes of BINARY and
	// VARBINARY, bits of BIT, digits of DECIMAL.
	Length  int
	Scale   int      // of DECIMAL: digits behind the point
	FSP     int      // of TIME, DATETIME, TIMESTAMP: digits behind the point of the seconds, 0 to 6
	Members []string // of ENUM and SET
	NotNull bool
	// Collation of text; nil compares bytes.
	Collation collation.Collation
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
	text := c.Name + " " + types[c.Type].name + c.argument()
	if types[c.Type].kind == kindUint {
		text += " unsigned"
	}
	if c.Collation != nil {
		text += " collate " + c.Collation.Name()
	}
	if c.NotNull {
		text += " not null"
	}
	return text
}

// argument is what is in parentheses behind the type.
func (c Column) argument() string {
	switch {
	case len(c.Members) > 0:
		quoted := make([]string, len(c.Members))
		for i, m := range c.Members {
			quoted[i] = "'" + strings.ReplaceAll(m, "'", "''") + "'"
		}
		return "(" + strings.Join(quoted, ",") + ")"
	case c.Scale > 0:
		return fmt.Sprintf("(%d,%d)", c.Length, c.Scale)
	case c.Length > 0 || c.takesLength():
		return fmt.Sprintf("(%d)", c.Length)
	case c.FSP > 0:
		return fmt.Sprintf("(%d)", c.FSP)
	}
	return ""
}

// ParseSchema reads columns as SQL declares them, separated by commas:
//
//	i int not null, s varchar(64) collate utf8mb4_0900_ai_ci, d decimal(10,2), e enum('a','b')
//
// The names of collations are those of package temptable/collation; without one
// text is compared as bytes. Errors are ErrSchema and name the column.
func ParseSchema(text string) (Schema, error) {
	var s Schema
	for i, decl := range splitColumns(text) {
		c, err := parseColumn(decl)
		if err != nil {
			return nil, fmt.Errorf("%w: column %d, %q: %w", ErrSchema, i+1, strings.TrimSpace(decl), err)
		}
		s = append(s, c)
	}
	return s, nil
}

func parseColumn(decl string) (c Column, err error) {
	w := words{split(decl)}
	if len(w.left) < 2 {
		return c, errors.New("a name and a type are wanted")
	}
	c.Name = w.next().text
	name := strings.ToLower(w.next().text)
	args, err := w.arguments()
	if err != nil {
		return c, err
	}
	a, err := w.attributes()
	if err != nil {
		return c, err
	}
	if a.unsigned {
		name += " unsigned"
	}
	t, ok := typeNames[name]
	if !ok {
		return c, fmt.Errorf("type %s is not one of %s", name, strings.Join(knownTypes(), ", "))
	}
	c.Type, c.NotNull = t, a.notNull
	return c, errors.Join(c.setArguments(args), c.setCollation(a.collation))
}

// setCollation finds the collation by its name. The text is UTF-8 whatever the
// name says.
func (c *Column) setCollation(name string) (err error) {
	switch {
	case name == "":
		return nil
	case !c.takesCollation():
		return fmt.Errorf("%s takes no collation", c.Type)
	case name == "binary":
		return nil
	case name == "latin1_swedish_ci":
		c.Collation = collation.Latin1SwedishUTF8()
		return nil
	}
	if c.Collation, err = collation.ByName(name); err != nil {
		return fmt.Errorf("collation %s is not one of %s", name, strings.Join(collation.Names(), ", "))
	}
	return nil
}

// setArguments applies what is in parentheses behind the type. An integer's
// number is its display width, which means nothing.
func (c *Column) setArguments(args []word) error {
	switch {
	case c.Type == Enum || c.Type == Set:
		return c.setMembers(args)
	case len(args) > 2 || len(args) == 2 && c.Type != Decimal && c.Type != Float && c.Type != Double:
		return fmt.Errorf("too many numbers behind %s", c.Type)
	}
	n, err := numbers(args)
	if err != nil {
		return err
	}
	switch {
	case c.takesFSP():
		return c.setFSP(n)
	case c.Type == Decimal:
		return c.setDecimal(n)
	}
	return c.setLength(n)
}

func (c *Column) setMembers(args []word) error {
	most := maxNames
	if c.Type == Set {
		most = maxMembers
	}
	for _, a := range args {
		if !a.quoted || slices.Contains(c.Members, a.text) || c.Type == Set && strings.Contains(a.text, ",") {
			return fmt.Errorf("%s is no new member in quotes", a.text)
		}
		c.Members = append(c.Members, a.text)
	}
	if len(c.Members) == 0 || len(c.Members) > most {
		return fmt.Errorf("1 to %d members in quotes are wanted, as in %s('a','b')", most, c.Type)
	}
	return nil
}

func (c *Column) setFSP(n []int) error {
	if len(n) > 0 {
		c.FSP = n[0]
	}
	if c.FSP > maxFSP {
		return errors.New("at most 6 digits of a second")
	}
	return nil
}

func (c *Column) setDecimal(n []int) error {
	c.Length = 10
	if len(n) > 0 {
		c.Length = n[0]
	}
	if len(n) > 1 {
		c.Scale = n[1]
	}
	if c.Length < 1 || c.Length > maxDigits || c.Scale > min(c.Length, maxScale) {
		return fmt.Errorf("1 to %d digits, at most %d of them behind the point", maxDigits, maxScale)
	}
	return nil
}

func (c *Column) setLength(n []int) error {
	most := types[c.Type].most
	switch {
	case most == 0:
		return nil
	case len(n) > 0:
		c.Length = n[0]
	case !c.takesLength():
		c.Length = 1 // CHAR, BINARY, BIT
	default:
		return fmt.Errorf("a length from 0 to %d is wanted", most)
	}
	if c.Length > most || c.Type == Bit && c.Length == 0 {
		return fmt.Errorf("a length from 0 to %d is wanted", most)
	}
	return nil
}

func numbers(args []word) (ns []int, err error) {
	for _, a := range args {
		n, err := strconv.Atoi(a.text)
		if err != nil || n < 0 || a.quoted {
			return nil, fmt.Errorf("%q is not a length", a.text)
		}
		ns = append(ns, n)
	}
	return ns, nil
}
