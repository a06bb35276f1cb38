package allocator

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// Errors of the budgets. Each names one cause; a *LimitError matches one of
// them and says the level, the limit, the use and what was asked for.
var (
	// ErrTableLimit is returned when a table's own limit (tmp_table_size)
	// refuses and no lower tier is permitted.
	ErrTableLimit = errors.New("table limit reached")
	// ErrOwnerLimit is returned when an owner's limit refuses.
	ErrOwnerLimit = errors.New("owner limit reached")
	// ErrRAMLimit is returned when temptable_max_ram refuses and there is no
	// tier below it for what was asked.
	ErrRAMLimit = errors.New("RAM limit reached")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("closed")
)

// LimitError says which limit refused.
type LimitError struct {
	Level string // "engine", or the kind and name of an owner or table
	Tier  Tier
	Limit int64 // bytes
	Used  int64 // bytes in use when it refused
	Want  int64 // bytes asked for
	kind  error
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: %s: %s limit %d B, in use %d B, asked for %d B",
		e.kind, e.Level, e.Tier, e.Limit, e.Used, e.Want)
}

// Is reports whether target is the sentinel of the level that refused.
func (e *LimitError) Is(target error) bool { return target == e.kind }

// Limits bound the bytes of an owner or a table, tier by tier. 0 is no limit
// of its own (what is above still holds), a negative limit permits nothing.
type Limits struct {
	RAM  int64
	Mmap int64
	Disk int64
}

func (l Limits) of(t Tier) int64 { return [...]int64{l.RAM, l.Mmap, l.Disk}[t] }

// gauge is a counter with a limit and a high-water mark.
type gauge struct {
	limit atomic.Int64 // math.MaxInt64: none
	used  atomic.Int64
	peak  atomic.Int64
	hits  atomic.Int64 // times that it refused
}

func (g *gauge) setLimit(n int64) {
	switch {
	case n == 0:
		n = math.MaxInt64
	case n < 0:
		n = 0
	}
	g.limit.Store(n)
}

// take adds n unless the limit forbids it; used never passes the limit, not
// even for a moment. Cost: two atomic operations.
func (g *gauge) take(n int64) bool {
	for {
		used := g.used.Load()
		if n > g.limit.Load()-used {
			return false
		}
		if g.used.CompareAndSwap(used, used+n) {
			g.raise(used + n)
			return true
		}
	}
}

func (g *gauge) raise(now int64) {
	for {
		p := g.peak.Load()
		if now <= p || g.peak.CompareAndSwap(p, now) {
			return
		}
	}
}

func (g *gauge) give(n int64) { g.used.Add(-n) }

// account is a node of the budget tree: a table, or an owner above it.
type account struct {
	parent *account
	kind   error // ErrTableLimit or ErrOwnerLimit
	name   string
	tiers  [numTiers]gauge
}

func (a *account) init(parent *account, kind error, name string, l Limits) {
	a.parent, a.kind, a.name = parent, kind, name
	a.setLimits(l)
}

func (a *account) setLimits(l Limits) {
	for t := range numTiers {
		a.tiers[t].setLimit(l.of(t))
	}
}

// take charges n bytes to a and everything above it, or to none. It returns
// the account that refused, nil when none did.
func (a *account) take(t Tier, n int64) (refused *account) {
	for x := a; x != nil; x = x.parent {
		if !x.tiers[t].take(n) {
			for y := a; y != x; y = y.parent {
				y.tiers[t].give(n)
			}
			x.tiers[t].hits.Add(1)
			return x
		}
	}
	return nil
}

func (a *account) give(t Tier, n int64) {
	for x := a; x != nil; x = x.parent {
		x.tiers[t].give(n)
	}
}

func (a *account) refusal(t Tier, want int64) error {
	g := &a.tiers[t]
	return &LimitError{Level: a.name, Tier: t, Limit: g.limit.Load(), Used: g.used.Load(), Want: want, kind: a.kind}
}
