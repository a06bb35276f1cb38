//go:build !race

package sys

// Default is [OS] in this build.
func Default() FS { return OS() }
