package allocator

import "sync/atomic"

// Values of a limit of an owner or a table, beside bytes. 0 is no limit of its
// own, too; what is above it holds in any case.
const (
	Unlimited int64 = -1
	Disabled  int64 = -2 // nothing on this tier
)

// Limits bound the bytes of an owner or a table, tier by tier: a number of
// bytes, 0, Unlimited or Disabled.
type Limits struct {
	RAM  int64
	Mmap int64
	Disk int64
}

const noLimit = 1 << 62

// inBytes is a limit as a number of bytes.
func inBytes(limit int64) int64 {
	switch {
	case limit > 0:
		return min(limit, noLimit)
	case limit == Disabled:
		return 0
	}
	return noLimit
}

// gauge is a counter of the engine, with a limit and a high-water mark.
type gauge struct {
	limit atomic.Int64 // as in Limits
	used  atomic.Int64
	peak  atomic.Int64 // before the last give: see highest
}

func (g *gauge) max() int64 { return inBytes(g.limit.Load()) }

// room is how much the limit leaves; below 0 if the limit was lowered.
func (g *gauge) room() int64 { return g.max() - g.used.Load() }

// take counts n bytes, n > 0, unless the limit forbids it: used never passes
// the limit, not even for a moment.
func (g *gauge) take(n int64) bool {
	for {
		used := g.used.Load()
		if n > g.max()-used {
			return false
		}
		if g.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// give takes n bytes back. The count is highest just before that, so this is
// where the high-water mark is kept.
func (g *gauge) give(n int64) {
	was := g.used.Add(-n) + n
	for p := g.peak.Load(); was > p && !g.peak.CompareAndSwap(p, was); p = g.peak.Load() {
	}
}

// highest is the most that was in use.
func (g *gauge) highest() int64 { return max(g.peak.Load(), g.used.Load()) }

// account is a node of the budget tree: an owner, or a table of one.
type account struct {
	name  string
	owner *Owner // whose lock guards the rest
	tiers [numTiers]meter
}

// meter is a gauge for who holds a lock.
type meter struct {
	limit int64 // as in Limits
	used  int64
	peak  int64
}

func (m *meter) take(n int64) bool {
	if n > inBytes(m.limit)-m.used {
		return false
	}
	m.used += n
	return true
}

func (m *meter) give(n int64) {
	m.peak = max(m.peak, m.used)
	m.used -= n
}

func (m *meter) highest() int64 { return max(m.peak, m.used) }

func (a *account) setLimits(l Limits) {
	a.tiers[RAM].limit, a.tiers[Mmap].limit, a.tiers[Disk].limit = l.RAM, l.Mmap, l.Disk
}

func (a *account) isTable() bool { return a != &a.owner.acct }

// kind is the sentinel of the account's level.
func (a *account) kind() error {
	if a.isTable() {
		return ErrTableLimit
	}
	return ErrOwnerLimit
}

// read returns the limit of a tier in bytes, and what is in use.
func (a *account) read(t Tier) (limit, used int64) {
	a.owner.mu.Lock()
	defer a.owner.mu.Unlock()
	return inBytes(a.tiers[t].limit), a.tiers[t].used
}
