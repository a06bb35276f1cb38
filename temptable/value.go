package temptable

import (
	"math"
	"time"
)

// maxTime is the largest TIME, 838:59:59.999999, in microseconds
// (https://dev.mysql.com/doc/refman/8.0/en/time.html).
const maxTime = (838*3600+59*60+59)*1_000_000 + 999_999

// PackDatetime packs a date and time as MySQL does in memory:
// ((year*13+month)*32+day), 17 bits of h:m:s, 24 bits of microseconds. The
// order of the packed integers is the order of time; zero months and days are
// allowed. It does not check its arguments: the setter does.
func PackDatetime(year, month, day, hour, minute, second, micro int) int64 {
	date := int64(year*13+month)<<5 | int64(day)
	clock := int64(hour)<<12 | int64(minute)<<6 | int64(second)
	return (date<<17|clock)<<24 | int64(micro)
}

// PackDate is PackDatetime at midnight.
func PackDate(year, month, day int) int64 { return PackDatetime(year, month, day, 0, 0, 0, 0) }

// UnpackDatetime undoes PackDatetime.
func UnpackDatetime(v int64) (year, month, day, hour, minute, second, micro int) {
	micro = int(v & (1<<24 - 1))
	clock := v >> 24 & (1<<17 - 1)
	date := v >> 41
	months := date >> 5
	return int(months / 13), int(months % 13), int(date & 31),
		int(clock >> 12), int(clock >> 6 & 63), int(clock & 63), micro
}

// civil packs microseconds since 1970 as a UTC date and time; 0 is MySQL's zero
// timestamp, and packs as the zero date.
func civil(micros int64) int64 {
	if micros == 0 {
		return 0
	}
	t := time.UnixMicro(micros).UTC()
	return PackDatetime(t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond()/1000)
}

// stored turns the integer form of a value into what the row holds. It reports
// false for what the column cannot hold exactly.
func (c *column) stored(v int64) (int64, bool) {
	switch c.kind {
	case kindInt:
		return v, v >= c.min && v <= c.max
	case kindUint:
		return v, uint64(v) <= uint64(c.max)
	case kindTime:
		q := divFSP(v, c.fsp)
		return q, v >= -maxTime && v <= maxTime && q*unitFSP[c.fsp] == v
	case kindTimestamp:
		q := divFSP(v, c.fsp)
		return q, v >= 0 && v < 1e6<<32 && q*unitFSP[c.fsp] == v
	case kindYear:
		return max(v-1900, 0), v == 0 || v > 1900 && v <= 2155
	case kindDate:
		return v >> 41, v == v>>41<<41 && validDatetime(v)
	case kindDatetime:
		return c.storedDatetime(v)
	}
	return 0, false
}

// loaded undoes stored.
func (c *column) loaded(v int64) int64 {
	switch c.kind {
	case kindTime, kindTimestamp:
		return v * unitFSP[c.fsp]
	case kindYear:
		if v == 0 {
			return 0
		}
		return v + 1900
	case kindDate:
		return v << 41
	case kindDatetime:
		k := fractionBits[c.fsp]
		return v>>k<<24 | (v&(1<<k-1))*unitFSP[c.fsp]
	}
	return v
}

// unitFSP is the number of microseconds of the last of fsp fractional digits.
var unitFSP = [8]int64{1_000_000, 100_000, 10_000, 1_000, 100, 10, 1, 1}

// fractionBits is the room for fsp fractional digits in a stored DATETIME.
var fractionBits = [8]uint8{0, 4, 7, 10, 14, 17, 20, 20}

// divFSP divides by unitFSP[fsp]; the constants spare the division.
func divFSP(v int64, fsp uint8) int64 {
	switch fsp {
	case 0:
		return v / 1_000_000
	case 6:
		return v
	case 1:
		return v / 100_000
	case 2:
		return v / 10_000
	case 3:
		return v / 1_000
	case 4:
		return v / 100
	}
	return v / 10
}

func (c *column) storedDatetime(v int64) (int64, bool) {
	micro := v & (1<<24 - 1)
	q := divFSP(micro, c.fsp)
	return v>>24<<fractionBits[c.fsp] | q, q*unitFSP[c.fsp] == micro && validDatetime(v)
}

// validDatetime checks each part against its largest value. Days that a month
// does not have pass, as under MySQL's ALLOW_INVALID_DATES.
func validDatetime(v int64) bool {
	if v < 0 {
		return false
	}
	year, _, _, hour, minute, second, micro := UnpackDatetime(v)
	return year <= 9999 && hour < 24 && minute < 60 && second < 60 && micro < 1_000_000
}

// storedFloat turns a float into its bits: of a float32, rounded to nearest,
// for FLOAT. A finite value that FLOAT could hold only as infinity is refused.
func (c *column) storedFloat(v float64) (int64, bool) {
	if c.kind == kindDouble {
		return int64(math.Float64bits(v)), true
	}
	f := float32(v)
	ok := !math.IsInf(float64(f), 0) || math.IsInf(v, 0)
	return int64(math.Float32bits(f)), ok
}

// loadedFloat undoes storedFloat.
func (c *column) loadedFloat(v int64) float64 {
	if c.kind == kindDouble {
		return math.Float64frombits(uint64(v))
	}
	return float64(math.Float32frombits(uint32(v)))
}
