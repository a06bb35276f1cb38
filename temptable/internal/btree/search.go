package btree

// find returns the index of the first entry of n that is not less than the
// wanted (key, id), and whether its key equals the wanted one. Rows are read
// only while the inline parts of long keys tie, about log2 of the run's length.
func (w *want) find(n *node) (i int, equal bool, err error) {
	i = n.lower(w.hi, w.from)
	if i == int(n.count) || !n.entries[i].ties(w.entry) {
		return i, false, nil
	}
	if !w.long() {
		return i, true, nil
	}
	return w.among(n, i)
}

// among finishes find where the entries from lo on tie with the wanted one.
func (w *want) among(n *node, lo int) (i int, equal bool, err error) {
	hi := n.lower(w.hi, w.from|maxID)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		c, err := w.rows.CompareRow(n.entries[mid].id())
		if err != nil {
			return 0, false, err
		}
		if c > 0 || c == 0 && n.entries[mid].id() < w.id() {
			lo = mid + 1
			continue
		}
		hi, equal = mid, c == 0
	}
	return lo, equal, nil
}

// way returns the index at which the way to the wanted entry goes on: of the
// child of an inner node, of the place in a leaf; and whether the entry or
// separator at or right of it has the wanted key.
func (w *want) way(n *node) (i int, equal bool, err error) {
	i, equal, err = w.find(n)
	if equal && n.level != 0 && n.entries[i] == w.entry {
		i++ // the separator is the entry itself: the first below its right child
	}
	return i, equal, err
}
