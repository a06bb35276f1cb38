package temptable

import (
	"math"

	"github.com/spillway-db/spillway/internal/sys"
)

const maxInt64 = math.MaxInt64

// limit resolves an option: a negative result means that the tier is not used.
func limit(n int64, def func() int64) int64 {
	switch {
	case n == 0:
		return def()
	case n == Unlimited:
		return maxInt64
	case n < 0:
		return -1
	}
	return n
}

// defaultRAM is 1/32 of the memory that the process may use, 64 MiB to 4 GiB.
// (MySQL since 8.0.28: 3 % of it, 1 GiB at least and 4 GiB at most.)
func defaultRAM() int64 { return min(max(sys.Memory()/32, 64<<20), 4<<30) }
