package input

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxTime is 838:59:59.999999 in microseconds.
const maxTime = ((838*60+59)*60+60)*1e6 - 1

// parseTemporal reads a value of a type that has to do with time:
//
//	DATE       yyyy-mm-dd
//	TIME       [-]h:mm:ss[.ffffff], at most 838:59:59.999999 either way
//	DATETIME   yyyy-mm-dd hh:mm:ss[.ffffff]
//	TIMESTAMP  the same, in UTC, from 1970-01-01 00:00:01 to 2106-02-07 06:28:15
//
// Zero months, days and dates are allowed.
func (c *Column) parseTemporal(s string) (x int64, err error) {
	ok := false
	switch c.Type {
	case Time:
		return c.parseTime(s)
	case Date:
		x, ok = packedDate(s)
	default:
		x, ok = packedDatetime(s, c.FSP)
	}
	if !ok {
		return 0, fmt.Errorf("%q is not a %s", s, c)
	}
	if c.Type == Timestamp {
		return sinceEpoch(s, x)
	}
	return x, nil
}

func (c *Column) appendTemporal(dst []byte, x int64) []byte {
	switch c.Type {
	case Time:
		return c.appendTime(dst, x)
	case Date:
		return appendDate(dst, x)
	case Timestamp:
		x = fromEpoch(x)
	}
	dst = append(appendDate(dst, x), ' ')
	clock := x >> 24 & (1<<17 - 1)
	return c.appendClock(dst, clock>>12, clock>>6&63, clock&63, x&(1<<24-1))
}

// pack is the form in which the engine takes dates and times: its order is that
// of time.
func pack(year, month, day, clock, micro int64) int64 {
	return ((year*13+month)<<5|day)<<41 | clock<<24 | micro
}

func packedDate(s string) (int64, bool) {
	parts := strings.Split(s, "-")
	if len(parts) != 3 || len(parts[0]) != 4 {
		return 0, false
	}
	year, ok1 := decimal(parts[0], 4)
	month, ok2 := decimal(parts[1], 2)
	day, ok3 := decimal(parts[2], 2)
	return pack(year, month, day, 0, 0), ok1 && ok2 && ok3 && month <= 12 && day <= 31
}

func packedDatetime(s string, fsp int) (int64, bool) {
	date, clock, _ := strings.Cut(s, " ")
	d, ok1 := packedDate(date)
	us, ok2 := microseconds(clock, fsp)
	sec := us / 1e6
	hms := sec/3600<<12 | sec/60%60<<6 | sec%60
	return d | hms<<24 | us%1e6, ok1 && ok2 && sec < 24*3600
}

func appendDate(dst []byte, x int64) []byte {
	date := x >> 41
	dst = append(appendPadded(dst, date>>5/13, 4), '-')
	dst = append(appendPadded(dst, date>>5%13, 2), '-')
	return appendPadded(dst, date&31, 2)
}

const epochFormat = "2006-01-02 15:04:05.999999"

// sinceEpoch turns a packed date and time, whose text is s, into microseconds
// since 1970 in UTC; the zero date is 0.
func sinceEpoch(s string, packed int64) (int64, error) {
	if packed == 0 {
		return 0, nil
	}
	t, err := time.Parse(epochFormat, s)
	us := t.UnixMicro()
	if err != nil || us <= 0 || us >= 1e6<<32 {
		return 0, fmt.Errorf("%s is no moment of a TIMESTAMP", s)
	}
	return us, nil
}

func fromEpoch(us int64) int64 {
	if us == 0 {
		return 0
	}
	packed, _ := packedDatetime(time.UnixMicro(us).UTC().Format(epochFormat), maxFSP)
	return packed
}

func (c *Column) parseTime(s string) (int64, error) {
	digits := strings.TrimPrefix(s, "-")
	x, ok := microseconds(digits, c.FSP)
	if !ok {
		return 0, fmt.Errorf("%q is not a %s", s, c)
	}
	if x > maxTime {
		return 0, fmt.Errorf("%s is beyond 838:59:59.999999", s)
	}
	if len(digits) < len(s) {
		x = -x
	}
	return x, nil
}

func (c *Column) appendTime(dst []byte, x int64) []byte {
	if x < 0 {
		dst, x = append(dst, '-'), -x
	}
	sec := x / 1e6
	return c.appendClock(dst, sec/3600, sec/60%60, sec%60, x%1e6)
}

func (c *Column) appendClock(dst []byte, h, m, s, micro int64) []byte {
	dst = append(appendPadded(dst, h, 2), ':')
	dst = append(appendPadded(dst, m, 2), ':')
	dst = appendPadded(dst, s, 2)
	if c.FSP > 0 {
		dst = appendPadded(append(dst, '.'), micro, 6)
		dst = dst[:len(dst)-6+c.FSP]
	}
	return dst
}

// microseconds reads h:mm:ss[.f].
func microseconds(s string, fsp int) (int64, bool) {
	s, frac, point := strings.Cut(s, ".")
	hms := strings.Split(s, ":")
	if len(hms) != 3 || len(frac) > fsp || point && frac == "" {
		return 0, false
	}
	h, ok1 := decimal(hms[0], 4)
	m, ok2 := decimal(hms[1], 2)
	sec, ok3 := decimal(hms[2], 2)
	f, ok4 := decimal((frac + "000000")[:6], 6)
	if !ok1 || !ok2 || !ok3 || !ok4 || m > 59 || sec > 59 {
		return 0, false
	}
	return ((h*60+m)*60+sec)*1e6 + f, true
}

// decimal reads 1 to most digits.
func decimal(s string, most int) (x int64, ok bool) {
	for _, d := range []byte(s) {
		if d < '0' || d > '9' {
			return 0, false
		}
		x = x*10 + int64(d-'0')
	}
	return x, len(s) > 0 && len(s) <= most
}

// appendPadded appends x with at least width digits.
func appendPadded(dst []byte, x int64, width int) []byte {
	for limit := int64(10); width > 1; width, limit = width-1, limit*10 {
		if x < limit {
			dst = append(dst, '0')
		}
	}
	return strconv.AppendInt(dst, x, 10)
}
