//go:build invariants

package invariants

// Enabled is true under -tags invariants: freed memory is filled with 0xCC,
// dead cursor rows are poisoned, structures check themselves.
const Enabled = true
