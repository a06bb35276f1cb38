package offheap_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/spillway-db/spillway/temptable"
	"github.com/spillway-db/spillway/temptable/offheap"
	"github.com/stretchr/testify/require"
)

func open(t *testing.T, o temptable.Options) (*temptable.Engine, *temptable.Owner) {
	o.Dir = t.TempDir()
	eng, err := temptable.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, eng.Close()) })
	owner, err := eng.NewOwner("session", temptable.Limits{})
	require.NoError(t, err)
	return eng, owner
}

// fill makes a table of n distinct rows.
func fill(t *testing.T, owner *temptable.Owner, name string, n int) *temptable.Table {
	s, err := temptable.NewSchema([]temptable.Column{{Name: "n", Type: temptable.TypeBigInt},
		{Name: "s", Type: temptable.TypeVarchar, Length: 64}}, temptable.Distinct())
	require.NoError(t, err)
	tab, err := owner.Create(context.Background(), s, temptable.Named(name))
	require.NoError(t, err)
	w := tab.Writer(context.Background())
	for i := range n {
		w.SetInt(0, int64(i))
		w.SetString(1, "a string of some thirty bytes..")
		_, added, err := w.Insert()
		require.True(t, added && err == nil)
	}
	return tab
}

func parse(t *testing.T, eng *temptable.Engine) *profile.Profile {
	var buf bytes.Buffer
	require.NoError(t, offheap.Write(&buf, eng))
	p, err := profile.Parse(&buf)
	require.NoError(t, err)
	require.NoError(t, p.CheckValid())
	return p
}

// sum adds the i-th value of the samples with the given labels.
func sum(p *profile.Profile, i int, labels ...string) (n int64) {
next:
	for _, s := range p.Sample {
		for k := 0; k < len(labels); k += 2 {
			if !s.HasLabel(labels[k], labels[k+1]) {
				continue next
			}
		}
		n += s.Value[i]
	}
	return n
}

const (
	allocObjects = iota
	allocSpace
	inuseObjects
	inuseSpace
)

var tierNames = []string{"ram", "mmap", "disk"}

// An exact profile sums to the statistics: in all, by tier and purpose, and by
// table.
func TestSumsToStats(t *testing.T) {
	eng, owner := open(t, temptable.Options{MaxRAM: 1 << 20, MaxMmap: 1 << 20, ProfileRate: 1})
	gone := fill(t, owner, "gone", 1000)
	tables := []*temptable.Table{fill(t, owner, "big", 40_000), fill(t, owner, "small", 10)}
	require.NoError(t, gone.Drop())
	p, s := parse(t, eng), eng.Stats()

	require.Equal(t, s.RAM+s.Pool.Used+s.Disk.Bytes, sum(p, inuseSpace))
	require.Equal(t, s.RAM, sum(p, inuseSpace, "tier", "ram"))
	require.Equal(t, s.Pool.Used, sum(p, inuseSpace, "tier", "mmap"))
	require.Equal(t, s.Disk.Bytes, sum(p, inuseSpace, "tier", "disk"))
	for i, tier := range tierNames {
		require.Equal(t, s.Bytes[i].Rows, sum(p, inuseSpace, "tier", tier, "purpose", "rows"))
		require.Equal(t, s.Bytes[i].Index, sum(p, inuseSpace, "tier", tier, "purpose", "index"))
		require.Equal(t, s.Held[i], sum(p, inuseObjects, "tier", tier))
	}
	require.Positive(t, s.Bytes[temptable.Disk].Rows)
	require.Equal(t, s.Count.Taken(), sum(p, allocObjects))
	for _, tab := range tables {
		st := tab.Stats()
		require.Equal(t, st.Total(), sum(p, inuseSpace, "table", st.Name, "owner", "session"))
		require.Equal(t, st.Taken(), sum(p, allocObjects, "table", st.Name))
	}
	require.Zero(t, sum(p, inuseSpace, "table", "gone"))
	require.Positive(t, sum(p, allocSpace, "table", "gone"))
}

// The stacks lead to who inserted.
func TestStacks(t *testing.T) {
	eng, owner := open(t, temptable.Options{MaxRAM: 4 << 20, ProfileRate: 1})
	fill(t, owner, "big", 5000)
	found := false
	for _, s := range parse(t, eng).Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		stack := strings.Join(names, " ")
		if s.HasLabel("purpose", "rows") {
			found = true
			require.Contains(t, stack, "allocator.(*Arena)")
			require.Contains(t, stack, "temptable.(*Writer).Insert")
			require.Contains(t, stack, "offheap_test.fill")
			require.NotContains(t, stack, "recorder")
		}
	}
	require.True(t, found)
}

// What was taken before the recording began is in the profile, without a
// stack.
func TestStartedLate(t *testing.T) {
	eng, owner := open(t, temptable.Options{MaxRAM: 4 << 20})
	var buf bytes.Buffer
	require.ErrorIs(t, offheap.Write(&buf, eng), offheap.ErrNotRecording)
	require.Zero(t, buf.Len())
	old := fill(t, owner, "old", 5000)
	eng.SetProfileRate(1)
	fill(t, owner, "new", 5000)
	p, s := parse(t, eng), eng.Stats()
	require.Equal(t, s.RAM+s.Pool.Used+s.Disk.Bytes, sum(p, inuseSpace))
	require.Zero(t, sum(p, inuseSpace, "table", "old"))
	require.Positive(t, sum(p, inuseSpace, "table", "new"))
	require.NoError(t, old.Drop(), "blocks that are not known may be given back")
	p, s = parse(t, eng), eng.Stats()
	require.Equal(t, s.RAM+s.Pool.Used+s.Disk.Bytes, sum(p, inuseSpace))
	eng.SetProfileRate(0)
	_, err := offheap.Profile(eng)
	require.ErrorIs(t, err, offheap.ErrNotRecording)
}

// A sampled profile is right on average: within a third, for what some
// hundred samples were taken of.
func TestSampled(t *testing.T) {
	eng, owner := open(t, temptable.Options{MaxRAM: 64 << 20, ProfileRate: 64 << 10})
	for range 20 {
		fill(t, owner, "table", 5000)
	}
	p, s := parse(t, eng), eng.Stats()
	require.EqualValues(t, 64<<10, p.Period)
	require.InEpsilon(t, s.Tables[0], sum(p, inuseSpace, "table", "table"), 0.34)
}

// go tool pprof opens it and attributes bytes to functions and labels.
func TestPprofOpensIt(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	eng, owner := open(t, temptable.Options{MaxRAM: 4 << 20, ProfileRate: 1})
	fill(t, owner, "result", 20_000)
	file := filepath.Join(t.TempDir(), "offheap.pb.gz")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, offheap.Write(f, eng))
	require.NoError(t, f.Close())
	for _, tc := range []struct{ args, want string }{
		{"-top -cum", "offheap_test.fill"},
		{"-top -tagfocus=purpose=rows", "allocator.(*Arena)"},
		{"-top -sample_index=alloc_objects", "Type: alloc_objects"},
		{"-tags", "result"},
		{"-top", "(idle memory)"},
	} {
		args := append(append([]string{"tool", "pprof"}, strings.Fields(tc.args)...), file)
		out, err := exec.Command("go", args...).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), tc.want, tc.args)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriterFails(t *testing.T) {
	eng, _ := open(t, temptable.Options{MaxRAM: 4 << 20, ProfileRate: 1})
	require.ErrorIs(t, offheap.Write(broken{}, eng), os.ErrClosed)
}
