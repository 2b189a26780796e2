// Package bench measures hashring beside other Go libraries that place keys on nodes: same keys, same nodes, same points
// a node, one process. It is a module of its own, so that what the others need is no concern of a user of hashring.
//
// What the others can do is behind the interfaces of peer.go, each library in a file of its own, used as its README says
// and with the fastest of what it offers. Directory table turns the output of the benchmarks into a table of ratios:
//
//	go test -run '^$' -bench . -benchtime 200ms -count 10 -timeout 3h | go run ./table
//
// BENCHMARKS.md in the root of the repository has the last such table, and says what is measured and how.
package bench
