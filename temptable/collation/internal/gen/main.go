// Command gen writes the tables of package collation and its test vectors.
//
//	apt-get install mariadb-server
//	cd temptable/collation/internal/gen && go run . && go test .
//
// The weights of the _0900_ collations come from vitess.io/vitess, whose tables
// are MySQL 8's; everything else comes from a MariaDB server that gen starts on a
// socket in a temporary directory. Both are facts of the collations, not code.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "../..", "`folder` of package collation")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	db, err := startMariaDB()
	if err != nil {
		return err
	}
	defer db.stop()
	files, err := generate(db)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns every file that gen writes, by its path in the package.
func generate(db *mariaDB) (map[string][]byte, error) {
	weights, err := db.weights()
	if err != nil {
		return nil, err
	}
	comparisons, err := db.comparisons()
	if err != nil {
		return nil, err
	}
	table := newUCATable()
	source, err := tablesSource(weights, table)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"tables.go":                source,
		"uca900.bin":               table.bytes(),
		"testdata/weights.tsv":     weights.file(db.version),
		"testdata/comparisons.tsv": comparisons,
		"testdata/uca900.tsv":      ucaVectors(),
		"testdata/uca900.sha256":   ucaSums(),
	}, nil
}
