package disktable

import (
	"errors"
	"fmt"
)

var (
	// ErrIO is matched by every failed read or write of a page.
	ErrIO = errors.New("disktable: I/O error")
	// ErrClosed is returned by every call on a closed store.
	ErrClosed = errors.New("disktable: closed")
	// ErrNoMemory is returned by Open when Memory refuses one of the MinFrames.
	ErrNoMemory = errors.New("disktable: no memory for the smallest cache")
	// ErrRange is returned when a page, an offset or a length lies outside of
	// the block, or when the block is none of this store's.
	ErrRange = errors.New("disktable: outside of the block")
)

// IOError says which transfer failed. It matches ErrIO, and the errno.
type IOError struct {
	Op   string // "read" or "write"
	Page uint64 // number of the first page, over all files
	Off  int    // byte offset in the block
	Len  int    // bytes
	Err  error  // what the file said, with its directory
}

// Error names the transfer, its place and its cause.
func (e *IOError) Error() string {
	return fmt.Sprintf("disktable: %s %d bytes at offset %d of a block (page %d): %v", e.Op, e.Len, e.Off, e.Page, e.Err)
}

// Unwrap returns ErrIO and the cause.
func (e *IOError) Unwrap() []error { return []error{ErrIO, e.Err} }
