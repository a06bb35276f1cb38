// Package cli is the command line: flags, progress, profiles, exit codes.
//
// It promises that the report goes to standard output and everything else to
// standard error, and that an interrupt ends a run cleanly.
package cli
