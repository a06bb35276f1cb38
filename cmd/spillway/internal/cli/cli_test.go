package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
	"github.com/spillway-db/spillway/internal/legacy"
)

func TestByteSize(t *testing.T) {
	var n int64
	b := byteSize{bytes: &n, word: "auto"}
	for s, want := range map[string]int64{"12MiB": 12 << 20, "12MB": 12e6, "4096": 4096, "1.5 GiB": 3 << 29, "auto": 0} {
		require.NoError(t, b.Set(s), s)
		require.Equal(t, want, n, s)
	}
	n = 12 << 20
	require.Equal(t, "12MiB", b.String())
	require.NoError(t, b.Set(b.String()))
	require.EqualValues(t, 12<<20, n)
	for _, s := range []string{"", "0", "-1", "much", "99999999999GiB"} {
		require.ErrorContains(t, b.Set(s), "or auto", s)
	}
	require.Error(t, byteSize{bytes: &n}.Set("auto"))
	require.Empty(t, byteSize{}.String())
}

func TestCycles(t *testing.T) {
	var c cycles
	for s, want := range map[string]cycles{"full": legacy.Full, "auto": 0, "25": 25} {
		require.NoError(t, c.Set(s))
		require.Equal(t, want, c)
		require.Equal(t, s, c.String())
	}
	for _, s := range []string{"0", "-1", "x", ""} {
		require.Error(t, c.Set(s), s)
	}
}

func TestExitCodes(t *testing.T) {
	for err, want := range map[error]int{
		nil: 0, errors.New("x"): 1, errUsage: 2, union.ErrUsage: 2, union.ErrDiffer: 3,
		syscall.ENOSPC: 4, syscall.EDQUOT: 4, context.Canceled: 130,
		&os.PathError{Err: syscall.ENOSPC}: 4,
	} {
		require.Equal(t, want, exitCode(err), err)
		if err != nil {
			require.Equal(t, want, exitCode(fmt.Errorf("ram: %w", err)))
		}
	}
}

func TestWatchIsQuietWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	w := watch(&out)
	require.Nil(t, w.Begin)
	w.Note("something")
	require.Equal(t, "something\n", out.String())
}

func TestBar(t *testing.T) {
	var out bytes.Buffer
	bar := newBar(&out, "union", 2)
	require.NoError(t, bar.Add(1))
	require.NoError(t, bar.Finish())
	require.Contains(t, out.String(), "union")
}
