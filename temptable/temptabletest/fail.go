package temptabletest

import (
	"errors"
	"syscall"
	"testing"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/spillway-db/spillway/temptable"
)

// FailAt opens an engine whose n-th system call, counted from 1 after Open,
// fails with EIO, gives it to run and closes it. reached says whether there were
// n calls; err is what run returned. Files or mappings that are left then are an
// error of the test.
func FailAt(tb testing.TB, n int64, o temptable.Options, run func(*temptable.Engine) error) (reached bool, err error) {
	tb.Helper()
	fs := sys.NewFaulty(sys.Default())
	if o.Dir == "" {
		o.Dir = tb.TempDir()
	}
	eng, err := temptable.Open(o.WithFS(fs))
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	before := fs.Calls().Total()
	fs.FailAny(n, syscall.EIO)
	err = run(eng)
	reached = fs.Calls().Total()-before >= n
	if e := eng.Close(); e != nil && !errors.Is(e, syscall.EIO) {
		tb.Errorf("close after call %d failed: %v", n, e)
	}
	if files, mappings := fs.Live(); files+mappings != 0 {
		tb.Errorf("call %d failed: %d files and %d mappings are left", n, files, mappings)
	}
	return reached, err
}

// FailEach runs FailAt for n = 1, 2, … while there are so many calls. An error
// of run must be of the call that failed, or of a table that lost rows by it;
// when no call fails run must succeed. It returns the number of calls.
func FailEach(tb testing.TB, o temptable.Options, run func(*temptable.Engine) error) (calls int64) {
	tb.Helper()
	for n := int64(1); ; n++ {
		reached, err := FailAt(tb, n, o, run)
		switch {
		case err != nil && !reached:
			tb.Fatalf("no call failed, and yet: %v", err)
		case err != nil && !errors.Is(err, syscall.EIO) && !errors.Is(err, temptable.ErrTableFailed):
			tb.Errorf("call %d failed with EIO, the error is another: %v", n, err)
		}
		if !reached {
			return n - 1
		}
	}
}
