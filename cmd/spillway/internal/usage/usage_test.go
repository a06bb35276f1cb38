package usage

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var sink []*[64]byte

func TestUsage(t *testing.T) {
	before := Now()
	for range 1000 {
		sink = append(sink, new([64]byte))
	}
	page := make([]byte, 8<<20)
	for i := 0; i < len(page); i += 4096 {
		page[i] = 1
	}
	runtime.GC()
	u := Now().Sub(before)
	runtime.KeepAlive(page)
	require.GreaterOrEqual(t, u.Allocs, int64(1000))
	require.GreaterOrEqual(t, u.GCs, int64(1))
	require.Positive(t, u.MinorFaults)
	require.Positive(t, u.CPU)
	require.Positive(t, u.GC)
	require.LessOrEqual(t, u.GCShare(), 1.0)
}

func TestArithmetic(t *testing.T) {
	u := Usage{CPU: 4 * time.Second, MinorFaults: 3, MajorFaults: 2, Allocs: 5, GCs: 1, GC: 1}
	require.Equal(t, u, u.Add(Usage{}))
	require.Equal(t, u, u.Add(u).Sub(u))
	require.InDelta(t, 0.25, u.GCShare(), 1e-9)
	require.Zero(t, Usage{CPU: time.Second, GC: 3}.GCShare(), "no collection")
	require.Equal(t, 1.0, Usage{CPU: time.Second, GCs: 1, GC: 3}.GCShare())
}
