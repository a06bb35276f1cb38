package main

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"vitess.io/vitess/go/mysql/collations"
	"vitess.io/vitess/go/mysql/collations/colldata"
)

// mysqlVersion is the server whose collations vitess is asked for.
const mysqlVersion = "8.0.30"

var mysql = collations.NewEnvironment(mysqlVersion)

// vitessKey returns the WEIGHT_STRING of text.
func vitessKey(collation, text string) []byte {
	return colldata.Lookup(mysql.LookupByName(collation)).WeightString(nil, []byte(text), 0)
}

func valid(r rune) bool { return r < 0xD800 || r > 0xDFFF }

// levels returns the weights of r on each of the three levels.
func levels(r rune) [3]string {
	key := vitessKey("utf8mb4_0900_as_cs", string(r))
	var out [3]string
	level := 0
	for ; len(key) > 0; key = key[2:] {
		if key[0] == 0 && key[1] == 0 {
			level++
			continue
		}
		out[level] += string(key[:2])
	}
	return out
}

// Ids of characters whose weights the package computes.
const (
	unassigned = iota
	han
	hanExtension
	tangut
	hangul
	computed
)

// computedID returns the id of r if its weights follow a rule.
func computedID(r rune, w [3]string) (int, bool) {
	if r >= 0xAC00 && r <= 0xD7AF {
		return hangul, w == hangulLevels(r)
	}
	for id, base := range []uint16{unassigned: 0xFBC0, han: 0xFB40, hanExtension: 0xFB80} {
		if w == implicitLevels(base+uint16(r>>15), uint16(r)) {
			return id, true
		}
	}
	return tangut, w == implicitLevels(0xFB00, uint16(r-0x17000))
}

func implicitLevels(a, b uint16) [3]string {
	first := binary.BigEndian.AppendUint16(nil, a)
	return [3]string{string(binary.BigEndian.AppendUint16(first, b|0x8000)), "\x00\x20", "\x00\x02"}
}

func hangulLevels(r rune) (w [3]string) {
	s := r - 0xAC00
	jamo := []rune{0x1100 + s/588, 0x1161 + s/28%21, 0x11A7 + s%28}
	if s%28 == 0 {
		jamo = jamo[:2]
	}
	for _, j := range jamo {
		for i, level := range levels(j) {
			w[i] += level
		}
	}
	return w
}

// ucaTable is the table in the making; ucatable.go of the package describes it.
type ucaTable struct {
	index, pages []uint16
	ids          [3][]uint16
	pool         [3][]byte
	ascii        [3][128]uint16

	pageOf map[string]uint16
	idOf   map[[3]string]uint16
	poolAt [3]map[string]uint16
}

func newUCATable() *ucaTable {
	t := &ucaTable{
		pageOf: map[string]uint16{},
		idOf:   map[[3]string]uint16{},
		poolAt: [3]map[string]uint16{{}, {}, {}},
	}
	for page := range rune(0x1100) {
		t.addPage(page << 8)
	}
	for r := range rune(128) {
		for i, w := range levels(r) {
			if w != "" {
				t.ascii[i][r] = binary.BigEndian.Uint16([]byte(w))
			}
		}
	}
	return t
}

func (t *ucaTable) addPage(first rune) {
	ids := make([]uint16, 256)
	for i := range ids {
		if r := first + rune(i); valid(r) {
			ids[i] = t.id(r)
		}
	}
	key := fmt.Sprint(ids)
	if _, ok := t.pageOf[key]; !ok {
		t.pageOf[key] = uint16(len(t.pageOf))
		t.pages = append(t.pages, ids...)
	}
	t.index = append(t.index, t.pageOf[key])
}

func (t *ucaTable) id(r rune) uint16 {
	w := levels(r)
	if id, ok := computedID(r, w); ok {
		return uint16(id)
	}
	id, ok := t.idOf[w]
	if !ok {
		id = uint16(computed + len(t.idOf))
		t.idOf[w] = id
		for i := range w {
			t.ids[i] = append(t.ids[i], t.place(i, w[i]))
		}
	}
	return id
}

// place returns where the weights w lie in the pool of level i.
func (t *ucaTable) place(i int, w string) uint16 {
	at, ok := t.poolAt[i][w]
	if !ok {
		at = uint16(len(t.pool[i]) / 2)
		t.poolAt[i][w] = at
		t.pool[i] = binary.BigEndian.AppendUint16(t.pool[i], uint16(len(w)))
		t.pool[i] = append(t.pool[i], w...)
	}
	return at
}

func (t *ucaTable) bytes() []byte {
	var b bytes.Buffer
	for _, part := range [][]uint16{t.index, t.pages, t.ids[0], t.ids[1], t.ids[2]} {
		_ = binary.Write(&b, binary.BigEndian, part) // a Buffer takes everything
	}
	for _, pool := range t.pool {
		b.Write(pool)
	}
	return b.Bytes()
}

// places returns the constants that the package reads the table with.
func (t *ucaTable) places() (pages int, ids, pool [3]int) {
	pages = 2 * len(t.index)
	at := pages + 2*len(t.pages)
	for i := range ids {
		ids[i] = at
		at += 2 * len(t.ids[i])
	}
	for i := range pool {
		pool[i] = at
		at += len(t.pool[i])
	}
	return pages, ids, pool
}
