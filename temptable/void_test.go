package temptable

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// An id that a truncate or a rollback made void may lie amid a row that came
// after. No call may take it for a row's: ErrRowGone, or the row that starts
// just there.
func TestVoidIDsHarmNothing(t *testing.T) {
	ctx := context.Background()
	for _, way := range []string{"truncate", "rollback"} {
		t.Run(way, func(t *testing.T) {
			_, owner := openTest(t, Options{MaxRAM: 4 << 20, MaxMmap: Disabled})
			s, err := NewSchema([]Column{{Name: "n", Type: TypeInt, NotNull: true}, {Name: "a", Type: TypeVarchar}, {Name: "b", Type: TypeVarchar}})
			require.NoError(t, err)
			tab := createTest(t, owner, s)
			w := tab.Writer(ctx)
			put := func(n, size int) RowID {
				w.SetInt(0, int64(n))
				w.SetBytes(1, make([]byte, size%37))
				w.SetBytes(2, make([]byte, size))
				id, _, err := w.Insert()
				require.NoError(t, err)
				return id
			}
			save, err := tab.Savepoint()
			require.NoError(t, err)
			var void []RowID
			for n := range 500 {
				void = append(void, put(n, 3+n%23))
			}
			if way == "truncate" {
				require.NoError(t, tab.Truncate())
			} else {
				require.NoError(t, save.RollbackTo(ctx))
			}
			live := map[RowID]bool{}
			for n := range 100 {
				live[put(1000+n, 40+n%61)] = true
			}
			var buf RowBuffer
			for _, id := range void {
				row, err := tab.Get(id, &buf)
				if err == nil { // it may look like one; it must not hurt
					_, _, _ = row.Int(0), row.Bytes(1), row.Bytes(2)
				} else {
					require.ErrorIs(t, err, ErrRowGone)
				}
				if live[id] {
					continue
				}
				require.ErrorIs(t, tab.Delete(ctx, id), ErrRowGone)
			}
			require.EqualValues(t, 100, tab.Len())
			n, err := scanCount(tab)
			require.NoError(t, err)
			require.Equal(t, 100, n)
		})
	}
}
