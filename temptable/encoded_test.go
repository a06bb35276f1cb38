package temptable

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Opaque rows have what all others have: one row a key, whatever the payload,
// on every tier, with stable ids, in the order of the keys where asked for.
func TestInsertEncoded(t *testing.T) {
	onTinyBudgets(t, func(t *testing.T, owner *Owner) {
		ctx := context.Background()
		tab := createTest(t, owner, EncodedSchema())
		x, err := tab.AddIndex(ctx, IndexSpec{Name: "key", Key: Asc(0), Ordered: true})
		require.NoError(t, err)
		w := tab.Writer(ctx)
		ids := map[string]RowID{}
		for k := range 3000 {
			key := fmt.Sprintf("\x00%04x", k*7919%2000)
			id, added, err := w.InsertEncoded([]byte(key), bytes.Repeat([]byte{byte(k)}, k%300))
			require.NoError(t, err)
			require.Equal(t, ids[key] == 0, added)
			if added {
				ids[key] = id
			}
			require.Equal(t, ids[key], id)
		}
		require.EqualValues(t, len(ids), tab.Len())
		c, last := x.Cursor(), ""
		defer c.Close()
		for n := 0; ; n++ {
			ok, err := c.Next(ctx)
			require.NoError(t, err)
			if !ok {
				require.Equal(t, len(ids), n)
				break
			}
			row, err := c.Row()
			require.NoError(t, err)
			require.Less(t, last, row.String(0))
			last = row.String(0)
			require.Equal(t, ids[last], c.ID())
		}
	})
}

func TestInsertEncodedElsewhere(t *testing.T) {
	_, owner := openTest(t, Options{MaxRAM: 1 << 20})
	tab := createTest(t, owner, EncodedSchema())
	w := tab.Writer(context.Background())
	w.SetReader(1, strings.NewReader(strings.Repeat("p", 9000)))
	id, added, err := w.InsertEncoded([]byte("k"), nil)
	require.NoError(t, err)
	require.True(t, added)
	var buf RowBuffer
	row, err := tab.Get(id, &buf)
	require.NoError(t, err)
	require.Len(t, row.Bytes(1), 9000)

	s, err := NewSchema([]Column{{Type: TypeInt}})
	require.NoError(t, err)
	_, _, err = createTest(t, owner, s).Writer(context.Background()).InsertEncoded(nil, nil)
	require.ErrorIs(t, err, ErrType)
}
