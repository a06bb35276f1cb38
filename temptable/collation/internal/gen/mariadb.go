package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// mariaDB is a server of our own: no network, its data in a temporary directory.
type mariaDB struct {
	dir, socket, version string
	server               *exec.Cmd
}

func startMariaDB() (*mariaDB, error) {
	dir, err := os.MkdirTemp("", "collation-gen")
	if err != nil {
		return nil, err
	}
	db := &mariaDB{dir: dir, socket: filepath.Join(dir, "s")}
	if err := db.start(); err != nil {
		db.stop()
		return nil, err
	}
	return db, nil
}

func (db *mariaDB) start() error {
	data := "--datadir=" + filepath.Join(db.dir, "data")
	install := exec.Command("mariadb-install-db", "--no-defaults", "--user=root", "--auth-root-authentication-method=normal", data)
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	db.server = exec.Command("mariadbd", "--no-defaults", "--user=root", "--skip-networking", "--socket="+db.socket, data)
	if err := db.server.Start(); err != nil {
		return err
	}
	return db.awaitVersion()
}

func (db *mariaDB) awaitVersion() error {
	for range 300 {
		if rows, err := db.query("SELECT VERSION()"); err == nil {
			db.version = rows[0][0]
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("mariadbd does not answer on its socket")
}

func (db *mariaDB) stop() {
	if db.server != nil && db.server.Process != nil {
		_ = db.server.Process.Kill()
		_ = db.server.Wait()
	}
	_ = os.RemoveAll(db.dir)
}

// query runs sql and returns the rows of all its statements.
func (db *mariaDB) query(sql string) ([][]string, error) {
	client := exec.Command("mariadb", "--no-defaults", "-uroot", "--socket="+db.socket, "--batch", "--skip-column-names", "--default-character-set=utf8mb4", "mysql")
	client.Stdin = strings.NewReader(sql)
	var stderr bytes.Buffer
	client.Stderr = &stderr
	out, err := client.Output()
	if err != nil {
		return nil, fmt.Errorf("mariadb: %w: %s", err, stderr.String())
	}
	return parseRows(string(out)), nil
}

func parseRows(out string) [][]string {
	var rows [][]string
	for line := range strings.Lines(out) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}
