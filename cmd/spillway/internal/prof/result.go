package prof

// SchemaName is the name of the JSON form of a Result.
const SchemaName = "spillway.profile/1"

// Result is what a run found. Bytes are bytes, times seconds.
type Result struct {
	Schema   string `json:"schema"`
	Workload string `json:"workload"`
	About    string `json:"about"`
	Mode     string `json:"mode"`
	Limits   Limits `json:"limits"`
	Rows     int    `json:"rows"` // inserted by one pass
	Files    []File `json:"files"`

	Passes  int     `json:"passes"` // that were measured without a profiler
	Pass    float64 `json:"pass_s"` // one of them, on average
	NsRow   float64 `json:"ns_per_row"`
	CPU     float64 `json:"cpu_s"`    // of a pass, background work included
	GCShare float64 `json:"gc_share"` // of the CPU time, 0 to 1
	Allocs  float64 `json:"go_allocs_per_pass"`

	FirstMinorFaults int64            `json:"first_minor_faults"` // the first pass, on a new engine
	FirstCalls       map[string]int64 `json:"first_calls"`
	MinorFaults      float64          `json:"minor_faults_per_pass"` // the others
	MajorFaults      float64          `json:"major_faults_per_pass"`
	Calls            float64          `json:"calls_per_pass"`

	Steps        []Step  `json:"steps"` // of a pass on a new engine, every block recorded
	BlocksPerRow float64 `json:"blocks_per_row"`
	Top          []Taken `json:"top"`

	Legacy *Legacy `json:"legacy,omitempty"`
}

// File is a profile that was written.
type File struct {
	Kind string `json:"kind"`
	Path string `json:"path"`
	Open string `json:"open"` // the command that shows it
}

// Step is what a part of a pass took.
type Step struct {
	Name    string           `json:"name"`
	Rows    int              `json:"rows"`
	Added   int64            `json:"added"` // rows that were not there before
	Created int64            `json:"blocks_created"`
	Reused  int64            `json:"blocks_reused"`
	Bytes   int64            `json:"bytes"`
	Files   int64            `json:"files"`
	Seconds float64          `json:"seconds"`
	Calls   map[string]int64 `json:"calls"`
	Taken   []Taken          `json:"taken"`
}

// Blocks is the number of blocks that the step took.
func (s *Step) Blocks() int64 { return s.Created + s.Reused }

// Legacy is the same of 8.0.19's policy.
type Legacy struct {
	Steps     []Step `json:"steps"`
	File      string `json:"file"`      // its profile
	Projected bool   `json:"projected"` // the time, and calls, of files that were not really made
}
