// Package compat places keys exactly where programs that people already run place them, key for key: so that a Go
// service can share a pool of memcached servers with PHP workers, sit behind nginx, or move off another Go library.
//
//	rule, err := compat.Twemproxy("md5", "")
//	...
//	ring, err := hashring.New([]hashring.Node{
//		{Name: "10.0.0.1:11211", Weight: 1},
//		{Name: "10.0.0.2:11211", Weight: 3},
//	}, &hashring.Options{Placement: rule})
//
// A constructor takes what the program's own configuration says, and returns a [Rule], which is a
// [hashring.Placement]: everything that a ring can do, it can do under a foreign rule. Servers are nodes, in the order of
// the configuration. A node's name is the server's address as written there; where the program hashes something else, as
// an id or a hash key, that is the node's Label. What the program would refuse is an error: options that it does not have
// are [hashring.ErrOptions], a server that it would not take is a [hashring.NodeError] that wraps
// [hashring.ErrInvalidNode]. [Named] finds a rule by its name.
//
// Where a program goes when the owner of a key is down is in [Attempts] and [NginxAttempts], or is the ring without that
// node; docs/compat.md has the table. [hashring.DiffKeys] says which of your keys a change from
// one rule to another moves.
//
// # How a foreign rule becomes tokens
//
// A ring has one rule: the first token at or after a position owns it. Every other rule is expressed by the tokens:
//
//	program's circle           token of a point p          position of a key's hash h
//	32 bits                    p << 32                     h << 32
//	first point above h        (p << 32) - 1, or p - 1     h << 32, or h
//	nearest point              the midpoint to the next    h << 32
//	signed                     p ^ 1<<63                   h ^ 1<<63
//	128 bits                   the upper 64                the upper 64
//
// Subtraction wraps round, as the circle does. Of equal points the program's winner is emitted first.
//
// What each rule yields is held by some 217,000 answers of the programs themselves, in testdata.
package compat
