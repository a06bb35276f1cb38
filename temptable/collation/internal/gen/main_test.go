package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-db/spillway/temptable/collation"
	"github.com/stretchr/testify/require"
	"vitess.io/vitess/go/mysql/collations/testutil"
)

func keyOf(t *testing.T, name string, text []byte) []byte {
	c, err := collation.ByName(name)
	require.NoError(t, err)
	key, err := c.AppendKey(nil, text)
	require.NoError(t, err)
	return key
}

// TestKeysOfMySQL holds keys of articles in 28 languages against those that the
// authors of vitess had from MySQL's own code.
func TestKeysOfMySQL(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "vitess.io/vitess").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "go/mysql/collations/testdata/wiki_*.gob.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		var golden testutil.GoldenTest
		require.NoError(t, golden.DecodeFromFile(file))
		require.NotEmpty(t, golden.Cases)
		for _, c := range golden.Cases {
			for _, name := range uca {
				require.Contains(t, c.Weights, name)
				require.Equal(t, c.Weights[name], keyOf(t, name, c.Text), "%s %s", name, c.Lang)
			}
		}
		t.Logf("%d texts", len(golden.Cases))
	}
}

func TestKeysOfVitess(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20_000 {
		text := randomText(rng)
		for _, name := range uca {
			require.Equal(t, string(vitessKey(name, text)), string(keyOf(t, name, []byte(text))), "%s %q", name, text)
		}
	}
}

// TestGeneralOfVitess compares two independent accounts of utf8mb4_general_ci.
func TestGeneralOfVitess(t *testing.T) {
	const name = "utf8mb4_general_ci"
	rng := rand.New(rand.NewPCG(11, 12))
	for range 20_000 {
		a, b := randomText(rng)+"x", randomText(rng)+"x"
		want := bytes.Compare(vitessKey(name, a), vitessKey(name, b))
		require.Equal(t, want, bytes.Compare(keyOf(t, name, []byte(a)), keyOf(t, name, []byte(b))), "%q %q", a, b)
	}
}

// TestUpToDate fails if the package's files are not what gen writes; the files
// that name the server's version need the same server.
func TestUpToDate(t *testing.T) {
	if _, err := exec.LookPath("mariadbd"); err != nil {
		t.Skip("no mariadbd")
	}
	db, err := startMariaDB()
	require.NoError(t, err)
	defer db.stop()
	files, err := generate(db)
	require.NoError(t, err)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../..", name))
		require.NoError(t, err)
		require.Equal(t, withoutComments(want), withoutComments(got), name)
	}
}

func withoutComments(file []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(file) {
		if line[0] != '#' {
			b.Write(line)
		}
	}
	return b.String()
}
