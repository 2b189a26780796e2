// Package hashring is consistent hashing: it decides which of a set of nodes a key belongs to, so that a change of the
// set moves as few keys as can be.
//
//	ring, err := hashring.New(hashring.Nodes("cache-a", "cache-b", "cache-c"), nil)
//	node, ok := ring.Owner("user:42")
//
// # Model
//
// Positions are the 2^64 values of a uint64, on a circle. A node holds tokens, which are positions; each token is one of
// its virtual nodes, 160 unless told otherwise. A key's position is its hash, and its owner is the node of the first
// token at or after that, clockwise. Its replicas are the distinct nodes met walking on from there.
//
//	      0
//	  a ──┴── b        key k lies on the arc (c, a]: its owner is a,
//	k           c      its replicas are a, b, c.
//	 c         a
//	   ── b ──         If a leaves, k goes to b. No key of b or c moves.
//
// A node of weight 2 holds twice as many tokens as one of weight 1, so it owns about twice as much. Its tokens follow
// from its name alone. So a node that joins, leaves or changes its weight takes or gives tokens of its own, and no key
// moves between two other nodes: not few, none.
//
// # Which type, which method
//
//   - [Ring] is an immutable ring; [New] builds it, [Ring.With] and [Ring.Without] derive others.
//   - [Live] holds the current Ring of a program whose membership changes, for readers that take no lock.
//   - [Ring.Owner] is who has a key. [Ring.Replicas] is who has its copies, or where to go when the owner is down.
//     [Ring.Spread] is the same across failure domains.
//   - [Ring.OwnerBytes] takes a key in bytes, [Ring.OwnerAt] its position. Methods that end in At work on positions, and
//     on indexes of nodes where those with keys give names.
//   - [NewHash] makes a hash of any function, [Placement] gives tokens by any rule. [Node.Tokens] are those that you choose,
//     with [Ring.SplitLargest] to choose them.
//   - [Table] holds a value for each node, as a connection, in one snapshot with the ring.
//   - Package feed keeps a Live in step with whatever knows the nodes: DNS, a file, gossip. Package balance bounds the load
//     of nodes, compat places keys where other programs do, and antientropy finds what differs between two replicas.
//   - [Ring.Ownership] is how much of the circle each node and zone has, exactly, and how even that is; [Ring.Ranges] is
//     which ranges. [VirtualNodesFor] is how many virtual nodes keep the peak where you want it.
//   - [Diff] is what moves from whom to whom between two rings, [DiffReplicas] what is to be copied, and from where.
//     [Transition] says where to read and write meanwhile. [DiffKeys] counts on your own keys, also between hashes.
//   - [Ring.SharedRanges] is what two nodes both replicate, for package antientropy. [DiffNodes] says which nodes two rings
//     disagree about.
//   - [Ring.Fingerprint] tells whether two processes hold the same ring. [Ring.AppendBinary] and [Ring.MarshalJSON] encode
//     one, [Decode] and [DecodeJSON] restore it and no other.
//
// # Contract
//
// Placement is a promise. The same nodes and [Options] give the same ring in every process, on every architecture, in
// every release of this major version, whatever the order in which nodes were added and removed. What a release places
// where is held by vectors in testdata.
//
// Nothing is lost on a collision. Equal tokens are all kept; the node with the lowest name owns, and when it leaves, the
// next one does.
//
// Nothing panics on data. Node lists, weights and names come from outside: a call that refuses them returns an error
// which names the nodes at fault, and changes nothing.
//
// # Cost
//
// For a ring of T tokens (160 a node, say) on N nodes:
//
//	Owner, OwnerAt                    O(1)          no allocation, no lock
//	Replicas, Spread, first n         O(n) tokens   no allocation, no lock
//	Table.Get                         O(1)          no allocation, no lock
//	New                               O(T)          sorts by buckets
//	With, Without                     O(T)          one merge
//	Live.Load                         O(1)          one atomic read
//	Diff, Ranges                      O(T)          one merge
//	Ownership, DiffReplicas           O(T*n)        one sweep, n replicas
//	Fingerprint, encodings            O(T)
//	memory                            17 to 23 bytes a token, about 100 and the name a node
//
// O(1) holds for tokens that are spread evenly, as those of hashed names are; where explicit ones crowd, a lookup is a
// binary search.
package hashring
