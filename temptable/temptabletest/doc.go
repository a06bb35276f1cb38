// Package temptabletest is for the tests of programs that use package temptable:
// executors, and collations of their own.
//
//   - [CompatTest] holds a collation to what temptable expects of it.
//   - [Budgets] are engines so small that tables leave RAM after some rows.
//   - [FailAt] and [FailEach] run code while one system call fails.
//
// It reports through testing.TB, and must not be imported by programs.
package temptabletest
