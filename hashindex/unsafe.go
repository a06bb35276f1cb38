package hashindex

import (
	"fmt"
	"unsafe"

	"github.com/spillway-db/spillway/internal/invariants"
)

// All of the package's unsafe code. Segments lie outside the Go heap (in race
// builds on it, in objects without pointers); a slot holds no Go pointer, so
// the collector need not see inside.

// groupsOf returns mem as groups of slots. A slot is two 64-bit words: any
// content is valid, and AllocIndex aligns to more than a group.
func groupsOf(mem []byte) *group {
	p := unsafe.Pointer(unsafe.SliceData(mem))
	if invariants.Enabled && (uintptr(p)%groupBytes != 0 || len(mem)%groupBytes != 0 || len(mem) == 0) {
		panic(fmt.Sprintf("hashindex: %d bytes at %p cannot hold groups", len(mem), p))
	}
	return (*group)(p)
}

// bytesOf is the inverse of groupsOf: the n groups at p as the bytes that
// AllocIndex returned. p came from groupsOf with n*groupBytes bytes behind it.
func bytesOf(p *group, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), n*groupBytes)
}

// view returns the n groups at p; n is what the segment at p was made with.
func view(p *group, n int) []group {
	return unsafe.Slice(p, n)
}

// at returns group i of the segment at p, without the bounds check that a slice
// would cost in the probe loop: callers mask i to the segment's size.
func at(p *group, i uint64) *group {
	return (*group)(unsafe.Add(unsafe.Pointer(p), i*groupBytes))
}

// slotBytesOf returns the memory of s, for reading and writing files. Only the
// process that wrote a run reads it, so the byte order is the machine's.
func slotBytesOf(s []slot) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*slotBytes)
}

// slotsIn returns the slots of g one behind the other: a group is an array of
// them, and so is an array of groups.
func slotsIn(g []group) []slot {
	return unsafe.Slice((*slot)(unsafe.Pointer(unsafe.SliceData(g))), len(g)*groupSlots)
}

// word returns 64-bit word i, below segmentWords, of a segment of 16 KiB.
func word(p *group, i uint64) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(p), i*8))
}
