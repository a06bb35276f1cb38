package temptable

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spillway-db/spillway/internal/sys"
	"github.com/stretchr/testify/require"
)

// identities checks what the documentation of TableStats promises of every
// snapshot.
func identities(s *TableStats) error {
	held, rows := int64(0), int64(0)
	for t := range s.Bytes {
		held += s.Held[t]
		rows += s.Bytes[t].Rows
		b, p := s.Bytes[t], s.Peak[t]
		switch {
		case b.Rows > p.Rows || b.Index > p.Index || b.Cache != 0 || b.Other != 0:
			return fmt.Errorf("tier %d: bytes %+v, peak %+v", t, b, p)
		case (b.Total() == 0) != (s.Held[t] == 0), s.Held[t] < 0, b.Rows < 0, b.Index < 0:
			return fmt.Errorf("tier %d: bytes %+v in %d blocks", t, b, s.Held[t])
		case t > 0 && s.Held[t] > 0 && s.Reached[t].At.IsZero():
			return fmt.Errorf("tier %d: was never reached", t)
		}
	}
	switch {
	case held != s.Created+s.Reused-s.Freed:
		return fmt.Errorf("%d blocks held, %+v", held, s.Counters)
	case s.Rows*16 > rows:
		return fmt.Errorf("%d rows in %d bytes", s.Rows, rows)
	case s.Moved > s.Spilled || s.Spilled > s.Taken():
		return fmt.Errorf("moved, spilled, taken: %+v", s.Counters)
	}
	return nil
}

// engineIdentities checks what the documentation of Stats promises of an
// engine at rest.
func engineIdentities(t *testing.T, eng *Engine) {
	s := eng.Stats()
	require.Equal(t, s.RAM, s.Bytes[RAM].Total()+s.Idle)
	require.Equal(t, s.Cache, s.Bytes[RAM].Cache)
	require.Equal(t, s.Heap, s.Bytes[RAM].Other)
	var tables [3]int64
	var held int64
	all := eng.Tables()
	for i := range all {
		require.NoError(t, identities(&all[i]))
		for tier := range tables {
			tables[tier] += all[i].Bytes[tier].Total()
		}
	}
	for tier := range tables {
		require.Equal(t, tables[tier], s.Tables[tier])
		require.Equal(t, tables[tier], s.Bytes[tier].Rows+s.Bytes[tier].Index)
		require.LessOrEqual(t, s.Tables[tier], s.TablesPeak[tier])
		held += s.Held[tier]
	}
	require.Equal(t, held, s.Count.Created+s.Count.Reused-s.Count.Freed)
	require.Equal(t, len(all), s.Live)
	require.LessOrEqual(t, s.RAM, s.RAMPeak)
	require.LessOrEqual(t, s.RAMPeak, s.RAMLimit)
	require.Equal(t, s.Disk.BytesHeld, s.Tables[Disk])
	// The pool's worker holds a piece while it prepares it.
	require.Eventually(t, func() bool {
		s := eng.Stats()
		return s.Pool.Held == s.Tables[Mmap]
	}, 10*time.Second, time.Millisecond)
}

// Eight tables are written, truncated, dropped and made again on all tiers
// while their statistics are read.
func TestSnapshotsUnderWriters(t *testing.T) {
	eng, owner := openTest(t, Options{MaxRAM: 4 << 20, MaxMmap: 2 << 20})
	rows := randomJoinit(20_000)
	s := unionSchema(t)
	var stop atomic.Bool
	var writers sync.WaitGroup
	for g := range 8 {
		writers.Go(func() { churn(t, owner, s, rows, uint64(g), &stop) })
	}
	until := time.Now().Add(1500 * time.Millisecond)
	snapshots := 0
	for time.Now().Before(until) {
		for _, st := range eng.Tables() {
			if !st.dropped() {
				require.NoError(t, identities(&st))
			}
			snapshots++
		}
		all := eng.Stats()
		require.Equal(t, all.Held[0]+all.Held[1]+all.Held[2], all.Count.Created+all.Count.Reused-all.Count.Freed)
		eng.Owners()
	}
	stop.Store(true)
	writers.Wait()
	engineIdentities(t, eng)
	require.Positive(t, snapshots)
}

