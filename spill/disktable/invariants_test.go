//go:build invariants

package disktable

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckedBuildCatchesMisuse(t *testing.T) {
	r := newRig(t, 2, 2)
	b := r.alloc(t, 2, new(Owner))
	f, err := r.Pin(b, 0, New)
	require.NoError(t, err)
	require.Panics(t, func() { r.Free(b) })
	require.Panics(t, func() { _ = r.WriteBlock(b, nil) })
	f.Unpin()
	require.Panics(t, func() { f.Unpin() })
	f.state.Store(word(b.key(0), dirty))
}

func TestCheckedBuildMissesNoPinAtClose(t *testing.T) {
	r := newRig(t, 2, 2)
	f, err := r.Pin(r.alloc(t, 2, new(Owner)), 0, New)
	require.NoError(t, err)
	require.Panics(t, func() { _ = r.Close() })
	f.Unpin()
	r.closed.Store(false)
}

func TestCheckedBuildPoisonsFreedPages(t *testing.T) {
	r := newRig(t, 2, 2)
	b := r.alloc(t, 2, new(Owner))
	f, err := r.Pin(b, 0, New)
	require.NoError(t, err)
	stale := f.Bytes()
	f.Unpin()
	r.Free(b)
	require.Equal(t, bytes.Repeat([]byte{0xCC}, PageSize), stale)
}
