// Package input holds the tables that the tool works on: typed columns in
// memory, read from tab-separated text or generated, and the answer that their
// UNION must have.
//
// It promises that a value that was read renders to the text that a server
// exports for it (FLOAT excepted, which is written with all of its digits), and
// that [Expect] shares no code with the engine: it asks a plain Go map. Only the
// keys of collations, which are functions from text to bytes with tests of
// their own, are those of package temptable/collation.
//
// It must never import the engine.
package input
