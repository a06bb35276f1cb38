//go:build !race

package disktable

const raceEnabled = false
