package temptable

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/spillway-db/spillway/allocator"
	"github.com/spillway-db/spillway/internal/sys"
	"github.com/stretchr/testify/require"
)

// eventLog keeps events.
type eventLog struct {
	mu  sync.Mutex
	all []Event
}

func (l *eventLog) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
}

// take waits for all events and returns those of a kind.
func (l *eventLog) take(eng *Engine, k EventKind) (out []Event) {
	eng.events.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all {
		if e.Kind == k {
			out = append(out, e)
		}
	}
	return out
}

// One table goes through all tiers: what is told agrees with the statistics
// and with the system calls.
func TestEventsOfASpill(t *testing.T) {
	fs := sys.NewFaulty(sys.Default())
	var log eventLog
	eng, owner := openTest(t, Options{MaxRAM: 1 << 20, MaxMmap: 1 << 20, Events: AllEvents(log.add), fs: fs})
	tab := createTest(t, owner, unionSchema(t), Named("result"))
	insertAll(t, tab, randomJoinit(40_000))
	st := tab.Stats()

	change := log.take(eng, TierChange)
	require.Len(t, change, 2)
	require.Equal(t, []Tier{RAM, Mmap, Mmap, Disk}, []Tier{change[0].From, change[0].Tier, change[1].From, change[1].Tier})
	for _, e := range change {
		require.Equal(t, "result", e.Table)
		require.Equal(t, "test", e.Owner)
		require.Equal(t, st.Reached[e.Tier].Reason, e.Reason)
		require.Contains(t, e.String(), "table result of test goes on in ")
	}

	files := log.take(eng, FileCreated)
	require.EqualValues(t, fs.Calls()[sys.OpOpen], len(files))
	require.Equal(t, Mmap, files[0].Tier)
	require.NotEmpty(t, files[0].Reason)

	limits := log.take(eng, Limit)
	require.NotEmpty(t, limits)
	require.ErrorIs(t, limits[0].Err, ErrRAMLimit)
	var mmap bool
	for _, e := range limits {
		mmap = mmap || errors.Is(e.Err, allocator.ErrMmapLimit)
	}
	require.True(t, mmap)
	require.LessOrEqual(t, len(limits), 3, "once, until another limit refuses")

	spills := log.take(eng, Spill)
	moved := int64(0)
	for _, e := range spills {
		require.NotEqual(t, RAM, e.Tier)
		require.Positive(t, e.Bytes)
		if e.Moved {
			moved++
		}
	}
	require.Equal(t, st.Moved, moved)
	require.LessOrEqual(t, int64(len(spills)), st.Spilled)
	require.Empty(t, log.take(eng, BlockChurn), "no churn in sane use")
	require.Empty(t, log.take(eng, TableFailed))
}

func TestEventsOfAFailure(t *testing.T) {
	if raceEnabled {
		t.Skip("race builds have no files")
	}
	for _, tc := range []struct {
		name   string
		o      Options
		faults int64
	}{
		{"mmap", Options{MaxRAM: 1 << 20, MaxDisk: Disabled}, 1},
		{"disk", Options{MaxRAM: 1 << 20, MaxMmap: Disabled}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reads := sys.NewFaulty(sys.OS())
			fs := &capture{FS: reads}
			var log eventLog
			tc.o.fs, tc.o.Events = fs, AllEvents(log.add)
			eng, owner := openTest(t, tc.o)
			tab := createTest(t, owner, unionSchema(t), Named("victim"))
			insertAll(t, tab, randomJoinit(30_000))
			reads.FailAll(sys.OpRead, syscall.EIO)
			for _, f := range fs.files {
				require.NoError(t, f.Truncate(0))
			}
			err := readAll(tab)
			require.ErrorIs(t, err, ErrTableFailed)
			_ = readAll(tab)
			failed := log.take(eng, TableFailed)
			require.Len(t, failed, 1, "told once")
			require.ErrorIs(t, failed[0].Err, ErrTableFailed)
			require.Equal(t, "victim", failed[0].Table)
			st := tab.Stats()
			require.ErrorIs(t, st.Failed, ErrTableFailed)
			require.Equal(t, tc.faults, st.Faults)
			require.Equal(t, tc.faults, int64(len(log.take(eng, Fault))))
			require.Equal(t, tc.faults, eng.Stats().Pool.Faults)
		})
	}
}

// A table that takes and returns blocks again and again is told of; one that
// grows is not.
func TestBlockChurn(t *testing.T) {
	var log eventLog
	eng, owner := openTest(t, Options{MaxRAM: 1 << 20, Events: Events{OnBlockChurn: log.add}})
	tab := createTest(t, owner, unionSchema(t), Named("churner"))
	insertAll(t, tab, randomJoinit(100))
	for range 300 {
		mem, err := tab.space.AllocIndex(4096)
		require.NoError(t, err)
		tab.space.FreeIndex(mem)
	}
	churn := log.take(eng, BlockChurn)
	require.Len(t, churn, 3, "at 64, 128 and 256 blocks")
	require.EqualValues(t, 64, churn[0].Blocks)
	require.EqualValues(t, 100, churn[0].Rows)
	require.Equal(t, "churner", churn[0].Table)
	st := tab.Stats()
	require.Greater(t, st.BlocksPerRow(), 3.0)
}

