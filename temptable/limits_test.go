package temptable

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each level that can refuse has an error of its own, which names it and says
// the numbers; and it is met only when no lower tier is permitted.
func TestEachLimitHasItsError(t *testing.T) {
	for _, tc := range []struct {
		name  string
		o     Options
		owner Limits
		table Limits
		want  error
		tier  Tier
	}{
		{"ram", Options{MaxRAM: 256 << 10, MaxMmap: Disabled, MaxDisk: Disabled}, Limits{}, Limits{}, ErrRAMLimit, RAM},
		{"mmap", Options{MaxRAM: 256 << 10, MaxMmap: 1 << 20, MaxDisk: Disabled}, Limits{}, Limits{}, ErrMmapLimit, Mmap},
		{"disk", Options{MaxRAM: 256 << 10, MaxMmap: 1 << 20, MaxDisk: 1 << 20}, Limits{}, Limits{}, ErrDiskLimit, Disk},
		{"owner", Options{MaxRAM: 64 << 20, MaxMmap: Disabled, MaxDisk: Disabled}, Limits{RAM: 1 << 20}, Limits{}, ErrOwnerLimit, RAM},
		{"table", Options{MaxRAM: 64 << 20, MaxMmap: Disabled, MaxDisk: Disabled}, Limits{}, Limits{RAM: 1 << 20}, ErrTableLimit, RAM},
		{"table on mmap", Options{MaxRAM: 64 << 20, MaxDisk: Disabled}, Limits{}, Limits{RAM: 1 << 20, Mmap: 1 << 20}, ErrTableLimit, Mmap},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eng, _ := openTest(t, tc.o)
			owner, err := eng.NewOwner("session 7", tc.owner)
			require.NoError(t, err)
			tab := createTest(t, owner, unionSchema(t), Limited(tc.table), Named("tmp 3"))
			rows := randomJoinit(100_000)
			n, err := tab.InsertBatch(context.Background(), rows, nil)
			require.ErrorIs(t, err, tc.want)
			var limit *LimitError
			require.True(t, errors.As(err, &limit))
			require.Equal(t, tc.tier, limit.Tier)
			require.LessOrEqual(t, limit.Used, limit.Limit)
			require.Greater(t, limit.Used+limit.Want, limit.Limit)
			require.EqualValues(t, n, tab.Len(), "exactly the rows before it are there")
			scanned, err := scanCount(tab)
			require.NoError(t, err)
			require.Equal(t, n, scanned)
		})
	}
}

// Limits may change while the engine runs. Below what is in use nothing fails:
// idle tables move down, and the next block obeys.
func TestBudgetShrinksBelowUse(t *testing.T) {
	eng, owner := openTest(t, Options{MaxRAM: 16 << 20})
	tab := createTest(t, owner, unionSchema(t))
	rows := randomJoinit(60_000)
	require.Equal(t, rows.N, insertAll(t, tab, rows))
	require.Zero(t, tab.Stats().Bytes[Mmap].Total())
	require.NoError(t, eng.SetMaxRAM(4<<20))
	require.ErrorIs(t, eng.SetMaxRAM(1000), ErrRAMLimit)
	require.LessOrEqual(t, eng.Stats().RAM, int64(4<<20))
	require.Positive(t, tab.Stats().Bytes[Mmap].Rows)
	require.Zero(t, insertAll(t, tab, rows))
	n, err := scanCount(tab)
	require.NoError(t, err)
	require.Equal(t, rows.N, n)

	require.NoError(t, eng.SetMaxMmap(Disabled))
	require.NoError(t, eng.SetMaxDisk(Unlimited))
	require.NoError(t, tab.Truncate())
	require.Equal(t, rows.N, insertAll(t, tab, rows))

	closed, _ := openTest(t, Options{MaxRAM: 1 << 20, MaxMmap: Disabled, MaxDisk: Disabled})
	require.ErrorIs(t, closed.SetMaxMmap(1<<20), ErrNoTier)
	require.ErrorIs(t, closed.SetMaxDisk(1<<20), ErrNoTier)
}
