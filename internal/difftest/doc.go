// Package difftest holds package temptable against real SQL engines: a MariaDB
// server that the test starts on a socket in a temporary directory, and SQLite.
// It is a module of its own, so that nothing else depends on their drivers.
//
//	apt-get install mariadb-server
//	cd internal/difftest && go test .
//
// Columns of every type that the engine has are filled with values from small
// domains: NULLs, empties, extremes, trailing spaces, case and accent variants,
// one number in several notations. The engine then answers
//
//	SELECT … GROUP BY …           which rows are one group
//	SELECT DISTINCT …, UNION      how many rows there are
//	SELECT … ORDER BY …, id       the whole order, ascending and descending
//	SELECT …                      what is stored, as text
//
// and temptable must give the same with budgets so small that it spills, on each
// tier. Rows carry an id in both, so groups and orders are compared as sets and
// lists of ids: which of several equal values an engine shows does not matter.
//
// Then come the operations of executors, over a table of an id, a number and some
// bytes: INTERSECT and EXCEPT, with and without ALL (neither dialect has all four;
// rows that are numbered among their equals stand for ALL), ROW_NUMBER and LAG by
// saved row ids, and updates and deletes of what each kind of index finds.
//
// # Where dialects differ
//
// The tests avoid, or translate, what is not a question of right and wrong:
//
//   - NULLs come first in ascending and last in descending order, in MariaDB and
//     in SQLite; temptable is told so by KeyPart.NullsLast.
//   - JSON in MariaDB is text with a collation, and compares as such: {"a":1} and
//     {"a": 1} are two values. MySQL, and temptable, compare it as JSON.
//   - utf8mb4_0900_ai_ci and utf8mb4_0900_as_cs are MySQL's; MariaDB 10.11 lacks
//     them. Golden vectors in package collation stand for them.
//   - Neither engine stores NaN (SQLite makes it NULL), and MariaDB no infinity.
//   - -0.0: see TestMariaDB's kind double; SQLite stores it as 0.0.
//   - MariaDB's TIMESTAMP ends in 2038, temptable's in 2106.
//   - ORDER BY of long strings in MariaDB looks at max_sort_length bytes; the
//     tests raise it.
//   - SQLite has no types of columns in the sense of SQL, no CHAR and no PAD
//     SPACE: its NOCASE is ASCII only, and stops at a NUL byte; its RTRIM cuts
//     spaces. Both are Custom collations here.
//   - FLOAT is compared by value: MariaDB shows 6 digits of it.
package difftest
