package disktable

// How says what Pin is to find in a frame.
type How int

const (
	// Read asks for the contents of the page. They are unspecified if it was
	// never written.
	Read How = iota
	// New asks for zeros, whatever the page was, without reading it. The page
	// is dirty from the start.
	New
)

// Pin returns the frame of a page of b, pinned until Unpin. The caller holds
// no pin meanwhile, and may be made to wait while all frames are pinned or
// busy.
//
// It returns ErrRange if b has no such page, what Owner.Err says, an *IOError
// if the page could not be read (this does not fail the owner), or ErrClosed.
//
// Cost: a hit takes the lock of a shard and one compare-and-swap; a miss one
// read, and a write if the victim is dirty. Who works on one page for a while
// keeps the pin and asks [Frame.Holds]; who comes back to a page tries
// [Frame.Repin] first.
func (s *Store) Pin(b Block, page int, how How) (*Frame, error) {
	if !b.holds(page) {
		return nil, ErrRange
	}
	if err := s.usable(b); err != nil {
		return nil, err
	}
	f, err := s.obtain(b, page, how)
	if err != nil {
		return nil, err
	}
	// The owner may have failed since, and a page of it been dropped and read
	// again, too old.
	if !b.owner.ok() {
		f.Unpin()
		return nil, b.owner.Err()
	}
	return f, nil
}

// obtain pins the frame of a page, with or without its being there already.
func (s *Store) obtain(b Block, page int, how How) (*Frame, error) {
	k := b.key(page)
	sh := s.table.of(k)
	if f := sh.hit(k); f != nil {
		return f.prepare(how), nil
	}
	f, err := s.claim()
	if err != nil {
		return nil, err
	}
	f.block = b
	if how == New {
		return s.create(sh, k, f), nil
	}
	return s.load(sh, k, f)
}

// prepare makes a page that was found what Pin was asked for.
func (f *Frame) prepare(how How) *Frame {
	if how == New {
		clear(f.data[:])
		f.Dirty()
	}
	return f
}

// create makes f, which is claimed, the zeroed frame of page k.
func (s *Store) create(sh *shard, k key, f *Frame) *Frame {
	clear(f.data[:])
	g := sh.enter(k, f, word(k, dirty|1))
	if g != f {
		s.frames.put(f)
		g.prepare(New)
	}
	return g
}

// load makes f, which is claimed, the frame of page k and reads it.
func (s *Store) load(sh *shard, k key, f *Frame) (*Frame, error) {
	if g := sh.enter(k, f, word(k, busy)); g != f {
		s.frames.put(f)
		return g, nil
	}
	if err := s.readPage(f); err != nil {
		sh.remove(f)
		s.frames.put(f)
		return nil, err
	}
	sh.settle(f, word(k, 1))
	return f, nil
}
