package antientropy

import (
	"iter"
	"math"
	"sync"

	"github.com/clockwise-go/hashring"
)

// Item is what a replica says of a key, or of several on one position.
type Item struct {
	Position uint64 // of the key on the circle: [hashring.Ring.Position]
	Digest   uint64 // of its version, or of its value: any function that gives other values for other states
}

// Set is what a replica holds, as items: one for each position at which there are keys. It has a fingerprint for any
// range of the circle at once, so a change of the ring needs no rebuild. The zero Set is empty and ready to use; it must
// not be copied after first use.
//
// Any number of goroutines may call its methods: each takes the Set's own lock, shared for reads, and only for the time
// that its doc comment states, never while a peer is waited for. What the caller has to see to is that the data and its
// item change in the same order: two writes of one key that are made in the order 1, 2 in the store and 2, 1 in the Set
// leave it with the digest of what is not there. Calling Put and Delete under the lock under which the key is written
// does it.
//
// A position has one item. Two keys on one position, of which there are any among 1e6 hashed keys with a probability of
// 3e-8 and among 1e9 with 2.7 %, share it: with a digest of both, as the sum of theirs. A store that calls Put for either
// alone keeps the digest of the one written last; then a write of the other that is lost goes unseen.
//
// It takes 18 to 21 bytes an item where positions are spread evenly, as hashes are; up to 34 after most have been deleted;
// and 180 at worst, where positions crowd in clusters of a few dozen.
type Set struct {
	mu   sync.RWMutex
	root node
}

// Put sets the item at position pos to digest. The same again changes nothing. It costs O(log n) for n items: some 300 ns
// at 1e6. No call takes much longer than others, since growing splits one leaf at a time.
func (s *Set) Put(pos, digest uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.root.put(Item{pos, digest}, 0)
}

// Delete removes the item at position pos and reports whether there was one. The cost is that of Put, and memory shrinks
// with the set.
//
// To repair, an item that one replica has and the other has not is one that was never written to the latter. So a key
// that is deleted has to keep an item, with the digest of its tombstone, until all replicas have that; else repair brings
// the key back. Delete is for keys that the node is no replica of any longer, and for tombstones that are old enough.
func (s *Set) Delete(pos uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.root.remove(pos, 0)
	return ok
}

// Len returns the number of items.
func (s *Set) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.root.n
}

// Fingerprint returns the fingerprint of the items in a, and how many there are. Sets with the same items in a have the
// same fingerprint of it, on every architecture and in every release. Others have others, but for one in 2^64 by chance:
// it is no protection from those who choose digests to that end.
//
// It is the sum, modulo 2^64, of a hash of each item: 0 for none, and those of two ranges that do not overlap add up to
// that of both. It costs O(log n), less than 1 µs at 1e6 items, whatever the range.
func (s *Set) Fingerprint(a hashring.Range) (fingerprint uint64, n int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sum := s.between(s.root.upTo(a.After), s.root.upTo(a.Through), a)
	return sum.fingerprint, sum.n
}

// between returns the summary of a, given those up to its ends.
func (s *Set) between(after, through summary, a hashring.Range) summary {
	through.add(-after.fingerprint, -after.n)
	if a.After >= a.Through {
		through.add(s.root.fingerprint, s.root.n)
	}
	return through
}

// appendParts appends the summaries of the p equal parts of a to dst. Neighbours share the work for their border.
func (s *Set) appendParts(dst []summary, a hashring.Range, p int) []summary {
	s.mu.RLock()
	defer s.mu.RUnlock()
	after := s.root.upTo(a.After)
	for i := range p {
		b := part(a, i, p)
		through := s.root.upTo(b.Through)
		dst, after = append(dst, s.between(after, through, b)), through
	}
	return dst
}

// term is what an item adds to fingerprints: a function of its 128 bits that is a bijection of the digest, so that a
// single changed digest always shows. It is part of the protocol.
func (it Item) term() uint64 { return mix(mix(it.Position+gamma) + it.Digest + gamma) }

// gamma and mix are those of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
const gamma = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Items yields the items in a, clockwise. It takes the lock for a few dozen items at a time and not while it yields, so
// the loop may call any method of s; an item that is put or removed while the loop goes on is yielded or not.
func (s *Set) Items(a hashring.Range) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		var buf [64]Item
		for rest, more := a, true; more; {
			items := s.appendItems(buf[:0], rest, len(buf))
			for _, it := range items {
				if !yield(it) {
					return
				}
			}
			if len(items) < len(buf) {
				return
			}
			rest, more = behind(rest, items[len(items)-1].Position)
		}
	}
}

// appendItems appends up to max items in a to dst, clockwise.
func (s *Set) appendItems(dst []Item, a hashring.Range, max int) []Item {
	s.mu.RLock()
	defer s.mu.RUnlock()
	max += len(dst)
	low := a.After + 1
	if low <= a.Through {
		return s.root.appendTo(dst, low, a.Through, 0, 0, max)
	}
	dst = s.root.appendTo(dst, low, math.MaxUint64, 0, 0, max)
	return s.root.appendTo(dst, 0, a.Through, 0, 0, max)
}
