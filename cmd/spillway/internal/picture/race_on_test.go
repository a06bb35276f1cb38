//go:build race

package picture

// raceEnabled says that everything takes many times as long.
const raceEnabled = true
