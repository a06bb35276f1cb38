//go:build race

package temptable

const raceEnabled = true
