// Package picture draws what a run of `spillway union` found: time by mode,
// memory in use while rows are inserted, bytes written to files, and the speed
// by the size of the table; as SVG, PNG, or one page of HTML.
//
// It promises pictures that can be read in black and white (lines differ by
// dashes and marks, bars by their names), and files that need no other file and
// no network. It must never measure anything.
package picture