// dropped says that a table was dropped while Tables looked at it.
func (s *TableStats) dropped() bool { return s.Held == [3]int64{} && s.Rows != 0 }

func churn(t *testing.T, owner *Owner, s *Schema, rows *Batch, seed uint64, stop *atomic.Bool) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	var part Batch
	for !stop.Load() {
		tab, err := owner.Create(context.Background(), s)
		if err != nil {
			t.Error(err)
			return
		}
		for range rnd.IntN(40) {
			at := rnd.IntN(rows.N - 500)
			window(rows, at, at+500, &part)
			if _, err := tab.InsertBatch(context.Background(), &part, nil); err != nil {
				t.Error(err)
				return
			}
			if rnd.IntN(10) == 0 {
				if err := tab.Truncate(); err != nil {
					t.Error(err)
				}
			}
		}
		if err := tab.Drop(); err != nil {
			t.Error(err)
		}
	}
}

// Every counter of a table against what was done to it.
func TestTableCounters(t *testing.T) {
	fs := sys.NewFaulty(sys.Default())
	eng, err := Open(Options{MaxRAM: 1 << 20, MaxMmap: 1 << 20, Dir: t.TempDir(), fs: fs})
	require.NoError(t, err)
	defer func() { require.NoError(t, eng.Close()) }()
	session, err := eng.NewOwner("session 42", Limits{})
	require.NoError(t, err)
	query, err := session.NewOwner("query 1", Limits{})
	require.NoError(t, err)
	before := time.Now()
	tab := createTest(t, query, unionSchema(t), Named("result"))

	st := tab.Stats()
	require.Equal(t, "result", st.Name)
	require.Equal(t, "session 42/query 1", st.Owner)
	require.WithinRange(t, st.Since, before, time.Now())
	require.Zero(t, st.Taken())
	require.Empty(t, st.WhySpilled())

	rows := randomJoinit(40_000)
	require.Equal(t, rows.N, insertAll(t, tab, rows))
	require.Zero(t, insertAll(t, tab, rows))
	st = tab.Stats()
	require.EqualValues(t, rows.N, st.Rows)
	require.EqualValues(t, rows.N, st.Inserted, "duplicates were never added")
	require.NoError(t, identities(&st))
	require.Equal(t, Disk, st.Lowest())
	require.Positive(t, st.Held[Mmap])
	require.Zero(t, st.HitTable+st.HitOwner)
	require.Positive(t, st.HitEngine)
	require.Positive(t, st.HitMmap)
	require.Contains(t, st.WhySpilled(), "RAM limit reached: engine has ")
	require.Contains(t, st.Reached[Disk].Reason, "mmap limit reached: engine has 1.0 MiB in use of 1.0 MiB in mmap, and was asked for 16.0 KiB")
	require.WithinRange(t, st.Reached[Mmap].At, st.Since, time.Now())
	require.Less(t, st.BlocksPerRow(), 1.0/64)

	require.NoError(t, tab.Truncate())
	again := tab.Stats()
	require.Zero(t, again.Rows)
	require.EqualValues(t, rows.N, again.Inserted)
	require.Equal(t, st.Taken(), again.Taken(), "truncate takes nothing")
	require.Equal(t, rows.N, insertAll(t, tab, rows))
	again = tab.Stats()
	require.Positive(t, again.Refilled, "its own blocks served again")
	require.EqualValues(t, 2*rows.N, again.Inserted)

	engineIdentities(t, eng)
	s := eng.Stats()
	require.EqualValues(t, 1, s.TablesCreated)
	require.EqualValues(t, 1, s.ReachedMmap)
	require.EqualValues(t, 1, s.ReachedDisk)
	calls := fs.Calls()
	for op, n := range calls {
		require.Equal(t, n, s.Calls[sys.Op(op).String()], sys.Op(op))
	}
	require.Equal(t, calls[sys.OpOpen], s.Pool.FilesCreated+s.Disk.FilesCreated)
	require.Equal(t, calls[sys.OpMap], s.Pool.MapCalls)
	files, _ := fs.Live()
	require.Equal(t, files, s.Pool.Files+s.Disk.Files)
	owners := eng.Owners()
	require.Len(t, owners, 2)
	require.Equal(t, "session 42", owners[0].Path)
	require.Equal(t, again.Bytes[Disk].Total(), owners[0].Bytes[Disk], "with the owners below it")
	require.Equal(t, 1, owners[1].Tables)

	taken := again.Counters
	require.NoError(t, tab.Drop())
	require.NoError(t, query.Close())
	require.NoError(t, session.Close())
	s = eng.Stats()
	require.Equal(t, taken.Taken(), s.Count.Taken(), "what is gone is counted")
	require.Equal(t, s.Count.Taken(), s.Count.Freed)
	require.Equal(t, taken.HitEngine, s.Count.HitEngine)
	require.EqualValues(t, 1, s.ReachedDisk)
	require.Empty(t, eng.Tables())
	require.Empty(t, eng.Owners())
	require.Zero(t, s.Bytes[Mmap].Total()+s.Bytes[Disk].Total())
}

