package spill

// At is the extent of n bytes that starts with mem: for holders that keep the
// memory only. The zero Extent if there is none. Cost: a look at each file.
func (p *Pool) At(mem []byte, n int) Extent { return Extent{p.space.At(mem, n)} }
