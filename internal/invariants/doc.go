// Package invariants says whether the checked build is on.
//
// Code guards its checks with `if invariants.Enabled { … }`: the constant is
// false in a normal build, so that the checks cost nothing there.
package invariants