// Callbacks may use the engine and its tables, even the one that they are told
// of.
func TestEventsMayCallBack(t *testing.T) {
	var eng *Engine
	var tab *Table
	var dropped error
	var tables int
	ready := make(chan struct{})
	once := sync.OnceFunc(func() {
		<-ready
		tables = len(eng.Tables())
		dropped = tab.dropWait()
		_, err := eng.NewOwner("made by a callback", Limits{})
		if err != nil {
			t.Error(err)
		}
	})
	eng, owner := openTest(t, Options{MaxRAM: 1 << 20, Events: Events{OnTierChange: func(Event) { once() }}})
	tab = createTest(t, owner, unionSchema(t))
	close(ready)
	rows := randomJoinit(40_000)
	_, err := tab.InsertBatch(context.Background(), rows, nil)
	require.True(t, err == nil || errors.Is(err, ErrClosed) || errors.Is(err, ErrConcurrentUse), err)
	eng.events.flush()
	require.NoError(t, dropped)
	require.Equal(t, 1, tables)
}

// A listener that is slow loses events, and nobody waits for it.
func TestEventsAreBounded(t *testing.T) {
	block := make(chan struct{})
	told := 0
	d := newDispatcher(Events{OnLimit: func(Event) { <-block; told++ }}, nil)
	for range 3 * maxQueue {
		d.send(Event{Kind: Limit})
	}
	require.GreaterOrEqual(t, d.dropped(), int64(maxQueue))
	close(block)
	d.close()
	require.EqualValues(t, 3*maxQueue, int64(told)+d.dropped())
	d.send(Event{Kind: Limit})
	require.EqualValues(t, 3*maxQueue, int64(told)+d.dropped(), "after close nothing is told")
}

func TestNobodyListens(t *testing.T) {
	d := newDispatcher(Events{}, nil)
	require.Nil(t, d.notify())
	require.Nil(t, d.warn(nil))
	d.close()
}

func TestTee(t *testing.T) {
	var got []string
	note := func(s string) func(Event) { return func(Event) { got = append(got, s) } }
	ev := Tee(Events{OnSpill: note("a"), OnFault: note("a"), ChurnLimit: 3}, Events{OnSpill: note("b"), OnLimit: note("b"), ChurnLimit: 2})
	ev.OnSpill(Event{})
	ev.OnFault(Event{})
	ev.OnLimit(Event{})
	require.Equal(t, []string{"a", "b", "a", "b"}, got)
	require.Nil(t, ev.OnTierChange)
	require.Equal(t, 2.0, ev.ChurnLimit)
	require.Equal(t, 2.0, Tee(ev, Events{}).ChurnLimit)
}

func TestLogger(t *testing.T) {
	if raceEnabled {
		t.Skip("race builds have no files")
	}
	var buf bytes.Buffer
	fs := &capture{FS: sys.OS()}
	eng, owner := openTest(t, Options{MaxRAM: 1 << 20, MaxDisk: Disabled, fs: fs,
		Logger: slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelInfo}))})
	tab := createTest(t, owner, unionSchema(t), Named("result"))
	insertAll(t, tab, randomJoinit(30_000))
	for _, f := range fs.files {
		require.NoError(t, f.Truncate(0))
	}
	require.Error(t, readAll(tab))
	eng.events.flush()
	text := buf.String()
	for _, want := range []string{`level=INFO msg="spillway: tier change"`, `level=INFO msg="spillway: file created"`,
		`level=INFO msg="spillway: limit"`, `level=ERROR msg="spillway: fault"`, `level=ERROR msg="spillway: table failed"`,
		"table=result owner=test"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "spillway: spill", "blocks are for debugging")
}

// What OnWarn is told, the logger is told, too.
func TestLoggerWarns(t *testing.T) {
	var buf bytes.Buffer
	var said []string
	d := newDispatcher(Events{}, slog.New(slog.NewTextHandler(&buf, nil)))
	d.warn(func(msg string) { said = append(said, msg) })("the directory lies in RAM")
	d.close()
	require.Equal(t, []string{"the directory lies in RAM"}, said)
	require.Contains(t, buf.String(), `level=WARN msg="spillway: warning" event="the directory lies in RAM"`)
}

// Every kind has a name, a level and a sentence.
func TestEventStrings(t *testing.T) {
	for k := range numEvents {
		e := Event{Kind: k, Table: "t", Owner: "o", Reason: "why", Err: syscall.EIO}
		require.NotEmpty(t, k.String())
		require.NotEmpty(t, e.String())
		require.False(t, strings.Contains(e.String(), "%!"), e.String())
	}
}
