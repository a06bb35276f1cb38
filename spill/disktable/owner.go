package disktable

import "sync/atomic"

// Owner stands for whoever fails as a whole when one of its pages is lost: a
// table. The zero value is ready. It outlives the blocks that were allocated
// for it.
type Owner struct {
	failed atomic.Pointer[IOError]
}

// Err returns nil, or the *IOError of the page that could not be written
// back. From then on every call for a block of this owner returns it, but for
// Free.
func (o *Owner) Err() error {
	if e := o.failed.Load(); e != nil {
		return e
	}
	return nil
}

// ok is Err without the interface.
func (o *Owner) ok() bool { return o.failed.Load() == nil }

// fail records the first loss.
func (o *Owner) fail(e *IOError) { o.failed.CompareAndSwap(nil, e) }
