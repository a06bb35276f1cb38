package report

// SchemaName is the name of the JSON form of a Report.
const SchemaName = "spillway.union/1"

// Report is one run of the tool. Bytes are bytes, times seconds.
type Report struct {
	Schema   string             `json:"schema"`
	Options  Options            `json:"options"`
	Host     Host               `json:"host"`
	Input    Input              `json:"input"`
	Expected Expected           `json:"expected"`
	Runs     []Run              `json:"runs"`
	Ratios   map[string]float64 `json:"ratios"` // "a/b": median time of a over that of b

	// Fills and Sizes are there if pictures were asked for.
	Fills []Fill      `json:"fills,omitempty"`
	Sizes []SizePoint `json:"sizes,omitempty"`
}

// Fill is what one more run held while it inserted the rows, left ones first.
type Fill struct {
	Mode       string      `json:"mode"` // legacy-8.0.19, or spillway: all three tiers
	RAMBudget  int64       `json:"ram_budget"`
	MmapBudget int64       `json:"mmap_budget"`
	Points     []FillPoint `json:"points"`
}

// FillPoint is what is in use after some rows.
type FillPoint struct {
	Rows   int   `json:"rows"`
	RAM    int64 `json:"ram_bytes"`
	Mmap   int64 `json:"mmap_bytes"`
	Disk   int64 `json:"disk_bytes"`
	Filled int64 `json:"filled_bytes"` // written to files so far
}

// SizePoint is the speed on a generated table of Rows distinct rows, followed
// by the same in random order.
type SizePoint struct {
	Mode     string  `json:"mode"`
	Rows     int     `json:"rows"`
	NsPerRow float64 `json:"ns_per_row"` // per input row
}

// Options are the flags of the run, and what else decides about it.
type Options struct {
	Modes        []string `json:"mode"`
	MaxRAM       int64    `json:"max_ram"`
	MaxMmap      int64    `json:"max_mmap"`
	SpillRAM     int64    `json:"spill_ram"` // the RAM of the modes mmap and disk
	SpillRAMAuto bool     `json:"spill_ram_auto"`
	Dir          string   `json:"dir"`
	Count        int      `json:"count"`
	Pool         string   `json:"pool"`
	LegacyCycles string   `json:"legacy_cycles"`
	Left         string   `json:"left"`
	Right        string   `json:"right"`
	Null         string   `json:"null"`
	Header       bool     `json:"header"`
	TableSchema  string   `json:"schema"`
	Rows         int      `json:"rows"`
	Dup          float64  `json:"dup"`
	Order        string   `json:"order"`
	Seed         uint64   `json:"seed"`
	Format       string   `json:"format"`
	Profile      string   `json:"profile"`
	Version      string   `json:"version"`
	Commit       string   `json:"commit"`
	GOMAXPROCS   int      `json:"gomaxprocs"`
}

