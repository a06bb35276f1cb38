package disktable

// AllocReused is Alloc that also says whether the space had been allocated
// before: false if the device was asked for more.
func (s *Store) AllocReused(size int, o *Owner) (b Block, reused bool, err error) {
	if err := s.usable(Block{owner: o}); err != nil {
		return Block{}, false, err
	}
	if piece, _, ok := s.space.Take(size); ok {
		return Block{owner: o, piece: piece}, true, nil
	}
	b, err = s.Alloc(size, o)
	return b, false, err
}
