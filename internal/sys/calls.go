package sys

import (
	"fmt"
	"sync/atomic"
)

// Op is a kind of call.
type Op int

// The kinds of call. Advise is counted apart for Populate, which does I/O.
const (
	OpOpen Op = iota
	OpStat
	OpAnon
	OpUnmap
	OpAdvise
	OpPopulate
	OpRead
	OpWrite
	OpAllocate
	OpPunch
	OpTruncate
	OpSize
	OpDisableCoW
	OpMap
	OpClose
	NumOps // how many kinds there are
)

var opNames = [NumOps]string{"open", "stat", "anon", "unmap", "advise", "populate",
	"read", "write", "allocate", "punch", "truncate", "size", "nocow", "map", "close"}

// String is the short name of the kind: "open", "allocate", …
func (o Op) String() string {
	if o < 0 || o >= NumOps {
		return fmt.Sprintf("Op(%d)", int(o))
	}
	return opNames[o]
}

// Counts holds a number of calls for each [Op].
type Counts [NumOps]int64

// Total is the number of all calls.
func (c Counts) Total() (n int64) {
	for _, v := range c {
		n += v
	}
	return n
}

// Sub is what was called since c was old.
func (c Counts) Sub(old Counts) Counts {
	for i := range c {
		c[i] -= old[i]
	}
	return c
}

// counter counts calls; the zero value is ready.
type counter [NumOps]atomic.Int64

func (c *counter) add(o Op) { c[o].Add(1) }

// Calls implements [FS].
func (c *counter) Calls() (out Counts) {
	for i := range c {
		out[i] = c[i].Load()
	}
	return out
}

func (c *counter) addAdvice(a Advice) {
	if a == Populate {
		c.add(OpPopulate)
		return
	}
	c.add(OpAdvise)
}