// Host is where the run took place.
type Host struct {
	CPU        string `json:"cpu"`
	CPUs       int    `json:"cpus"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Kernel     string `json:"kernel"`
	Dir        string `json:"dir"`
	FileSystem string `json:"file_system"` // of Dir
	FreeBytes  int64  `json:"free_bytes"`  // in Dir
	InRAM      bool   `json:"dir_in_ram"`  // spilling there saves no memory
	Go         string `json:"go"`
}

// Input is the two sides of the UNION.
type Input struct {
	Left   Side   `json:"left"`
	Right  Side   `json:"right"`
	Source string `json:"source"` // what the rows are
	Order  string `json:"order"`  // of the right side
	Report bool   `json:"report"` // the bug report's own tables
}

// Side is one table.
type Side struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

// Rows is the number of input rows.
func (in Input) Rows() int { return in.Left.Rows + in.Right.Rows }

// Expected is the right answer, from a plain Go map over the parsed text.
type Expected struct {
	Rows            int    `json:"rows"`
	Checksum        uint64 `json:"checksum"`
	LeftDuplicates  int    `json:"left_duplicates"`
	RightDuplicates int    `json:"right_duplicates"`
}

// Run is one mode. Counters of files and mappings are those of the engine's
// whole life (one engine serves all samples of a mode, the pool `fresh`
// excepted); those of blocks are of one sample.
type Run struct {
	Mode    string    `json:"mode"`
	Samples []float64 `json:"samples_s"`
	Median  float64   `json:"median_s"`
	Phases  Phases    `json:"phases_s"` // medians
	// CPU is user and system time of one sample (the median), background work
	// included; of a projected run it is projected like the time.
	CPU      float64 `json:"cpu_s"`
	NsPerRow float64 `json:"ns_per_row"` // per input row
	Rows     int     `json:"rows_out"`
	Checksum uint64  `json:"checksum"`

	Projected bool      `json:"projected"`
	Measured  *Measured `json:"measured,omitempty"`
	Legacy    *Legacy   `json:"legacy,omitempty"`

	Pool          string  `json:"pool"` // fresh, cold, hot; none in legacy modes
	RAMBudget     int64   `json:"ram_budget"`
	RAMPeak       int64   `json:"ram_peak_bytes"`
	MmapPeak      int64   `json:"mmap_peak_bytes"`
	DiskPeak      int64   `json:"disk_peak_bytes"`
	BlocksCreated int64   `json:"blocks_created"`
	BlocksReused  int64   `json:"blocks_reused"`
	BlocksPerRow  float64 `json:"blocks_per_row"` // created, per input row
	FilesCreated  int64   `json:"files_created"`
	MmapCalls     int64   `json:"mmap_calls"`
	BytesFilled   int64   `json:"bytes_filled"`
	PageReads     int64   `json:"page_reads"`  // of the disk table, in one sample
	PageWrites    int64   `json:"page_writes"` // likewise
	GoAllocs      int64   `json:"go_allocs"`   // in one sample
	MajorFaults   int64   `json:"major_faults"`
}

// Phases are the parts of a sample.
type Phases struct {
	Open   float64 `json:"open"`
	Insert float64 `json:"insert"`
	Scan   float64 `json:"scan"`
	Drop   float64 `json:"drop"`
}

// Measured is what a projected run really did.
type Measured struct {
	Cycles  int     `json:"cycles"` // files made, filled, mapped and destroyed
	Seconds float64 `json:"seconds"`
	Files   int     `json:"files"`
	Bytes   int64   `json:"bytes"`
	P10     float64 `json:"p10"` // seconds of one cycle
	P50     float64 `json:"p50"`
	P90     float64 `json:"p90"`
}

// Legacy is what an old policy did, in its own terms.
type Legacy struct {
	Duplicates int `json:"duplicates"`
	// FirstFile is the number of duplicates rejected before the first one that
	// made a file; -1: none did.
	FirstFile int `json:"first_file_after"`
	FileBytes int `json:"file_bytes"` // of the last file
}

// Run returns the run of mode, nil if there is none.
func (r *Report) Run(mode string) *Run {
	for i := range r.Runs {
		if r.Runs[i].Mode == mode {
			return &r.Runs[i]
		}
	}
	return nil
}

// Differing returns the runs whose result is not the expected one.
func (r *Report) Differing() (bad []Run) {
	for _, run := range r.Runs {
		if run.Rows != r.Expected.Rows || run.Checksum != r.Expected.Checksum {
			bad = append(bad, run)
		}
	}
	return bad
}

// SetRatios computes Ratios from the medians.
func (r *Report) SetRatios() {
	r.Ratios = map[string]float64{}
	for _, a := range r.Runs {
		for _, b := range r.Runs {
			if a.Mode != b.Mode && b.Median > 0 {
				r.Ratios[a.Mode+"/"+b.Mode] = a.Median / b.Median
			}
		}
	}
}
