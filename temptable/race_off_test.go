//go:build !race

package temptable

const raceEnabled = false
