package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/cmd/spillway/internal/union"
	"github.com/spillway-db/spillway/internal/legacy"
	"github.com/spillway-db/spillway/spill"
	"github.com/spillway-db/spillway/temptable"
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
		temptable.ErrTableLimit: 4, temptable.ErrOwnerLimit: 4, temptable.ErrRAMLimit: 4, allocator.ErrMmapLimit: 4,
		allocator.ErrDiskLimit: 4, spill.ErrReserve: 4, spill.ErrNoSpace: 4, spill.ErrQuota: 4, spill.ErrIO: 1,
		syscall.ENOSPC: 4, syscall.EDQUOT: 4, context.Canceled: 130,
		&os.PathError{Err: syscall.ENOSPC}: 4,
	} {
		require.Equal(t, want, exitCode(err), err)
		if err != nil {
			require.Equal(t, want, exitCode(fmt.Errorf("ram: %w", err)))
		}
	}
}

func TestQuietConsole(t *testing.T) {
	var out bytes.Buffer
	c := console{out: &out, err: &out, quiet: true}
	c.ready()
	c.meter.Note("something")
	require.Empty(t, out.String())
	c.quiet = false
	c.ready()
	c.meter.Note("something")
	require.Equal(t, "something\n", out.String())
}

func TestNoColorsWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	c := console{out: &out}
	require.NoError(t, c.print("CHECK  right\n"))
	require.Equal(t, "CHECK  right\n", out.String())
}

// Colors are added to text, and nothing else is.
func TestPaint(t *testing.T) {
	text := "mode  time\nlegacy-8.0.19  245 s\nmmap  2 ms\n\n~ x\n       legacy: ours\nWHY    so\nCHECK  yes\nCHECK  FAILED: no\nplain\n"
	painted := paint(text)
	require.Equal(t, text, regexp.MustCompile("\x1b\\[[0-9]+m").ReplaceAllString(painted, ""))
	require.Equal(t, 8, strings.Count(painted, normal))
	require.Contains(t, painted, bold+red+"CHECK  FAILED: no"+normal)
	require.Contains(t, painted, bold+green+"CHECK"+normal+"  yes")
	require.Contains(t, painted, "\nplain\n")
}

func TestOutputAppearsWhenComplete(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.html")
	o, err := newOutput(name)
	require.NoError(t, err)
	require.ErrorIs(t, o.write(func(io.Writer) error { return os.ErrInvalid }), os.ErrInvalid)
	o.discard()
	requireFiles(t, filepath.Dir(name))

	o, err = newOutput(name)
	require.NoError(t, err)
	requireFiles(t, filepath.Dir(name), filepath.Base(o.tmp.Name()))
	require.NoError(t, o.write(func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }))
	o.discard()
	requireFiles(t, filepath.Dir(name), "page.html")

	_, err = newOutput(name + "/x")
	require.Error(t, err)
	o, err = newOutput("")
	require.NoError(t, err)
	require.NoError(t, o.write(nil))
	o.discard()
}

func requireFiles(t *testing.T, dir string, names ...string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.Equal(t, names, got)
}
