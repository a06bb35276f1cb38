package union

// limits are the bytes that an engine may use on each tier, and where.
type limits struct {
	ram, mmap int64
	mmapOff   bool // what does not fit in RAM goes to the disk table
	dir       string
}

// minRAM is the least that an engine takes.
const minRAM = 64 << 10
