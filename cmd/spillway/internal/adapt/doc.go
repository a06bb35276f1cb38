// Package adapt stands between the tool's tables and the library's batches. The
// two have one shape, so nothing is copied.
//
// It must never hold what a user of the library would miss.
package adapt
