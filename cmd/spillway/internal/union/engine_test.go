package union

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
	"github.com/spillway-db/spillway/testdata/joinit"
)

func TestEngineModes(t *testing.T) {
	for _, pool := range Pools() {
		c := joinitConfig(t, RAM, Mmap, Disk)
		c.Pool = pool
		res, err := Run(t.Context(), c)
		require.NoError(t, err)
		ram, mmap, disk := &res.Runs[0], &res.Runs[1], &res.Runs[2]
		for _, run := range res.Runs {
			require.Equal(t, joinit.Rows, run.Rows)
			require.EqualValues(t, joinit.Checksum, run.Checksum)
			require.Equal(t, pool, run.Pool)
			require.LessOrEqual(t, run.RAMPeak, run.RAMBudget, run.Mode)
			require.Positive(t, run.BlocksCreated+run.BlocksReused)
		}
		require.Zero(t, ram.FilesCreated)
		require.Zero(t, ram.MmapPeak)
		require.EqualValues(t, 1, mmap.FilesCreated)
		require.Positive(t, mmap.MmapPeak)
		require.Zero(t, mmap.DiskPeak)
		require.Zero(t, disk.MmapPeak)
		require.Positive(t, disk.DiskPeak)
	}
}

// Every type, with NULLs and extremes, comes back as it went in.
func TestEngineTypes(t *testing.T) {
	decl := "a tinyint, b smallint, c mediumint, d int, e bigint, f tinyint unsigned, g smallint unsigned, " +
		"h mediumint unsigned, i int unsigned, j bigint unsigned, k time, l time(1), m time(6), n varchar(4)"
	text := strings.Join([]string{
		"-128\t-32768\t-8388608\t-2147483648\t-9223372036854775808\t0\t0\t0\t0\t0\t-838:59:59\t-838:59:59.9\t-838:59:59.999999\t",
		"127\t32767\t8388607\t2147483647\t9223372036854775807\t255\t65535\t16777215\t4294967295\t18446744073709551615\t838:59:59\t838:59:59.9\t838:59:59.999999\täöü€",
		strings.Repeat("\\N\t", 13) + `\N`,
		strings.Repeat("0\t", 10) + "00:00:00\t00:00:00\t00:00:00\t" + `\0|\t\n`,
	}, "\n")
	s, err := input.ParseSchema(decl)
	require.NoError(t, err)
	tab, err := input.Read(t.Context(), strings.NewReader(text), s, input.Format{Null: `\N`})
	require.NoError(t, err)
	c := Config{Modes: []string{Legacy8019, Legacy8021, RAM}, MaxRAM: 4 << 20, MaxMmap: 4 << 20, Count: 1, Pool: Fresh,
		Dir: t.TempDir(), Left: tab, Right: tab}
	c.Answer, err = input.Expect(t.Context(), tab, tab)
	require.NoError(t, err)
	require.Equal(t, 4, c.Answer.Rows)
	_, err = Run(t.Context(), c)
	require.NoError(t, err)
}
