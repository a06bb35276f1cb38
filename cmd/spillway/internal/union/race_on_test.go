//go:build race

package union

// raceEnabled says that everything takes many times as long.
const raceEnabled = true
