package adapt

import (
	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/internal/legacy"
)

// Legacy describes the columns of s to the old engine.
func Legacy(s input.Schema) []legacy.Column {
	cols := make([]legacy.Column, len(s))
	for i, c := range s {
		cols[i] = legacy.Column{Width: c.Width(), Unit: c.Unit(), Unsigned: c.Unsigned(), Packed: c.Packed(),
			Float: c.Type == input.Float || c.Type == input.Double, Key: c.Key()}
	}
	return cols
}

// LegacyBatch makes b a view of t, without copying the rows.
func LegacyBatch(b *legacy.Batch, t *input.Table) {
	b.N = t.N
	for c := range t.Cols {
		b.Cols[c] = legacy.Vector(t.Cols[c])
	}
}
