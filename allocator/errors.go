package allocator

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spillway-db/spillway/spill"
)

// Limits that refuse. A [*LimitError] matches one of them with errors.Is.
var (
	// ErrTableLimit is returned when a table's own limit (tmp_table_size)
	// refuses and no lower tier is permitted.
	ErrTableLimit = errors.New("table limit reached")
	// ErrOwnerLimit is returned when an owner's limit refuses.
	ErrOwnerLimit = errors.New("owner limit reached")
	// ErrRAMLimit is returned when temptable_max_ram refuses and there is no
	// tier below it for what was asked.
	ErrRAMLimit = errors.New("RAM limit reached")
	// ErrMmapLimit is returned when temptable_max_mmap refuses and there is no
	// disk tier.
	ErrMmapLimit = errors.New("mmap limit reached")
	// ErrDiskLimit is returned when the limit of the disk table refuses.
	ErrDiskLimit = errors.New("disk limit reached")
)

// Other reasons why the lowest permitted tier refuses: those of package spill.
// The error that matches one of them matches the errno, too, and names the
// directory.
var (
	ErrReserve      = spill.ErrReserve      // less than the reserve would be left free
	ErrNoSpace      = spill.ErrNoSpace      // the device is full
	ErrQuota        = spill.ErrQuota        // a disk quota is used up
	ErrFileSize     = spill.ErrFileSize     // RLIMIT_FSIZE
	ErrTooManyFiles = spill.ErrTooManyFiles // no descriptor can be had
	ErrTooManyMaps  = spill.ErrTooManyMaps  // vm.max_map_count or RLIMIT_AS
	ErrDir          = spill.ErrDir          // the directory cannot be used
	ErrCoW          = spill.ErrCoW          // the file system cannot be mapped safely
	ErrIO           = spill.ErrIO           // any other error of the operating system
	ErrSize         = spill.ErrSize         // not a size that can be asked for
	// ErrClosed is returned after Close, and by a sealed owner.
	ErrClosed = spill.ErrClosed
	// ErrNoTier is returned when the limit of a tier is set that the engine was
	// opened without.
	ErrNoTier = errors.New("tier is not in use")
)

// LimitError says who refused. It matches the sentinel of the level, or what
// the operating system said.
type LimitError struct {
	Level   string // "engine", or the name of the owner or table
	Tier    Tier
	Limit   int64    // bytes; below 0: none
	Used    int64    // bytes in use when it refused
	Want    int64    // bytes asked for
	Holders []Holder // who has most of what is in use there, at most 3
	kind    error    // the sentinel, or nil
	cause   error    // what package spill said, or nil
}

// Holder is a table and what it has on the tier that refused.
type Holder struct {
	Owner, Table string
	Bytes        int64
}

func (h Holder) String() string { return fmt.Sprintf("%s of %s (%d B)", h.Table, h.Owner, h.Bytes) }

// Error names the level, the limit, the use and the largest holders.
func (e *LimitError) Error() string {
	var b strings.Builder
	for _, err := range e.Unwrap() {
		fmt.Fprintf(&b, "%v: ", err)
	}
	fmt.Fprintf(&b, "%s: %v ", e.Level, e.Tier)
	if e.Limit >= 0 && e.Limit != math.MaxInt64 {
		fmt.Fprintf(&b, "limit %d B, ", e.Limit)
	}
	fmt.Fprintf(&b, "in use %d B, asked for %d B", e.Used, e.Want)
	for i, h := range e.Holders {
		b.WriteString([]string{"; most have ", ", ", ", "}[i] + h.String())
	}
	return b.String()
}

// Unwrap returns the sentinel and the cause, as far as there are such.
func (e *LimitError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.kind, e.cause}, func(err error) bool { return err == nil })
}

// refusal says who did not give a block. It is a value: asking at a limit
// allocates nothing, since most refusals only lead one tier down.
type refusal struct {
	tier Tier
	want int
	by   *account // an owner or a table; nil: the tier itself said err
	err  error
}

func (r *refusal) refused() bool { return r.by != nil || r.err != nil }

// wantsLess says that a smaller block may be had where this one was refused.
func (r *refusal) wantsLess() bool {
	if r.by != nil || r.err == errRAMFull {
		return true
	}
	for _, kind := range []error{spill.ErrLimit, ErrReserve, ErrNoSpace, ErrQuota, ErrFileSize} {
		if errors.Is(r.err, kind) {
			return true
		}
	}
	return false
}

// level is the name of who refused.
func (r *refusal) level() string {
	if r.by != nil {
		return r.by.name
	}
	return "engine"
}

// refusalError makes the error for the caller of the package. It looks at every
// table, to name the largest holders.
func (a *Allocator) refusalError(r refusal) error {
	e := a.limitError(r)
	if e == nil {
		return a.plainError(r)
	}
	e.Holders = a.holders(r)
	return fmt.Errorf("allocator: %w", e)
}

// plainError is refusalError without the holders.
func (a *Allocator) plainError(r refusal) error {
	if e := a.limitError(r); e != nil {
		return fmt.Errorf("allocator: %w", e)
	}
	return fmt.Errorf("allocator: %d bytes on %v: %w", r.want, r.tier, r.err)
}

// limitError is r with its numbers; nil if it is no matter of a limit or of the
// device.
func (a *Allocator) limitError(r refusal) *LimitError {
	e := &LimitError{Level: r.level(), Tier: r.tier, Want: int64(r.want)}
	said := (*spill.Error)(nil)
	switch {
	case r.by != nil:
		e.kind = r.by.kind()
		e.Limit, e.Used = r.by.read(r.tier)
	case r.err == errRAMFull:
		e.kind, e.Limit, e.Used = ErrRAMLimit, a.ram.budget.max(), a.ram.budget.used.Load()
	case errors.As(r.err, &said):
		e.kind, e.cause, e.Limit, e.Used = limitOf(r), r.err, said.Limit, said.Used
	default:
		return nil
	}
	return e
}

// limitOf is the sentinel of a tier whose own limit refused.
func limitOf(r refusal) error {
	switch {
	case !errors.Is(r.err, spill.ErrLimit):
		return nil
	case r.tier == Mmap:
		return ErrMmapLimit
	}
	return ErrDiskLimit
}

const maxHolders = 3

// holders are the tables below who refused that have most on that tier. On
// RAM what is no table's counts, too.
func (a *Allocator) holders(r refusal) []Holder {
	top := &a.root
	if r.by != nil {
		if top = r.by.owner; r.by.isTable() {
			return nil
		}
	}
	var all []Holder
	a.mu.Lock()
	top.walk(func(o *Owner) bool { all = o.appendHolders(all, r.tier); return true })
	a.mu.Unlock()
	if r.tier == RAM && r.by == nil {
		all = append(all, Holder{"the engine", "disk cache", a.cache.Load()}, Holder{"the engine", "buffers", a.heap.Load()})
	}
	all = slices.DeleteFunc(all, func(h Holder) bool { return h.Bytes == 0 })
	slices.SortStableFunc(all, func(x, y Holder) int { return int(y.Bytes - x.Bytes) })
	return slices.Clip(all[:min(len(all), maxHolders)])
}

func (o *Owner) appendHolders(all []Holder, t Tier) []Holder {
	o.mu.Lock()
	defer o.mu.Unlock()
	for s := o.spaces; s != nil; s = s.next {
		all = append(all, Holder{o.acct.name, s.acct.name, s.acct.tiers[t].used})
	}
	return all
}
