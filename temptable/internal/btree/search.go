package btree

// find returns the index in n at which the way to the wanted entry goes on: of
// the child of an inner node, of the first entry not less in a leaf; and
// whether the entry there, or right of the child, has the wanted key. Words
// decide; rows are read only if long keys tie, about log2 of their number.
func (w *want) find(n *node) (i int, equal bool, err error) {
	i = lower(n.all(), w.hi, w.from)
	if i < int(n.count) && n.entries[i].ties(w.entry) {
		return w.tie(n, i)
	}
	return i, false, nil
}

// tie is find where the entry at i, the first that may, ties with the wanted one.
func (w *want) tie(n *node, i int) (at int, equal bool, err error) {
	if equal = true; w.long() {
		if i, equal, err = w.among(n, i); err != nil {
			return 0, false, err
		}
	}
	if n.level != 0 && equal && n.entries[i] == w.entry {
		i++ // the separator is the wanted entry: the first below its right child
	}
	return i, equal, nil
}

// among finds the first entry not less than the wanted one where all from lo
// on tie with it up to some point.
func (w *want) among(n *node, lo int) (i int, equal bool, err error) {
	hi := int(n.count)
	if !n.entries[hi-1].ties(w.entry) {
		hi = lower(n.all(), w.hi, w.from|maxID)
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		id := n.entries[mid].id()
		c, err := w.rows.CompareRow(id)
		if err != nil {
			return 0, false, rowError(id, err)
		}
		if c > 0 || c == 0 && id < w.id() {
			lo = mid + 1
			continue
		}
		hi, equal = mid, c == 0
	}
	return lo, equal, nil
}
