// Package progress shows on a terminal how far long work is: a bar with its
// rate and the time left.
//
// It promises that nothing appears for work of less than a second or where no
// terminal is, and that telling it costs an atomic addition, so that what is
// measured may tell. It must never write to standard output.
package progress
