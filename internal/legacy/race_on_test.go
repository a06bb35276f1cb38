//go:build race

package legacy

// raceEnabled says that everything takes many times as long.
const raceEnabled = true
