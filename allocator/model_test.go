package allocator

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// budgets put an arena of some hundred KiB on every combination of tiers.
var budgets = map[string]struct {
	o Options
	l Limits
}{
	"ram":           {Options{MaxRAM: 8 * mib, MaxMmap: off, MaxDisk: off}, Limits{}},
	"mmap":          {Options{MaxRAM: 8 * mib, MaxMmap: 8 * mib, MaxDisk: off}, Limits{RAM: Disabled}},
	"disk":          {Options{MaxRAM: 64 * kib, MaxMmap: off, MaxDisk: 8 * mib}, Limits{RAM: Disabled}},
	"ram-mmap":      {Options{MaxRAM: 128 * kib, MaxMmap: 8 * mib, MaxDisk: off}, Limits{}},
	"ram-disk":      {Options{MaxRAM: 128 * kib, MaxMmap: off, MaxDisk: 8 * mib}, Limits{}},
	"ram-mmap-disk": {Options{MaxRAM: 192 * kib, MaxMmap: 128 * kib, MaxDisk: 8 * mib}, Limits{}},
	"table-limits":  {Options{MaxRAM: 8 * mib, MaxMmap: 8 * mib, MaxDisk: 8 * mib}, Limits{RAM: 40 * kib, Mmap: 48 * kib}},
}

// arenaModel is an Arena and what it should hold.
type arenaModel struct {
	t     *testing.T
	r     *rand.Rand
	x     *table
	rows  []modelRow
	marks []modelMark
	index [][]byte
	pin   Pin
	moved int
}

type modelRow struct {
	id   RowID
	data []byte
}

type modelMark struct {
	m    Mark
	rows int
}

func (m *arenaModel) step(i int) {
	switch k := m.r.IntN(100); {
	case k < 60:
		m.append(i)
	case k < 85:
		m.read()
	case k < 90:
		m.write()
	case k < 93:
		m.marks = append(m.marks, modelMark{m.x.Arena.Mark(), len(m.rows)})
	case k < 95:
		m.release()
	case k == 95 && m.r.IntN(20) == 0:
		m.x.Arena.Reset()
		m.rows, m.marks = nil, nil
	case k < 98:
		n, err := m.x.Arena.moveDown()
		if err == nil && n > 0 {
			m.moved++
		}
	default:
		m.takeIndex()
	}
}

func (m *arenaModel) append(i int) {
	data := row(i, 16+8*m.r.IntN(m.r.IntN(510)+1))
	id, err := m.x.Arena.Append(data)
	require.NoError(m.t, err)
	if n := len(m.rows); n > 0 {
		require.Greater(m.t, id, m.rows[n-1].id)
	}
	m.rows = append(m.rows, modelRow{id, data})
}

func (m *arenaModel) read() {
	if len(m.rows) == 0 {
		return
	}
	want := m.rows[m.r.IntN(len(m.rows))]
	mem, err := m.x.Arena.Read(want.id, &m.pin)
	require.NoError(m.t, err)
	require.Equal(m.t, want.data, mem[:len(want.data)])
	require.True(m.t, m.x.Arena.Holds(want.id))
	m.pin.Unpin()
}

func (m *arenaModel) write() {
	if len(m.rows) == 0 {
		return
	}
	at := m.r.IntN(len(m.rows))
	w := &m.rows[at]
	mem, err := m.x.Arena.Write(w.id, len(w.data), &m.pin)
	require.NoError(m.t, err)
	w.data[len(w.data)-1]++
	copy(mem, w.data)
	m.pin.Unpin()
}

func (m *arenaModel) release() {
	if len(m.marks) == 0 {
		return
	}
	at := len(m.marks) - 1 - m.r.IntN(min(3, len(m.marks)))
	mark := m.marks[at]
	m.x.Arena.Release(mark.m)
	for _, r := range m.rows[mark.rows:] {
		require.False(m.t, m.x.Arena.Holds(r.id))
	}
	m.rows, m.marks = m.rows[:mark.rows], m.marks[:at+1]
}

// takeIndex competes with the rows.
func (m *arenaModel) takeIndex() {
	if len(m.index) > 3 || m.r.IntN(2) == 0 && len(m.index) > 0 {
		m.x.FreeIndex(m.index[0])
		m.index = m.index[1:]
		return
	}
	mem, err := m.x.AllocIndex(4 * kib << m.r.IntN(4))
	if err != nil {
		var e *LimitError
		require.ErrorAs(m.t, err, &e)
		return
	}
	require.True(m.t, bytes.Equal(mem, make([]byte, len(mem))))
	copy(mem, row(7, len(mem)))
	m.index = append(m.index, mem)
}

// scan reads every page and finds the rows in their order.
func (m *arenaModel) scan() {
	a, at := &m.x.Arena, 0
	for no := 1; no <= a.Blocks(); no++ {
		used := a.Used(no)
		for page := 0; page*DiskPage < used; page++ {
			mem, err := a.ReadPage(no, page, &m.pin)
			require.NoError(m.t, err)
			mem = mem[:min(len(mem), used-page*DiskPage)]
			for off := 0; off < len(mem); {
				n := 8 * (int(mem[off]) | int(mem[off+1])<<8)
				if n == 0 {
					break
				}
				require.Equal(m.t, m.rows[at].id, ID(no, page*DiskPage+off))
				require.True(m.t, bytes.Equal(m.rows[at].data, mem[off:off+n]))
				at, off = at+1, off+n
			}
		}
	}
	m.pin.Unpin()
	require.Len(m.t, m.rows, at)
}

// identities checks the counters against the handles.
func (m *arenaModel) identities() {
	var rows [numTiers]int64
	for _, b := range m.x.Arena.block[1:] {
		rows[b.tier] += int64(b.held)
	}
	st := m.x.Stats(nil)
	for t := range numTiers {
		require.Equal(m.t, rows[t], st.Bytes[t].Rows)
		require.Equal(m.t, m.x.acct.tiers[t].used, st.Bytes[t].Total())
	}
	s := m.x.alloc.Stats()
	require.Equal(m.t, s.RAM, s.Bytes[RAM].Total()+s.Idle)
	require.LessOrEqual(m.t, s.RAMPeak, s.RAMLimit)
	for t := range numTiers {
		require.Equal(m.t, s.Tables[t], s.Bytes[t].Rows+s.Bytes[t].Index)
	}
}

func TestArenaModel(t *testing.T) {
	for name, c := range budgets {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/seed=%d", name, seed), func(t *testing.T) {
				_, x := lone(t, c.o, c.l)
				m := &arenaModel{t: t, r: rand.New(rand.NewPCG(seed, 3)), x: x}
				for i := range 2500 {
					m.step(i)
					if i%500 == 0 {
						m.scan()
						m.identities()
					}
				}
				m.scan()
				m.identities()
				for _, mem := range m.index {
					x.FreeIndex(mem)
				}
				if c.o.MaxMmap > 0 || c.o.MaxDisk > 0 {
					require.True(t, m.moved > 0 || c.l.RAM == Disabled)
				}
			})
		}
	}
}
