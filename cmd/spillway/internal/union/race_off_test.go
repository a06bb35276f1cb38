//go:build !race

package union

const raceEnabled = false
