package allocator

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLimitAsBytes(t *testing.T) {
	for limit, want := range map[int64]int64{0: noLimit, Unlimited: noLimit, Disabled: 0, 1: 1, 4096: 4096, 1<<63 - 1: noLimit} {
		require.Equal(t, want, inBytes(limit), limit)
	}
}

func TestGauge(t *testing.T) {
	var g gauge
	require.True(t, g.take(1<<40), "no limit")
	g.give(1 << 40)
	require.Equal(t, int64(1<<40), g.highest())

	g.limit.Store(100)
	require.True(t, g.take(60))
	require.False(t, g.take(41))
	require.True(t, g.take(40))
	require.Zero(t, g.room())
	g.limit.Store(50)
	require.Equal(t, int64(-50), g.room())
	require.False(t, g.take(1))
	g.give(51)
	require.True(t, g.take(1))
	require.Equal(t, int64(50), g.used.Load())
}

func TestMeterKeepsItsPeak(t *testing.T) {
	m := meter{limit: 10}
	require.True(t, m.take(7))
	require.False(t, m.take(4))
	require.Equal(t, int64(7), m.highest())
	m.give(5)
	require.True(t, m.take(3))
	require.Equal(t, int64(7), m.highest())
	require.True(t, m.take(5))
	require.Equal(t, int64(10), m.highest())
}

// TestGaugeUnderGoroutines: the limit holds at every moment that anybody can see.
func TestGaugeUnderGoroutines(t *testing.T) {
	var g gauge
	g.limit.Store(10)
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				n := int64(1 + (i+k)%7)
				if !g.take(n) {
					continue
				}
				if now := g.used.Load(); now > 10 || now < n {
					t.Errorf("%d in use", now)
				}
				g.give(n)
			}
		})
	}
	wg.Wait()
	require.Zero(t, g.used.Load())
	require.LessOrEqual(t, g.highest(), int64(10))
}
