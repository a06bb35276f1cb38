package allocator

// ChargeHeap charges n bytes of Go heap, n >= 0, to the engine's RAM: scratch
// of batches and buffers of cursors. Rows are moved down if it must be. What
// refuses is a *LimitError. RefundHeap takes it back.
func (s *Space) ChargeHeap(n int) error {
	why := refusal{tier: RAM, want: n, err: errRAMFull}
	for !s.alloc.chargeHeap(n) {
		if s.alloc.hopeless(n) || !s.makeRoom(why, n) {
			return s.alloc.refusalError(why)
		}
	}
	return nil
}

// ChargeHeap is the same for who must not move rows of a table. Its error is
// as good as Space.ChargeHeap's, but does not name the largest holders: it is
// for who tries that next.
func (a *Allocator) ChargeHeap(n int) error {
	if !a.chargeHeap(n) {
		return a.plainError(refusal{tier: RAM, want: n, err: errRAMFull})
	}
	return nil
}

// RefundHeap takes back a charge.
func (a *Allocator) RefundHeap(n int) {
	a.heap.Add(-int64(n))
	a.ram.budget.give(int64(n))
}

func (a *Allocator) chargeHeap(n int) bool {
	if !a.ram.charge(int64(n)) && !(a.reclaim(int64(n)) && a.ram.charge(int64(n))) {
		return false
	}
	a.heap.Add(int64(n))
	return true
}

// hopeless says that n bytes of RAM cannot be had however many rows move down.
func (a *Allocator) hopeless(n int) bool {
	limit := a.ram.budget.max()
	if a.disk != nil {
		limit -= int64(a.minFrames * DiskPage)
	}
	return int64(n) > limit
}
