// Package joinit holds the table of the bug report: 32,768 rows made by the
// report's own statements on a real server, and what that server answers about
// them.
//
// It promises the data as it was exported, compressed; it never parses it.
package joinit

import (
	_ "embed"
	"io"
	"strings"
)

// The shape and the known answers of the table; README.md says where they are
// from. The second table of the report, joinit2, is an exact copy.
const (
	// Schema lists the columns of schema.sql as `spillway union --schema`
	// takes them.
	Schema = "i int not null, s varchar(64), t time not null, g int not null"
	// Rows is the number of rows of joinit, of joinit2 and of their UNION.
	Rows = 32768
	// Checksum is SUM(CRC32(CONCAT_WS('|',i,s,t,g))) over the rows of the
	// UNION.
	Checksum = 70478173962876
)

//go:embed joinit.tsv.gz
var tsv string

// Open returns the table in the server's batch format, compressed with gzip:
// a line a row, the columns i, s, t and g separated by tabs.
func Open() io.Reader { return strings.NewReader(tsv) }
