package temptable

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What batches that ran at the same time leave behind must not starve the rows
// of a small engine: an eighth of the RAM, or one scratch.
func TestIdleScratchesAreFew(t *testing.T) {
	for _, ram := range []int64{64 << 10, 256 << 10, 1 << 20, 4 << 20, 64 << 20} {
		t.Run(fmt.Sprint("ram=", ram), func(t *testing.T) {
			eng, owner := openTest(t, Options{MaxRAM: ram})
			tab := createTest(t, owner, groupSchema(t))
			p := &eng.scratch
			one := int64(p.size + p.rows*scratchRow)
			var taken []*batchScratch
			for range 20 {
				taken = append(taken, p.take(tab))
			}
			for _, s := range taken {
				p.give(tab, s)
			}
			require.LessOrEqual(t, eng.Stats().Heap, max(ram/8, one))
			require.NotEmpty(t, p.idle)
			require.LessOrEqual(t, len(p.idle), keepScratches)
		})
	}
}
