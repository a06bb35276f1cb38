package legacy

import "runtime"

// Record says what one call path made so far.
type Record struct {
	Stack  []uintptr // return addresses, innermost first, as of runtime.Callers
	File   bool      // blocks in files; otherwise in RAM
	Blocks int64
	Bytes  int64
}

const maxStack = 48

// recordKey tells records apart.
type recordKey struct {
	stack [maxStack]uintptr
	kind  kind
}

// recorder keeps who made the blocks; nil records nothing.
type recorder map[recordKey]*Record

// take notes a block for the caller of its caller.
func (r recorder) take(k kind, size int) {
	if r == nil {
		return
	}
	key := recordKey{kind: k}
	n := runtime.Callers(2, key.stack[:])
	rec := r[key]
	if rec == nil {
		rec = &Record{Stack: append([]uintptr(nil), key.stack[:n]...), File: k == inFile}
		r[key] = rec
	}
	rec.Blocks++
	rec.Bytes += int64(size)
}

// Records returns who made blocks so far, in no order, if Config.Record was
// set.
func (t *Table) Records() (all []Record) {
	for _, r := range t.alloc.recorder {
		all = append(all, *r)
	}
	return all
}
