package temptabletest_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spillway-db/spillway/temptable"
	"github.com/spillway-db/spillway/temptable/collation"
	"github.com/spillway-db/spillway/temptable/temptabletest"
	"github.com/stretchr/testify/require"
)

func TestBuiltinsAreCompatible(t *testing.T) {
	for _, name := range collation.Names() {
		t.Run(name, func(t *testing.T) {
			c, err := collation.ByName(name)
			require.NoError(t, err)
			temptabletest.CompatTest(t, c)
		})
	}
	temptabletest.CompatTest(t, collation.Latin1SwedishUTF8(), "Müller")
}

// broken is a collation with one fault.
type broken struct {
	temptable.Collation
	fault string
}

func (b broken) MaxKeyLen(n int) int {
	if b.fault == "long" {
		return n - 1
	}
	return n
}

func (b broken) PadSpace() bool { return b.fault == "pad" }

func (b broken) AppendKey(dst, src []byte) ([]byte, error) {
	switch b.fault {
	case "refuse":
		return dst, fmt.Errorf("no")
	case "dst":
		dst = dst[:0]
	case "src":
		defer func() {
			if len(src) > 0 {
				src[0]++
			}
		}()
	}
	return append(dst, src...), nil
}

func (b broken) Equal(x, y []byte) bool { return bytes.Equal(x, y) != (b.fault == "equal") }

func (b broken) Hash(src []byte) uint64 {
	if b.fault == "hash" {
		return uint64(cap(src))
	}
	return uint64(len(src))
}

func (b broken) Chars(src []byte) int {
	if b.fault == "chars" {
		return len(src) + 1
	}
	return len(src)
}

// recorder is a testing.TB that notes failures.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// record runs f and returns what failed in it.
func record(t *testing.T, f func(testing.TB)) []string {
	r := &recorder{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(r) {
				panic(p)
			}
		}()
		f(r)
	}()
	return r.failures
}

func TestCompatTestFindsFaults(t *testing.T) {
	base := temptable.Custom("base", nil)
	for fault, want := range map[string]string{
		"":       "",
		"long":   "MaxKeyLen",
		"pad":    "trailing spaces",
		"refuse": "accepts 0 samples",
		"dst":    "behind other bytes",
		"src":    "changes its argument",
		"equal":  "the keys say",
		"chars":  "Chars",
	} {
		got := strings.Join(record(t, func(tb testing.TB) { temptabletest.CompatTest(tb, broken{base, fault}) }), "\n")
		if fault == "" {
			require.Empty(t, got)
			continue
		}
		require.Contains(t, got, want, fault)
	}
}

func TestFailEach(t *testing.T) {
	s, err := temptable.NewSchema([]temptable.Column{{Type: temptable.TypeBlob}}, temptable.Distinct())
	require.NoError(t, err)
	fill := func(eng *temptable.Engine) error {
		owner, err := eng.NewOwner("test", temptable.Limits{})
		if err != nil {
			return err
		}
		tab, err := owner.Create(context.Background(), s)
		if err != nil {
			return err
		}
		w := tab.Writer(context.Background())
		for n := range 300 {
			w.SetBytes(0, bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 1000))
			if _, _, err := w.Insert(); err != nil {
				return err
			}
		}
		return nil
	}
	calls := temptabletest.FailEach(t, temptable.Options{MaxRAM: 128 << 10, MaxDisk: temptable.Disabled}, fill)
	require.Positive(t, calls)
	require.NotEmpty(t, record(t, func(tb testing.TB) {
		temptabletest.FailEach(tb, temptable.Options{MaxRAM: 128 << 10}, func(*temptable.Engine) error { return context.Canceled })
	}), "an error without a failed call is the caller's")
}

func ExampleCompatTest() {
	// In a test of the collation:
	_ = func(t *testing.T) {
		reversed := temptable.Custom("reversed", func(dst, src []byte) ([]byte, error) {
			for i := len(src) - 1; i >= 0; i-- {
				dst = append(dst, src[i])
			}
			return dst, nil
		})
		temptabletest.CompatTest(t, reversed, "Otto", "Anna")
	}
}
