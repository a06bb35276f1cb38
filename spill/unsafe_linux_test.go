package spill

import "unsafe"

// address is where mem starts, as a number.
func address(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }
