//go:build race

package prof

// raceEnabled says that everything takes many times as long.
const raceEnabled = true
