package temptable

import "encoding/binary"

// load makes the writer's row the one that is encoded in row, so that what is
// not set keeps its value.
func (w *rowWriter) load(row []byte) {
	w.begin()
	base := len(w.s.template)
	from, wide := base, header(row)&flagChained != 0
	if wide {
		from = w.s.wideBase()
	}
	end := w.s.dataEnd(row)
	w.grow(end - from)
	copy(w.buf, row[:w.s.endsOff])
	w.n = base + copy(w.buf[base:], row[from:end])
	for j := range w.ends {
		if wide {
			w.ends[j] = int(binary.LittleEndian.Uint32(row[w.s.endsOff+4*j:]))
		} else {
			w.ends[j] = int(binary.LittleEndian.Uint16(row[w.s.endsOff+2*j:]))
		}
	}
	w.top = len(w.ends)
	clear(w.missing)
}

// finishKey is finish for a row of which only a key counts: NOT NULL columns
// without a value are let pass.
func (w *rowWriter) finishKey() ([]byte, error) {
	clear(w.missing)
	return w.finish()
}
