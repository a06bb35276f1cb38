//go:build !invariants

package invariants

// Enabled is false in this build.
const Enabled = false
