package host

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	h := Describe(dir)
	require.Equal(t, dir, h.Dir)
	require.Equal(t, runtime.Version(), h.Go)
	require.NotEmpty(t, h.FileSystem)
	require.Positive(t, h.FreeBytes)
	require.Empty(t, Describe(dir+"/none").FileSystem)
}

func TestCPUModel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpuinfo")
	require.NoError(t, os.WriteFile(file, []byte("processor\t: 0\nmodel name\t: Some: CPU\nmodel name\t: other\n"), 0o600))
	require.Equal(t, "Some: CPU", cpuModel(file))
	require.NoError(t, os.WriteFile(file, []byte("processor\t: 0\n"), 0o600))
	require.Empty(t, cpuModel(file))
	require.Empty(t, cpuModel(file+"none"))
}

func TestKernel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "osrelease")
	require.NoError(t, os.WriteFile(file, []byte("6.1.0\n"), 0o600))
	require.Equal(t, "6.1.0", kernel(file))
	require.Empty(t, kernel(file+"none"))
}
