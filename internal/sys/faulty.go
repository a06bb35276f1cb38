package sys

import (
	"fmt"
	"math"
	"sync"
	"syscall"
)

// Faulty wraps an [FS] for tests: chosen calls fail with a chosen error,
// without reaching the wrapped FS. Unmap and Close are carried out all the
// same, as close(2) does. It counts the calls, and the files and mappings that
// are open.
type Faulty struct {
	counter
	fs FS

	mu       sync.Mutex
	rules    []*rule
	files    int
	mappings int
	device   *device // nil: that of fs
}

// rule fails the calls of a kind numbered from to to, counted from 1.
type rule struct {
	op       Op // NumOps: any
	from, to int64
	seen     int64
	err      error
}

// NewFaulty wraps fs; nothing fails yet.
func NewFaulty(fs FS) *Faulty { return &Faulty{fs: fs} }

// FailAt makes the n-th call of kind op from now on (1 is the next) fail with
// err.
func (f *Faulty) FailAt(op Op, n int64, err error) { f.rule(&rule{op: op, from: n, to: n, err: err}) }

// FailAll makes every call of kind op from now on fail with err.
func (f *Faulty) FailAll(op Op, err error) {
	f.rule(&rule{op: op, from: 1, to: math.MaxInt64, err: err})
}

// FailAny makes the n-th call of any kind from now on fail with err.
func (f *Faulty) FailAny(n int64, err error) { f.FailAt(NumOps, n, err) }

// Heal drops all rules.
func (f *Faulty) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// LimitFree makes all directories one device with n free bytes. Allocate and
// WriteAt take from it in blocks of 4 KiB; what does not fit fails with
// ENOSPC, and what fitted before that stays taken until Truncate, Punch or
// Close, as on ext4. Files that are open already are not counted.
func (f *Faulty) LimitFree(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.device = &device{free: n}
}

// Free is what LimitFree's device has left.
func (f *Faulty) Free() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.device.free
}

// Live says how many files and mappings are open.
func (f *Faulty) Live() (files, mappings int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.files, f.mappings
}

func (f *Faulty) rule(r *rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, r)
}

// call counts a call and says whether it fails.
func (f *Faulty) call(op Op) error {
	f.add(op)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if err := r.apply(op); err != nil {
			return fmt.Errorf("injected failure of %v: %w", op, err)
		}
	}
	return nil
}

func (r *rule) apply(op Op) error {
	if r.op != op && r.op != NumOps {
		return nil
	}
	if r.seen++; r.seen < r.from || r.seen > r.to {
		return nil
	}
	return r.err
}

func (f *Faulty) count(files, mappings int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files += files
	f.mappings += mappings
}

// OpenTemp implements [FS].
func (f *Faulty) OpenTemp(dir string) (File, error) {
	if err := f.call(OpOpen); err != nil {
		return nil, err
	}
	file, err := f.fs.OpenTemp(dir)
	if err != nil {
		return nil, err
	}
	f.count(1, 0)
	return &faultyFile{File: file, f: f}, nil
}

// Stat implements [FS].
func (f *Faulty) Stat(dir string) (DirInfo, error) {
	if err := f.call(OpStat); err != nil {
		return DirInfo{}, err
	}
	d, err := f.fs.Stat(dir)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.device != nil {
		d.Free = f.device.free
	}
	return d, err
}

// Anon implements [FS].
func (f *Faulty) Anon(n int) ([]byte, error) {
	if err := f.call(OpAnon); err != nil {
		return nil, err
	}
	return f.mapped(f.fs.Anon(n))
}

func (f *Faulty) mapped(mem []byte, err error) ([]byte, error) {
	if err == nil {
		f.count(0, 1)
	}
	return mem, err
}

// Unmap implements [FS].
func (f *Faulty) Unmap(mem []byte) error {
	injected := f.call(OpUnmap)
	err := f.fs.Unmap(mem)
	if err == nil {
		f.count(0, -1)
	}
	return first(injected, err)
}

// Advise implements [FS].
func (f *Faulty) Advise(mem []byte, a Advice) error {
	op := OpAdvise
	if a == Populate {
		op = OpPopulate
	}
	if err := f.call(op); err != nil {
		return err
	}
	return f.fs.Advise(mem, a)
}

func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// device is a simulated disk.
type device struct{ free int64 }

const deviceBlock = 4096

// take takes the blocks of [off, off+n) that has lacks, in order, and says how
// many bytes from off are backed then.
func (d *device) take(has map[int64]struct{}, off, n int64) int64 {
	for b := off / deviceBlock; b*deviceBlock < off+n; b++ {
		if _, ok := has[b]; ok {
			continue
		}
		if d.free < deviceBlock {
			return max(b*deviceBlock-off, 0)
		}
		d.free -= deviceBlock
		has[b] = struct{}{}
	}
	return n
}

// drop gives back the whole blocks of [off, end).
func (d *device) drop(has map[int64]struct{}, off, end int64) {
	for b := range has {
		if b*deviceBlock >= off && (b+1)*deviceBlock <= end {
			delete(has, b)
			d.free += deviceBlock
		}
	}
}

// errFull is what a full device says.
var errFull error = syscall.ENOSPC
