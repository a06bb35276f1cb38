package sys

import "unsafe"

// Contains says whether addr is the address of a byte of mem.
func Contains(mem []byte, addr uintptr) bool {
	// The address is compared as a number and never made a pointer again.
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	return addr >= lo && addr-lo < uintptr(len(mem))
}

// Offset says where in mem the bytes of part begin, if they lie in it.
func Offset(mem, part []byte) (off int, ok bool) {
	// As above: addresses are compared and subtracted, and stay numbers.
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part)))
	if !Contains(mem, at) {
		return 0, false
	}
	return int(at - uintptr(unsafe.Pointer(unsafe.SliceData(mem)))), true
}
