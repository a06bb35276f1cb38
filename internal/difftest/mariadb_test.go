package difftest

import (
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// startMariaDB starts a server of our own: no network, its data in a temporary
// directory.
func startMariaDB(t *testing.T) *sql.DB {
	for _, program := range []string{"mariadb-install-db", "mariadbd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("apt-get install mariadb-server: ", err)
		}
	}
	dir := t.TempDir()
	data := "--datadir=" + filepath.Join(dir, "data")
	out, err := exec.Command("mariadb-install-db", "--no-defaults", "--user=root", "--auth-root-authentication-method=normal",
		"--skip-test-db", data).CombinedOutput()
	require.NoError(t, err, string(out))
	socket := filepath.Join(dir, "s")
	server := exec.Command("mariadbd", "--no-defaults", "--user=root", "--skip-networking", "--socket="+socket, data,
		"--sql-mode=ALLOW_INVALID_DATES", "--default-time-zone=+00:00", "--group-concat-max-len=10000000",
		"--max-sort-length=100000", "--sort-buffer-size=64M", "--innodb-flush-log-at-trx-commit=0", "--max-allowed-packet=64M")
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	return dial(t, socket)
}

func dial(t *testing.T, socket string) *sql.DB {
	db, err := sql.Open("mysql", fmt.Sprintf("root@unix(%s)/mysql?charset=utf8mb4", socket))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for range 300 {
		if err = db.Ping(); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	require.NoError(t, err)
	_, err = db.Exec("CREATE DATABASE d")
	require.NoError(t, err)
	return db
}

func TestMariaDB(t *testing.T) {
	db := startMariaDB(t)
	compare(t, &engine{db: db, prefix: "d.", groupIDs: "GROUP_CONCAT(id)"}, mariaKinds())
}