// Created blocks are those that memory was got for.
func TestCreatedAndReused(t *testing.T) {
	eng, owner := openTest(t, Options{MaxRAM: 16 << 20, MaxMmap: Disabled, MaxDisk: Disabled})
	s := unionSchema(t)
	life := func() Counters {
		before := eng.Stats().Count
		createInsertDrop(t, owner, s)
		after := eng.Stats().Count
		return Counters{Created: after.Created - before.Created, Reused: after.Reused - before.Reused, Freed: after.Freed - before.Freed}
	}
	require.Equal(t, Counters{Created: 2, Freed: 2}, life(), "one block of rows, one of the index")
	for range 100 {
		require.Equal(t, Counters{Reused: 2, Freed: 2}, life())
	}
}

// Each level that refuses has a counter of its own, and is named.
func TestHits(t *testing.T) {
	rows := randomJoinit(4000)
	for _, tc := range []struct {
		name         string
		owner, table Limits
		want         func(*Counters) int64
		reason       string
	}{
		{"table", Limits{}, Limits{RAM: 64 << 10}, func(c *Counters) int64 { return c.HitTable }, "table limit reached: result has 6"},
		{"owner", Limits{RAM: 64 << 10}, Limits{}, func(c *Counters) int64 { return c.HitOwner }, "owner limit reached: small has 6"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eng, _ := openTest(t, Options{MaxRAM: 16 << 20})
			owner, err := eng.NewOwner("small", tc.owner)
			require.NoError(t, err)
			tab := createTest(t, owner, unionSchema(t), Named("result"), Limited(tc.table))
			insertAll(t, tab, rows)
			st := tab.Stats()
			require.Positive(t, tc.want(&st.Counters))
			require.Equal(t, tc.want(&st.Counters), st.HitTable+st.HitOwner+st.HitEngine, "nobody else refused")
			require.Contains(t, st.WhySpilled(), tc.reason)
			engineIdentities(t, eng)
		})
	}
}

func TestIndexStats(t *testing.T) {
	_, owner := openTest(t, Options{MaxRAM: 16 << 20})
	tab := createTest(t, owner, unionSchema(t))
	insertAll(t, tab, randomJoinit(10_000))
	all, ok := tab.IndexStats()
	require.True(t, ok)
	require.Len(t, all, 1)
	require.Equal(t, "distinct", all[0].Name)
	require.Equal(t, 10_000, all[0].Entries)
	sum := 0
	for _, n := range all[0].Probes {
		sum += n
	}
	require.Equal(t, 10_000, sum)
	require.Equal(t, tab.Stats().Bytes[RAM].Index, all[0].Bytes)
	require.Greater(t, all[0].Load(), 0.4)

	require.NoError(t, tab.use.enter())
	_, ok = tab.IndexStats()
	require.False(t, ok, "a call is under way")
	tab.end()
}

