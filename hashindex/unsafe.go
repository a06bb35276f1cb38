package hashindex

import (
	"fmt"
	"unsafe"

	"github.com/spillway-db/spillway/internal/invariants"
)

// All of the package's unsafe code. Segments lie outside the Go heap (in race
// builds on it, in objects without pointers); a slot holds no Go pointer, so
// the collector need not see inside.

// slotsOf returns mem as slots. A slot is two 64-bit words: any content is
// valid, and AllocIndex aligns to far more than 8 bytes.
func slotsOf(mem []byte) *slot {
	p := unsafe.Pointer(unsafe.SliceData(mem))
	if invariants.Enabled && (uintptr(p)%slotBytes != 0 || len(mem)%slotBytes != 0 || len(mem) == 0) {
		panic(fmt.Sprintf("hashindex: %d bytes at %p cannot hold slots", len(mem), p))
	}
	return (*slot)(p)
}

// bytesOf is the inverse of slotsOf: the n slots at p as the bytes that
// AllocIndex returned. p came from slotsOf with n*slotBytes bytes behind it.
func bytesOf(p *slot, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), n*slotBytes)
}

// view returns the n slots at p; n is what the segment at p was made with.
func view(p *slot, n int) []slot {
	return unsafe.Slice(p, n)
}

// at returns slot i of the segment at p, without the bounds check that a slice
// would cost in the probe loop: callers mask i to the segment's size.
func at(p *slot, i uint64) *slot {
	return (*slot)(unsafe.Add(unsafe.Pointer(p), i*slotBytes))
}
