package temptabletest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spillway-db/spillway/temptable"
)

// CompatTest checks that a collation keeps the rules of temptable.Collation, its
// optional methods included, for every pair of the samples and of some built-in
// ones: empty, blank, control and invalid bytes, letters in both cases. Samples
// that the collation refuses are left out; at least two must be accepted.
//
// It then makes tables of the samples on all Budgets, and compares their DISTINCT
// and their order with those of the keys.
func CompatTest(tb testing.TB, c temptable.Collation, samples ...string) {
	tb.Helper()
	k := &compat{TB: tb, c: c}
	for _, s := range append(slices.Clone(samples), traps...) {
		k.add(s)
	}
	if len(k.samples) < 2 {
		tb.Fatalf("%s accepts %d samples", c.Name(), len(k.samples))
	}
	k.pairs()
	k.concurrent()
	for _, b := range Budgets() {
		if !k.broken.Load() { // a table may take what the rules promise for granted
			k.table(b)
		}
	}
}

var traps = []string{"", " ", "  ", "a", "A", "a ", "a  ", "a\x00", "\x00", "\x00\x01", "\x1f", "ab", "AB", "b", "B", "a b", "a\tb",
	"ä", "Ä", "e\u0301", "é", "ß", "ss", "\xff", "\xc3", "a\xff", "漢", "😀", "0", "Z", "[", "z", "{"}

// compat is a collation under test, its samples, and their keys.
type compat struct {
	testing.TB
	c       temptable.Collation
	samples []string
	keys    [][]byte
	broken  atomic.Bool
}

// add checks what can be said of one string.
func (k *compat) add(s string) {
	src := []byte(s)
	key, err := k.c.AppendKey(nil, src)
	if err != nil {
		return
	}
	k.check(string(src) == s, "AppendKey(%q) changes its argument", s)
	k.check(len(key) <= k.c.MaxKeyLen(len(s)), "the key of %q is %d bytes long, MaxKeyLen is %d", s, len(key), k.c.MaxKeyLen(len(s)))
	for _, room := range []int{0, 1, len(key), 2*len(key) + 64} {
		dst := append(make([]byte, 0, 7+room), "before "...)
		again, err := k.c.AppendKey(dst, src)
		k.check(err == nil && string(again) == "before "+string(key), "AppendKey(%q) is not the same again behind other bytes: %q, %v", s, again, err)
	}
	if n, ok := k.c.(temptable.CharCounter); ok {
		k.check(n.Chars(src) >= 0 && n.Chars(src) <= len(s), "Chars(%q) is %d", s, n.Chars(src))
	}
	k.samples, k.keys = append(k.samples, s), append(k.keys, key)
}

func (k *compat) check(ok bool, format string, args ...any) {
	k.Helper()
	if !ok {
		k.broken.Store(true)
		k.Errorf("%s: %s", k.c.Name(), fmt.Sprintf(format, args...))
	}
}

// pairs checks that equality and hashes say what the keys say.
func (k *compat) pairs() {
	for i, a := range k.samples {
		if k.c.PadSpace() {
			key, err := k.c.AppendKey(nil, []byte(a+"   "))
			k.check(err == nil && bytes.Equal(key, k.keys[i]), "%q has another key with trailing spaces", a)
		}
		for j, b := range k.samples {
			k.pair(a, b, bytes.Equal(k.keys[i], k.keys[j]))
		}
	}
}

func (k *compat) pair(a, b string, same bool) {
	if e, ok := k.c.(temptable.Equaler); ok {
		k.check(e.Equal([]byte(a), []byte(b)) == same, "Equal(%q, %q) is %t, but the keys say %t", a, b, !same, same)
	}
	if h, ok := k.c.(temptable.Hasher); ok && same {
		k.check(h.Hash([]byte(a)) == h.Hash([]byte(b)), "%q and %q are equal, their hashes are not", a, b)
	}
}

// concurrent makes keys on some goroutines; the race detector looks on.
func (k *compat) concurrent() {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, s := range k.samples {
				key, err := k.c.AppendKey(nil, []byte(s))
				k.check(err == nil && bytes.Equal(key, k.keys[i]), "the key of %q differs on another goroutine", s)
			}
		})
	}
	wg.Wait()
}

// table compares DISTINCT and ORDER BY.
func (k *compat) table(b Budget) {
	k.Helper()
	b.Options.Dir = k.TempDir()
	eng, err := temptable.Open(b.Options)
	k.must(err)
	defer func() { k.must(eng.Close()) }()
	owner, err := eng.NewOwner("compat", temptable.Limits{})
	k.must(err)
	k.distinct(owner, b.Name)
	k.order(owner, b.Name)
}

func (k *compat) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatalf("%s: %v", k.c.Name(), err)
	}
}

func (k *compat) create(owner *temptable.Owner, opts ...temptable.SchemaOption) *temptable.Table {
	s, err := temptable.NewSchema([]temptable.Column{
		{Name: "s", Type: temptable.TypeVarchar, Collation: k.c},
		{Name: "n", Type: temptable.TypeBigInt},
	}, opts...)
	k.must(err)
	t, err := owner.Create(context.Background(), s)
	k.must(err)
	return t
}

// rounds is how often each sample is inserted, so that tables spill.
const rounds = 40

func (k *compat) distinct(owner *temptable.Owner, budget string) {
	t := k.create(owner, temptable.Distinct(0))
	w := t.Writer(context.Background())
	first := map[string]temptable.RowID{}
	for n := range rounds * len(k.samples) {
		i := n % len(k.samples)
		w.SetString(0, k.samples[i])
		id, added, err := w.Insert()
		k.must(err)
		have, seen := first[string(k.keys[i])]
		k.check(added == !seen && (!seen || id == have), "budget %s: DISTINCT takes %q for another row", budget, k.samples[i])
		first[string(k.keys[i])] = id
	}
	k.must(t.Drop())
}

func (k *compat) order(owner *temptable.Owner, budget string) {
	ctx := context.Background()
	t := k.create(owner)
	w := t.Writer(ctx)
	for n := range rounds * len(k.samples) {
		w.SetString(0, k.samples[n%len(k.samples)])
		w.SetInt(1, int64(n))
		_, _, err := w.Insert()
		k.must(err)
	}
	x, err := t.AddIndex(ctx, temptable.IndexSpec{Name: "s", Key: temptable.Asc(0, 1), Ordered: true})
	k.must(err)
	c := x.Cursor()
	defer c.Close()
	last := -1
	for n := 0; ; n++ {
		ok, err := c.Next(ctx)
		k.must(err)
		if !ok {
			k.check(n == rounds*len(k.samples), "budget %s: the index has %d rows", budget, n)
			break
		}
		row, err := c.Row()
		k.must(err)
		i := int(row.Int(1)) % len(k.samples)
		k.check(last < 0 || bytes.Compare(k.keys[last], k.keys[i]) <= 0, "budget %s: the index has %q before %q", budget, k.sample(last), k.samples[i])
		last = i
	}
	k.must(t.Drop())
}

func (k *compat) sample(i int) string {
	if i < 0 {
		return ""
	}
	return k.samples[i]
}
