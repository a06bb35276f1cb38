package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// weightTables is what a server answers to WEIGHT_STRING.
type weightTables struct {
	ascii   [128]byte       // of each byte of ascii_general_ci
	latin1  [256]byte       // of each byte of latin1_swedish_ci
	unicode [256]rune       // the character of each latin1 byte
	general map[rune]uint16 // utf8mb4_general_ci, where it is not the BMP character itself
}

const weightsSQL = `
SELECT seq, HEX(WEIGHT_STRING(CHAR(seq USING ascii) COLLATE ascii_general_ci)) FROM seq_0_to_127 ORDER BY seq;
SELECT seq, HEX(WEIGHT_STRING(CHAR(seq USING latin1) COLLATE latin1_swedish_ci)) FROM seq_0_to_255 ORDER BY seq;
SELECT seq, HEX(CONVERT(CHAR(seq USING latin1) USING utf32)) FROM seq_0_to_255 ORDER BY seq;
SELECT seq, HEX(WEIGHT_STRING(CONVERT(CHAR(seq USING utf32) USING utf8mb4) COLLATE utf8mb4_general_ci))
  FROM seq_0_to_1114111 WHERE seq NOT BETWEEN 55296 AND 57343 ORDER BY seq;`

func (db *mariaDB) weights() (*weightTables, error) {
	rows, err := db.query(weightsSQL)
	if err != nil {
		return nil, err
	}
	numbers, err := parseHex(rows)
	if err != nil {
		return nil, err
	}
	if want := 128 + 256 + 256 + 0x110000 - 0x800; len(numbers) != want {
		return nil, fmt.Errorf("%d weights, want %d", len(numbers), want)
	}
	return split(numbers), nil
}

// parseHex returns the pairs of a decimal and a hexadecimal number in rows.
func parseHex(rows [][]string) ([][2]rune, error) {
	numbers := make([][2]rune, len(rows))
	for i, row := range rows {
		key, err := strconv.Atoi(row[0])
		if err != nil {
			return nil, err
		}
		value, err := strconv.ParseUint(row[1], 16, 32)
		if err != nil {
			return nil, fmt.Errorf("weight of %d: %w", key, err)
		}
		numbers[i] = [2]rune{rune(key), rune(value)}
	}
	return numbers, nil
}

func split(numbers [][2]rune) *weightTables {
	w := &weightTables{general: map[rune]uint16{}}
	for i, n := range numbers {
		switch {
		case i < 128:
			w.ascii[n[0]] = byte(n[1])
		case i < 128+256:
			w.latin1[n[0]] = byte(n[1])
		case i < 128+512:
			w.unicode[n[0]] = n[1]
		case n[0] != n[1]:
			w.general[n[0]] = uint16(n[1])
		}
	}
	return w
}

// file lists the weights for the package's tests.
func (w *weightTables) file(version string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# WEIGHT_STRING of every character, and the Unicode of every latin1 byte, as answered by\n# MariaDB %s. Left out: characters of the BMP that weigh themselves\n# in utf8mb4_general_ci; those beyond it, which all weigh FFFD there.\n", strings.TrimSpace(version))
	for c, weight := range w.ascii {
		fmt.Fprintf(&b, "ascii_general_ci\t%02X\t%02X\n", c, weight)
	}
	for c, weight := range w.latin1 {
		fmt.Fprintf(&b, "latin1_swedish_ci\t%02X\t%02X\n", c, weight)
	}
	for c, r := range w.unicode {
		fmt.Fprintf(&b, "latin1\t%02X\t%04X\n", c, r)
	}
	for r := range rune(0x10000) {
		if weight, ok := w.general[r]; ok {
			fmt.Fprintf(&b, "utf8mb4_general_ci\t%04X\t%04X\n", r, weight)
		}
	}
	return b.Bytes()
}
