package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spillway-db/spillway/cmd/spillway/internal/progress"
)

// Format says how a text is to be read.
type Format struct {
	// Null is the text of a NULL, beside \N, which always is one. The mysql
	// client's batch output writes NULL.
	Null string
	// Header says that the first line names the columns; it is skipped.
	Header bool
}

// ParseError is a text that does not fit the schema.
type ParseError struct {
	Line   int    // from 1
	Column int    // from 1; 0: the whole line
	Name   string // of the column
	Err    error
}

// Error names the place.
func (e *ParseError) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d, column %d (%s): %v", e.Line, e.Column, e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }

// ReadFile is Read of a file, whose name is put before every error. m, if not
// nil, shows how far it is.
func ReadFile(ctx context.Context, name string, s Schema, f Format, m *progress.Meter) (*Table, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	task := m.Start("read "+filepath.Base(name), progress.Bytes, size(file))
	defer task.End()
	t, err := Read(ctx, progress.Reader(file, task), s, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// size is the length of a file, 0 if it has none.
func size(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// Read reads tab-separated text, compressed with gzip or not, as a server or
// its client exports it: a line a row; a backslash before a character that
// would end the field, or as in \t \n \r \0 \b \Z \\. Errors are ParseErrors,
// or those of the reader or of ctx.
func Read(ctx context.Context, r io.Reader, s Schema, f Format) (*Table, error) {
	buf, err := plain(r)
	if err != nil {
		return nil, err
	}
	p := parser{r: buf, t: NewTable(s), null: []byte(f.Null)}
	if f.Header {
		if err := p.skipHeader(); err != nil {
			return nil, err
		}
	}
	for {
		if p.t.N%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if more, err := p.row(); err != nil || !more {
			return p.t, err
		}
	}
}

// plain unpacks r if it begins as gzip does.
func plain(r io.Reader) (*bufio.Reader, error) {
	buf := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := buf.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buf, nil
	}
	z, err := gzip.NewReader(buf)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, 64<<10), nil
}

// parser reads one table.
type parser struct {
	r     *bufio.Reader
	t     *Table
	null  []byte
	line  []byte // the row's text, without the newline that ends it
	lines int    // read so far
	field []byte // scratch
}

func (p *parser) skipHeader() error {
	more, err := p.next()
	if err != nil || !more {
		return err
	}
	if n := countFields(p.line); n != len(p.t.Schema) {
		return &ParseError{Line: 1, Err: fmt.Errorf("the header has %d columns, the schema %d", n, len(p.t.Schema))}
	}
	return nil
}

// row reads one row and says whether there was one.
func (p *parser) row() (bool, error) {
	first := p.lines + 1
	more, err := p.next()
	if err != nil || !more {
		return false, err
	}
	if n := countFields(p.line); n != len(p.t.Schema) {
		return false, &ParseError{Line: first, Err: fmt.Errorf("%d columns, the schema has %d", n, len(p.t.Schema))}
	}
	rest := p.line
	for c := range p.t.Schema {
		var raw []byte
		raw, rest = cutField(rest)
		if err := p.value(c, raw); err != nil {
			return false, &ParseError{Line: first, Column: c + 1, Name: p.t.Schema[c].Name, Err: err}
		}
	}
	p.t.N++
	return true, nil
}

// next reads the next row's text into p.line: a line, and those that an escaped
// newline ties to it. It returns false at the end.
func (p *parser) next() (bool, error) {
	p.line = p.line[:0]
	for {
		part, err := p.r.ReadSlice('\n')
		p.line = append(p.line, part...)
		switch {
		case err == nil:
			p.lines++
			if body := p.line[:len(p.line)-1]; !endsInEscape(body) {
				p.line = body
				return true, nil
			}
		case errors.Is(err, io.EOF):
			p.lines++
			return len(p.line) > 0, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, fmt.Errorf("line %d: %w", p.lines+1, err)
		}
	}
}

// endsInEscape says whether the backslash at the end of s, if any, escapes what
// follows.
func endsInEscape(s []byte) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// cutField splits s at its first tab that is not escaped.
func cutField(s []byte) (field, rest []byte) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\t':
			return s[:i], s[i+1:]
		}
	}
	return s, nil
}

func countFields(s []byte) int {
	n := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\t':
			n++
		}
	}
	return n
}

// value appends the value of column c whose text is raw.
func (p *parser) value(c int, raw []byte) error {
	col, v := &p.t.Schema[c], &p.t.Cols[c]
	if p.isNull(raw) {
		if col.NotNull {
			return errors.New("NULL in a column that is NOT NULL")
		}
		v.appendNull(p.t.N)
		return nil
	}
	p.field = unescape(p.field[:0], raw)
	switch {
	case col.isString():
		stored, err := col.store(p.field)
		return errors.Join(err, v.appendText(p.t.N, stored))
	case col.isFloat():
		x, err := col.parseFloat(p.field)
		v.appendFloat(p.t.N, x)
		return err
	}
	x, err := col.parse(p.field)
	v.appendInt(p.t.N, x)
	return err
}

func (p *parser) isNull(raw []byte) bool {
	return bytes.Equal(raw, p.null) || string(raw) == `\N`
}

// escapes are the characters that a backslash and a letter stand for (MySQL's
// LOAD DATA); any other character stands for itself.
var escapes = [256]byte{'0': 0, 'b': '\b', 'n': '\n', 'r': '\r', 't': '\t', 'Z': 26}

// unescape appends raw to dst with its escapes resolved.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		b := raw[i]
		if b == '\\' && i+1 < len(raw) {
			i++
			b = escaped(raw[i])
		}
		dst = append(dst, b)
	}
	return dst
}

func escaped(b byte) byte {
	if e := escapes[b]; e != 0 || b == '0' {
		return e
	}
	return b
}
