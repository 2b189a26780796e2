// Package antientropy finds which keys differ between two replicas of a range: the writes that one of them has missed.
//
// A replica keeps a [Set] beside its data, with an item for each key: where on the circle the key is, and a digest of its
// version. Two replicas compare their sets over any transport, and end with the exact positions that only one of them
// has, or that have another digest:
//
//	set.Put(ring.Position(key), digest(version)) // with each write; a tombstone is a write
//
//	ranges := slices.Collect(ring.SharedRanges(policy, self, peer))
//	diff, err := antientropy.Compare(ctx, &set, ranges, send, nil) // send: one request to the peer, one reply
//
//	reply, err := set.Respond(request, nil) // all that the peer does
//
// What the caller supplies is that one function, the digests, and the repair: which of two versions is the newer, and how
// it is copied. What he need not do is rebuild anything: a set has the fingerprint of any range in less than a
// microsecond, wherever the tokens of a ring are, so a node that joins or leaves changes which ranges are compared and
// nothing in the set.
//
// # Model
//
// An item is a position and a digest, 64 bits each. The fingerprint of a range is the sum of a hash of each item in it. The
// comparing side sends the fingerprints of 16 parts of a range; the peer answers only for parts that differ, with the
// fingerprints of their parts in turn, or with their items if there are few. So each round trip narrows a difference down
// by a factor of 256, and what is equal costs 8 bytes at the level where it is equal, however much it is.
//
// # What is not seen
//
// By accident, two ranges that differ have one fingerprint with a probability of 2^-64, at each comparison. A single item
// that is there with another digest is always seen.
//
// Digests are the caller's. If they are of versions, values that have rotted under one version are not seen; if they are
// of values, they are.
//
// Fingerprints protect from accidents and not from an adversary: who can choose digests, or versions under an unkeyed
// digest, can make sets that differ and have one fingerprint. Where writers are not trusted, make digests with a keyed
// hash, under a key that the replicas share. Replicas trust each other's items as they do each other's data, but no
// message of a peer makes a process panic, hang, or take memory without bound.
//
// # Cost
//
// For n items, at 1e6 of them (docs/antientropy.md has the measurements):
//
//	Put, Delete            O(log n)    250-500 ns
//	Fingerprint            O(log n)    less than 1 µs, for any range
//	memory                             19 bytes an item
//	Compare, all equal     1 round trip     152 bytes
//	  1 differs            3 round trips    0.9 kB
//	  1,000 differ         3 round trips    0.4 MB
package antientropy