func TestStatusNames(t *testing.T) {
	eng, owner := openTest(t, Options{MaxRAM: 1 << 20, MaxMmap: Disabled})
	tab := createTest(t, owner, unionSchema(t), Limited(Limits{RAM: 512 << 10}))
	insertAll(t, tab, randomJoinit(20_000))
	s := eng.Stats()
	got := map[string]int64{}
	for _, v := range s.Status() {
		require.NotEmpty(t, v.Note)
		got[v.Name] = v.Value
	}
	require.Equal(t, map[string]int64{"Created_tmp_tables": 1, "Created_tmp_disk_tables": 1, "Created_tmp_mmap_tables": 0,
		"Created_tmp_files": 1, "TempTable_count_hit_max_ram": s.Count.HitEngine, "Count_hit_tmp_table_size": s.Count.HitTable,
		"physical_ram": s.RAM, "physical_disk": s.Disk.Bytes}, got)
	require.Positive(t, s.Count.HitTable)
}

// A failing system call leaves the counters right.
func TestCountersAfterFailures(t *testing.T) {
	fs := sys.NewFaulty(sys.Default())
	eng, owner := openTest(t, Options{MaxRAM: 256 << 10, MaxMmap: 1 << 20, fs: fs})
	rows := randomJoinit(6000)
	fs.FailAll(sys.OpAllocate, syscall.ENOSPC)
	tab := createTest(t, owner, unionSchema(t))
	_, err := tab.InsertBatch(context.Background(), rows, nil)
	require.ErrorIs(t, err, syscall.ENOSPC)
	st := tab.Stats()
	require.NoError(t, identities(&st))
	require.Positive(t, st.HitMmap)
	require.Positive(t, st.HitDisk)
	require.Zero(t, st.Held[Mmap]+st.Held[Disk])
	engineIdentities(t, eng)
}

// The engine links neither the profile writer nor the HTTP server.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Skip("go list:", err)
	}
	for _, dep := range strings.Fields(string(out)) {
		ok := strings.HasPrefix(dep, "github.com/spillway-db/spillway/") || strings.HasPrefix(dep, "golang.org/x/sys/") ||
			dep == "github.com/dgryski/go-farm"
		require.True(t, ok, dep)
	}
}

// Reading statistics of a busy engine does not need its tables.
func TestStatsAllocateLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	_, owner := openTest(t, Options{MaxRAM: 16 << 20})
	tab := createTest(t, owner, unionSchema(t))
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { tab.Stats() }), 1.0)
}

// BenchmarkStats: what a snapshot costs, and what being read costs a writer.
func BenchmarkStats(b *testing.B) {
	eng, owner := openTest(b, Options{MaxRAM: 64 << 20})
	for range 100 {
		insertAll(b, createTest(b, owner, unionSchema(b)), randomJoinit(100))
	}
	tab := createTest(b, owner, unionSchema(b))
	b.Run("op=table", func(b *testing.B) {
		for b.Loop() {
			tab.Stats()
		}
	})
	b.Run("op=engine/tables=101", func(b *testing.B) {
		for b.Loop() {
			eng.Stats()
		}
	})
}

// BenchmarkObserved is the joinit union without and with everything that looks
// at it.
func BenchmarkObserved(b *testing.B) {
	left := unionBatch(b)
	right := shuffled(left)
	for _, m := range benchModes {
		for _, how := range []struct {
			name string
			set  func(*Options)
		}{
			{"nothing", func(*Options) {}},
			{"events", func(o *Options) { o.Events = AllEvents(func(Event) {}) }},
			{"labels", func(o *Options) { o.ProfileLabels = true }},
			{"stacks-512KiB", func(o *Options) { o.ProfileRate = 512 << 10 }},
			{"stacks-exact", func(o *Options) { o.ProfileRate = 1 }},
		} {
			b.Run(fmt.Sprintf("mode=%s/watch=%s", m.name, how.name), func(b *testing.B) {
				o := m.o
				how.set(&o)
				benchUnion(b, o, left, right, insertAll)
			})
		}
	}
}
