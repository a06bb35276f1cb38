// Package report holds what a run of `spillway union` found, and writes it as
// text for people, and as JSON, CSV, Markdown and Go's benchmark format for
// programs.
//
// It promises that the JSON of one schema name keeps its meaning: fields are
// added, never changed. It must never measure anything.
package report
