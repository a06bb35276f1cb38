package temptable

import "sync/atomic"

// useWord says, in its lower 16 bits, who uses a table: nobody, so many
// readers, or one of the states below; and, above them, how many rows the table
// had when the last call that may have changed it ended. One word for both
// saves such a call an atomic operation.
type useWord struct{ word atomic.Int64 }

const (
	useBits = 16
	useMask = 1<<useBits - 1

	useReaders = useMask - 3 // the most that there can be
	useDropped = useMask - 2
	useMove    = useMask - 1 // somebody moves its blocks; calls wait
	useChange  = useMask     // a call that may change the table
)

// rows is the number of rows.
func (u *useWord) rows() int64 { return u.word.Load() >> useBits }

// enter begins a call that may change the table.
func (u *useWord) enter() error {
	if w := u.word.Load(); w&useMask == 0 && u.word.CompareAndSwap(w, w|useChange) {
		return nil
	}
	return u.contend(func(w int64) (int64, bool) { return w | useChange, w&useMask == 0 })
}

// leave ends it.
func (u *useWord) leave(rows int64) { u.word.Store(rows << useBits) }

// show lets others see the number of rows while the call goes on.
func (u *useWord) show(rows int64) { u.word.Store(rows<<useBits | useChange) }

// enterRead begins a call that only reads.
func (u *useWord) enterRead() error {
	if w := u.word.Load(); w&useMask < useReaders && u.word.CompareAndSwap(w, w+1) {
		return nil
	}
	return u.contend(func(w int64) (int64, bool) { return w + 1, w&useMask < useReaders })
}

func (u *useWord) leaveRead() { u.word.Add(-1) }

// dropped reports whether drop did.
func (u *useWord) dropped() bool { return u.word.Load()&useMask == useDropped }

// drop ends the table, if nobody uses it.
func (u *useWord) drop() error {
	return u.contend(func(w int64) (int64, bool) { return useDropped, w&useMask == 0 })
}

// lockIdle takes the table for a moving of its blocks, if nobody uses it.
func (u *useWord) lockIdle() bool {
	w := u.word.Load()
	return w&useMask == 0 && u.word.CompareAndSwap(w, w|useMove)
}

func (u *useWord) unlockIdle() { u.word.And(^useMask) }

// contend retries a change of state while it meets others who make room, or
// says why it cannot be.
func (u *useWord) contend(change func(int64) (int64, bool)) error {
	for i := 0; ; {
		w := u.word.Load()
		if next, ok := change(w); ok {
			if u.word.CompareAndSwap(w, next) {
				return nil
			}
			continue
		}
		switch w & useMask {
		case useDropped:
			return ErrClosed
		case useMove:
			pause(i)
			i++
		default:
			return ErrConcurrentUse
		}
	}
}
