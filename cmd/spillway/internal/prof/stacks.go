package prof

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Taken is what one call path took.
type Taken struct {
	Tier    string   `json:"tier"`    // ram, mmap, disk; ram, file for the old policy
	Purpose string   `json:"purpose"` // rows, index; nothing for the old policy
	Path    []string `json:"path"`    // functions, outermost first
	Blocks  int64    `json:"blocks"`
	Bytes   int64    `json:"bytes"`
}

// key tells takings apart.
func (t *Taken) key() string { return t.Tier + " " + t.Purpose + " " + strings.Join(t.Path, ">") }

// ledger adds up what each path took.
type ledger map[string]*Taken

func (l ledger) add(t Taken) {
	if old := l[t.key()]; old != nil {
		old.Blocks += t.Blocks
		old.Bytes += t.Bytes
		return
	}
	l[t.key()] = &t
}

// since returns what was taken since the ledger was before, the most first.
func (l ledger) since(before ledger) (all []Taken) {
	for k, t := range l {
		d := *t
		if b := before[k]; b != nil {
			d.Blocks -= b.Blocks
			d.Bytes -= b.Bytes
		}
		if d.Blocks > 0 {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Taken) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.key(), b.key()))
	})
	return all
}

const (
	module = "github.com/spillway-db/spillway/"
	tool   = module + "cmd/"
)

// path returns the functions of a stack that belong to the library, outermost
// first, without what their names have in common.
func path(pcs []uintptr) (names []string) {
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, tool) {
			break
		}
		if name, ok := strings.CutPrefix(f.Function, module); ok {
			names = append(names, short(name))
		}
		if !more {
			break
		}
	}
	slices.Reverse(names)
	return slices.Compact(names)
}

// short makes temptable.Table.insert of temptable.(*Table).insert, and drops
// what closures add.
func short(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.NewReplacer("(*", "", ")", "").Replace(name)
	if i := strings.Index(name, ".func"); i > 0 {
		name = name[:i]
	}
	return strings.TrimSuffix(name, "-fm")
}

// deep is the length of a path that is shown in full.
const deep = 10

// gist is a path without, if it is long, the functions between those that enter
// and leave a package.
func gist(path []string) (short []string) {
	if len(path) <= deep {
		return path
	}
	for i, f := range path {
		switch {
		case i == 0 || i == len(path)-1 || pkg(path[i-1]) != pkg(f) || pkg(path[i+1]) != pkg(f):
			short = append(short, f)
		case short[len(short)-1] != "…":
			short = append(short, "…")
		}
	}
	return short
}

func pkg(function string) string {
	name, _, _ := strings.Cut(function, ".")
	return name
}

// oneLine writes a path in width characters: where packages call each other, as
// far as the allocator; what is left out is in the middle.
func oneLine(path []string, width int) string {
	var short []string
	for i, f := range path {
		enters := i == 0 || pkg(path[i-1]) != pkg(f)
		if enters || i == len(path)-1 || pkg(path[i+1]) != pkg(f) {
			short = append(short, f)
		}
		if enters && pkg(f) == "allocator" {
			break
		}
	}
	line := strings.Join(short, " > ")
	for drop := 2; text.StringWidth(line) > width && drop < len(short); drop++ {
		line = short[0] + " > … > " + strings.Join(short[drop:], " > ")
	}
	return line
}
