package temptable

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/spill/disktable"
	"github.com/stretchr/testify/require"
)

// capture keeps the files that an engine opened, so that a test can do to them
// what somebody else might.
type capture struct {
	sys.FS
	files []sys.File
}

func (c *capture) OpenTemp(dir string) (sys.File, error) {
	f, err := c.FS.OpenTemp(dir)
	if err == nil {
		c.files = append(c.files, f)
	}
	return f, err
}

// A file that somebody truncates or punches costs the table whose rows were in
// it, and nobody else.
func TestLostFileFailsOneTable(t *testing.T) {
	if raceEnabled {
		t.Skip("race builds have no files")
	}
	for _, tc := range []struct {
		name  string
		o     Options
		cause error
	}{
		{"mmap", Options{MaxRAM: 4 << 20, MaxDisk: Disabled}, sys.ErrFault},
		{"disk", Options{MaxRAM: 4 << 20, MaxMmap: Disabled}, disktable.ErrIO},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fs := &capture{FS: sys.OS()}
			tc.o.fs = fs
			_, owner := openTest(t, tc.o)
			rows := randomJoinit(30_000)
			small := createTest(t, owner, unionSchema(t), Named("small"))
			var part Batch
			window(rows, 0, 100, &part)
			_, err := small.InsertBatch(context.Background(), &part, nil)
			require.NoError(t, err)
			// Its own limit: it takes no RAM from the other one.
			tab := createTest(t, owner, unionSchema(t), Named("victim"), Limited(Limits{RAM: 1 << 20}))
			require.Equal(t, rows.N, insertAll(t, tab, rows))
			require.NotEmpty(t, fs.files)
			for _, f := range fs.files {
				require.NoError(t, f.Truncate(0))
			}

			err = readAll(tab)
			require.ErrorIs(t, err, ErrTableFailed)
			require.ErrorIs(t, err, tc.cause)
			_, err = tab.InsertBatch(context.Background(), &part, nil)
			require.ErrorIs(t, err, ErrTableFailed, "it says so on every call")
			require.ErrorContains(t, err, "victim")
			require.NoError(t, tab.Drop())

			require.NoError(t, readAll(small), "the others go on")
			n, err := small.InsertBatch(context.Background(), &part, make([]Result, 100))
			require.NoError(t, err)
			require.Equal(t, 100, n)
			require.EqualValues(t, 100, small.Len())
		})
	}
}

func readAll(t *Table) error {
	for _, err := range t.Rows(context.Background()) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Every system call fails once, in turn, in a life of a table on three tiers.
// The call that met it returns an error or takes the next tier; the table is
// as it was, goes on, and in the end nothing is left.
func TestEveryCallFailsOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	s := unionSchema(t)
	rows := randomJoinit(20_000)
	for n := int64(1); ; n += 1 + n/50 { // page reads and writes repeat
		fs := sys.NewFaulty(sys.Default())
		failed := failingLife(t, fs, n, s, rows)
		files, mappings := fs.Live()
		require.Zero(t, files, "files left by call %d", n)
		require.Zero(t, mappings, "mappings left by call %d", n)
		if !failed {
			require.Greater(t, n, int64(10), "the life made that many calls")
			t.Logf("%d calls", n-1)
			return
		}
	}
}

// failingLife returns false if there was no n-th call.
func failingLife(t *testing.T, fs *sys.Faulty, n int64, s *Schema, rows *Batch) bool {
	eng, err := Open(Options{MaxRAM: 256 << 10, MaxMmap: 512 << 10, Dir: t.TempDir(), fs: fs})
	require.NoError(t, err)
	defer func() {
		if err := eng.Close(); err != nil { // it says what failed, and is closed
			require.ErrorIs(t, err, syscall.EIO)
		}
	}()
	owner, err := eng.NewOwner("owner", Limits{})
	require.NoError(t, err)
	before := fs.Calls().Total()
	fs.FailAny(n, syscall.EIO)
	tab := createTest(t, owner, s)
	w := tab.Writer(context.Background())
	for k := 0; k < rows.N; k++ {
		writeJoinit(w, rows, k)
		_, added, err := w.Insert()
		if errors.Is(err, ErrTableFailed) { // the failure lost rows
			break
		}
		if err != nil { // the row was not taken, and is when it comes again
			require.EqualValues(t, k, tab.Len(), "call %d, row %d: %v", n, k, err)
			k--
			continue
		}
		require.True(t, added)
	}
	if n, err := scanCount(tab); err == nil {
		require.Equal(t, rows.N, n)
	} else {
		require.ErrorIs(t, err, ErrTableFailed)
	}
	require.NoError(t, tab.Drop())
	return fs.Calls().Total()-before >= n
}

func scanCount(tab *Table) (n int, err error) {
	for _, err := range tab.Rows(context.Background()) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// A full device is a tier that refuses: the next one takes the block, or the
// error says so.
func TestFullDevice(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() != 0 || syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m") != nil {
		t.Skip("cannot mount a small tmpfs")
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	rows := randomJoinit(60_000)
	for _, tc := range []struct {
		name string
		o    Options
	}{
		{"mmap", Options{MaxRAM: 1 << 20, MaxMmap: 1 << 30, MaxDisk: Disabled}},
		{"disk", Options{MaxRAM: 1 << 20, MaxMmap: Disabled, MaxDisk: 1 << 30}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.o.Dir, tc.o.fs, tc.o.DiskReserve = dir, sys.OS(), Disabled
			eng, err := Open(tc.o)
			require.NoError(t, err)
			defer func() { require.NoError(t, eng.Close()) }()
			owner, err := eng.NewOwner("owner", Limits{})
			require.NoError(t, err)
			tab := createTest(t, owner, unionSchema(t))
			n, err := tab.InsertBatch(context.Background(), rows, nil)
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.Positive(t, n)
			require.EqualValues(t, n, tab.Len())
			scanned, err := scanCount(tab)
			require.NoError(t, err)
			require.Equal(t, n, scanned)
			require.NoError(t, tab.Drop())
		})
	}
}

// A hole in a file reads as zeros and raises nothing. Rows that are missing for
// it are an error, not an end.
func TestPunchedFileIsNoShortScan(t *testing.T) {
	if raceEnabled {
		t.Skip("race builds have no files")
	}
	for name, o := range map[string]Options{
		"mmap": {MaxRAM: 1 << 20, MaxDisk: Disabled},
		"disk": {MaxRAM: 1 << 20, MaxMmap: Disabled},
	} {
		for _, hole := range []int64{0, 4 << 10, 20 << 10, 32 << 10} {
			t.Run(name, func(t *testing.T) {
				fs := &capture{FS: sys.OS()}
				o.fs = fs
				_, owner := openTest(t, o)
				rows := randomJoinit(30_000)
				tab := createTest(t, owner, unionSchema(t))
				require.Equal(t, rows.N, insertAll(t, tab, rows))
				for _, f := range fs.files {
					require.NoError(t, f.Punch(hole, 64<<10))
				}
				n, err := scanCount(tab)
				require.ErrorIs(t, err, ErrTableFailed, "%d rows of %d", n, rows.N)
				_, err = tab.InsertBatch(context.Background(), rows, nil)
				require.ErrorIs(t, err, ErrTableFailed)
			})
		}
	}
}
