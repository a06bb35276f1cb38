package progress

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Units of work.
const (
	Rows  = "rows"
	Bytes = "B"
	Time  = "ms" // of work that takes as long as it is told to
)

const (
	patience = 700 * time.Millisecond // before a bar appears
	refresh  = 150 * time.Millisecond
)

// Meter says notes, and shows bars. A nil Meter is silent. It is safe for
// concurrent use.
type Meter struct {
	w        io.Writer
	bars     bool
	patience time.Duration
}

// New returns a Meter that writes notes to w, and bars if w is a terminal.
func New(w io.Writer, terminal bool) *Meter {
	return &Meter{w: w, bars: terminal, patience: patience}
}

// Note says something that the user should know now.
func (m *Meter) Note(format string, args ...any) {
	if m != nil {
		fmt.Fprintf(m.w, format+"\n", args...)
	}
}

// Task is work under way. A nil Task does nothing.
type Task struct {
	done atomic.Int64
	stop chan struct{}
	wait sync.WaitGroup
}

// Start begins work of total units; End must follow. 0: nobody knows how many.
func (m *Meter) Start(what, unit string, total int64) *Task {
	if m == nil || !m.bars {
		return nil
	}
	t := &Task{stop: make(chan struct{})}
	t.wait.Go(func() { m.show(t, what, unit, total) })
	return t
}

// Add says that n more units are done.
func (t *Task) Add(n int64) {
	if t != nil {
		t.done.Add(n)
	}
}

// End ends the work and removes the bar.
func (t *Task) End() {
	if t == nil {
		return
	}
	close(t.stop)
	t.wait.Wait()
}

// show draws the bar until the task ends, if it takes long enough.
func (m *Meter) show(t *Task, what, unit string, total int64) {
	if total <= 0 {
		total = -1
	}
	bar := newBar(m.w, what, unit, total) // its clock runs
	if t.ends(m.patience) {
		return
	}
	for {
		_ = bar.Set64(t.done.Load())
		if t.ends(refresh) {
			_ = bar.Clear()
			return
		}
	}
}

// ends waits for the end of the task, no longer than d.
func (t *Task) ends(d time.Duration) bool {
	select {
	case <-t.stop:
		return true
	case <-time.After(d):
		return false
	}
}

func newBar(w io.Writer, what, unit string, total int64) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(24),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionClearOnFinish(),
	}
	switch unit {
	case Bytes:
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true),
			progressbar.OptionShowCount(), progressbar.OptionUseIECUnits(true))
	case Rows:
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit), progressbar.OptionShowCount())
	}
	return progressbar.NewOptions64(total, options...)
}

// Reader tells t of the bytes that are read from r.
func Reader(r io.Reader, t *Task) io.Reader { return counted{r, t} }

type counted struct {
	r io.Reader
	t *Task
}

// Read implements io.Reader.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.t.Add(int64(n))
	return n, err
}
