package sys

import "unsafe"

// Contains says whether addr is the address of a byte of mem.
func Contains(mem []byte, addr uintptr) bool {
	// The address is compared as a number and never made a pointer again.
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	return addr >= lo && addr-lo < uintptr(len(mem))
}
