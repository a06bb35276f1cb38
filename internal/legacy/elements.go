package legacy

import "context"

// Elements lie in pages: the references of the previous and the next page (8
// bytes each), then 2,047 elements of 32 bytes, whose first 8 refer to a row.
const (
	pageHeader   = 16
	elementSize  = 32
	pageElements = (64<<10 - pageHeader) / elementSize
	pageSize     = pageHeader + pageElements*elementSize
)

// elements is the list of a table's rows.
type elements struct {
	a           *allocator
	first, last ref // pages
	onLast      int // elements on the last page
}

// push takes a new element and returns where it is.
func (e *elements) push(ctx context.Context) (ref, error) {
	if e.last == 0 || e.onLast == pageElements {
		if err := e.addPage(ctx); err != nil {
			return 0, err
		}
	}
	r := e.last + pageHeader + ref(e.onLast*elementSize)
	e.onLast++
	return r, nil
}

func (e *elements) addPage(ctx context.Context) error {
	r, mem, err := e.a.alloc(ctx, pageSize)
	if err != nil {
		return err
	}
	putRef(mem, e.last)
	putRef(mem[8:], 0)
	if e.last == 0 {
		e.first = r
	} else {
		putRef(e.a.at(e.last+8, 8), r)
	}
	e.last, e.onLast = r, 0
	return nil
}

// pop gives the last element back, and its page if it was alone there.
func (e *elements) pop() error {
	e.onLast--
	if e.onLast > 0 {
		return nil
	}
	page := e.last
	e.last, e.onLast = getRef(e.a.at(page, 8)), pageElements
	if e.last == 0 {
		e.first = 0
	} else {
		putRef(e.a.at(e.last+8, 8), 0)
	}
	return e.a.free(page, pageSize)
}

func putRef(mem []byte, r ref) { le.PutUint64(mem, uint64(r)) }
func getRef(mem []byte) ref    { return ref(le.Uint64(mem)) }

// reader walks over the rows in the order of their insertion.
type reader struct {
	e    *elements
	page ref
	next int
}

func (e *elements) reader() reader { return reader{e: e, page: e.first} }

// row returns the next row, or 0 behind the last.
func (r *reader) row() ref {
	if r.page != r.e.last && r.next == pageElements {
		r.page, r.next = getRef(r.e.a.at(r.page+8, 8)), 0
	}
	if r.page == 0 || r.page == r.e.last && r.next == r.e.onLast {
		return 0
	}
	el := r.e.a.at(r.page+pageHeader+ref(r.next*elementSize), 8)
	r.next++
	return getRef(el)
}
