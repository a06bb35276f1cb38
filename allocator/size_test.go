package allocator

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestSizesOfTheDocumentation(t *testing.T) {
	require.Equal(t, 72, int(unsafe.Sizeof(Block{})))
	require.LessOrEqual(t, int(unsafe.Sizeof(Space{})), 1240)
	require.LessOrEqual(t, int(unsafe.Sizeof(Owner{})), 1024)
}
