package temptable

import (
	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/hashindex"
)

// indexPages is a table's memory as the disk that its hash indexes spill to.
type indexPages allocator.Space

// AllocPages implements hashindex.Disk.
func (p *indexPages) AllocPages(n int) (hashindex.Pages, error) {
	pages, err := (*allocator.Space)(p).AllocPages(n)
	if err != nil {
		return nil, err
	}
	return pages, nil
}

// newHashIndex makes an index in the table's memory, which spills if the
// engine has a disk table.
func (t *Table) newHashIndex() *hashindex.Index {
	var o hashindex.Options
	if t.eng.alloc.HasDisk() {
		o.Disk = (*indexPages)(&t.space)
	}
	return hashindex.New(&t.space, o)
}
