package sys

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWritevWritesEveryByteOnce(t *testing.T) {
	each(t, func(t *testing.T, fs FS) {
		f, err := fs.OpenTemp(t.TempDir())
		require.NoError(t, err)
		defer f.Close()
		bufs := [][]byte{[]byte("one,"), nil, []byte("two,"), bytes.Repeat([]byte("x"), 9000)}
		n, err := f.WritevAt(bufs, 5)
		require.NoError(t, err)
		require.Equal(t, 9008, n)
		got := make([]byte, 9008)
		_, err = f.ReadAt(got, 5)
		require.NoError(t, err)
		require.Equal(t, "one,two,xxx", string(got[:11]))
		require.Equal(t, byte('x'), got[9007])
	})
}

// What a short write left over must go where it belongs.
func TestWriteRestGoesOnAnywhere(t *testing.T) {
	bufs := [][]byte{[]byte("abc"), []byte("defg"), []byte("h")}
	for n := range 9 {
		f, err := Heap().OpenTemp("")
		require.NoError(t, err)
		_, err = f.WriteAt([]byte("abcdefgh")[:n], 3)
		require.NoError(t, err)
		done, err := writeRest(f, bufs, 3, n)
		require.NoError(t, err)
		require.Equal(t, 8, done)
		got := make([]byte, 8)
		_, err = f.ReadAt(got, 3)
		require.NoError(t, err)
		require.Equal(t, "abcdefgh", string(got), "after %d bytes", n)
	}
}

func TestWritevOnAFullDevice(t *testing.T) {
	fs := NewFaulty(Heap())
	fs.LimitFree(10)
	f, err := fs.OpenTemp(t.TempDir())
	require.NoError(t, err)
	n, err := f.WritevAt([][]byte{make([]byte, 8), make([]byte, 8)}, 0)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.LessOrEqual(t, n, 10)
}
