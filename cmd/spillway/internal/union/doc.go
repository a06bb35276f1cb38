// Package union runs the statement `left UNION right` in each mode, measures
// it, and compares the results with the right answer.
//
// A sample is create, insert, scan and drop, from typed columns in memory:
// encoding and hashing are inside, parsing and the checksum outside. Samples of
// the modes alternate, so that a disturbance meets all of them. One engine
// serves all samples of a mode.
//
// It must never hold what a user of the library would miss: a mode is a thin
// adapter, the engine's all in engine.go.
package union
