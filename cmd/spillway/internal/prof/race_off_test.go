//go:build !race

package prof

const raceEnabled = false
