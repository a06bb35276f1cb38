package legacy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-db/spillway/testdata/joinit"
)

const childVar = "SPILLWAY_LEGACY_CHILD"

// smallCase makes as many files as fit in a test: the report's table and the
// first of its duplicates.
func smallCase(t testing.TB) int {
	cfg := Config{MaxRAM: 4 * miB, Cycles: Full, Dir: t.TempDir()}
	tab, err := Create(t.Context(), cfg, joinitCols)
	require.NoError(t, err)
	require.NoError(t, tab.Insert(t.Context(), loadJoinit(t, joinit.Rows)))
	require.NoError(t, tab.Insert(t.Context(), loadJoinit(t, 6733+25)))
	require.NoError(t, tab.Drop())
	return tab.Result().Files
}

func TestKernelSeesTheSameFiles(t *testing.T) {
	if os.Getenv(childVar) != "" {
		require.Equal(t, 26, smallCase(t))
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	log := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, "-f", "-e", "trace=openat,mmap,munmap", "-o", log,
		os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), childVar+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	trace, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, 26, strings.Count(string(trace), "O_TMPFILE"))
	require.Equal(t, 25, strings.Count(string(trace), "mmap(NULL, 8388608, PROT_READ|PROT_WRITE, MAP_SHARED"))
	require.Equal(t, 1, strings.Count(string(trace), "mmap(NULL, 4194304, PROT_READ|PROT_WRITE, MAP_SHARED"))
}
