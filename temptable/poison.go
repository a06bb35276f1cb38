package temptable

import "github.com/spillway-db/spillway/internal/invariants"

// poison is what a checked build writes over a row that is no longer valid, so
// that whoever kept it reads nonsense and not, most of the time, the right
// values.
const poison = 0xCC

// spoil overwrites memory that was lent until now, in a checked build.
func spoil(b []byte) {
	if !invariants.Enabled {
		return
	}
	for i := range b {
		b[i] = poison
	}
}

// spoil ends the life of the row that the cursor has lent.
func (c *Cursor) spoil() {
	if invariants.Enabled {
		spoil(c.row.buf)
		c.row = Row{}
	}
}
