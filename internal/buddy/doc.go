// Package buddy manages the offsets of one chunk of memory or file, cut into
// pieces whose sizes are powers of two.
//
// A piece of order k is 2^k bytes at a multiple of 2^k. Allocating splits a
// larger piece if need be, freeing joins a piece with its buddy (the other
// half of the next larger piece) as long as that is free too:
//
//	order 14  |                                16K                            |
//	order 13  |               8K              |               8K              |
//	order 12  |       4K      |       4K      |       4K      |       4K      |
//
// The piece freed last is handed out first, since its pages are warm; without
// such a piece it is the lowest one of the smallest order that is large
// enough.
//
// There is one bit for each possible piece of each order and a summary of a
// 64th of that: 64 MiB in pieces from 4 KiB take 6 KiB of Go memory, and no
// byte of the chunk itself is touched. Allocating and freeing look at a few
// words an order and allocate nothing.
//
// It must never know what the offsets stand for, nor lock: its owner does.
package buddy
