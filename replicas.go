package hashring

import (
	"iter"
	"slices"
)

// Replicas yields the replicas of key: the distinct nodes met walking clockwise from it, the owner first, until all that
// have tokens are yielded. A caller skips a node with continue and ends the walk with break.
//
// To replicate a key n times is to take the first n. When a node joins, leaves or changes its weight, at most one of
// those changes, and only by that node entering or leaving; k such changes change at most k.
//
// Ranging over the result directly does not allocate with a built-in hash, but for walks over more than 16 nodes of a
// ring of more than 1,024, which take one bit a node. The whole walk costs O(T); the first n of N equal nodes are met
// after N/N + N/(N-1) + ... + N/(N-n+1) tokens on average.
func (r *Ring) Replicas(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var w walk
		w.start(r, sumOf(r.hash, key))
		for i, ok := w.next(); ok && yield(r.names[i]); i, ok = w.next() {
		}
	}
}

// AppendReplicas appends the first n of [Ring.Replicas] to dst, or all of them if there are fewer, and returns it. It
// allocates only to make room in dst, and as Replicas does.
func (r *Ring) AppendReplicas(dst []string, key string, n int) []string {
	pos := sumOf(r.hash, key)
	if n <= few {
		var met [few]uint32
		for _, node := range met[:r.nearest(&met, pos, n)] {
			dst = append(dst, r.names[node])
		}
		return dst
	}
	var w walk
	for w.start(r, pos); n > 0; n-- {
		i, ok := w.next()
		if !ok {
			break
		}
		dst = append(dst, r.names[i])
	}
	return dst
}

// WalkAt is [Ring.Replicas] from a position, and yields the indexes of nodes.
func (r *Ring) WalkAt(pos uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		var w walk
		w.start(r, pos)
		for i, ok := w.next(); ok && yield(i); i, ok = w.next() {
		}
	}
}

// AppendReplicasAt is [Ring.AppendReplicas] for a position, and appends the indexes of nodes.
func (r *Ring) AppendReplicasAt(dst []int, pos uint64, n int) []int {
	if n <= few {
		var met [few]uint32
		for _, node := range met[:r.nearest(&met, pos, n)] {
			dst = append(dst, int(node))
		}
		return dst
	}
	var w walk
	for w.start(r, pos); n > 0; n-- {
		i, ok := w.next()
		if !ok {
			break
		}
		dst = append(dst, i)
	}
	return dst
}

// few is how many nodes are told apart by comparing each with all before it: as many replicas as most keys have.
const few = 8

// nearest sets met to the first n nodes of the walk from pos, at most few, and returns how many there are. It is what
// walk does, without a set of nodes to clear.
func (r *Ring) nearest(met *[few]uint32, pos uint64, n int) (k int) {
	n = min(n, r.live)
	end := r.NumTokens()
	for i := r.first(pos); k < n; {
		node := r.owners[i]
		if !slices.Contains(met[:k], node) {
			met[k] = node
			k++
		}
		if i++; i == end {
			i = 0
		}
	}
	return k
}

// Policy says which replicas a key has: the first N of [Ring.Replicas], or of [Ring.Spread]. An N below 1 stands for 1,
// so the zero Policy is the owner alone.
type Policy struct {
	N      int
	Spread bool
}

func (p Policy) n() int { return max(1, p.N) }

// Append appends the replicas of key in r to dst and returns it, as [Ring.AppendReplicas] or [Ring.AppendSpread] does.
func (p Policy) Append(dst []string, r *Ring, key string) []string {
	if p.Spread {
		return r.AppendSpread(dst, key, p.n())
	}
	return r.AppendReplicas(dst, key, p.n())
}

// AppendAt is [Policy.Append] for a position, and appends the indexes of nodes.
func (p Policy) AppendAt(dst []int, r *Ring, pos uint64) []int {
	if p.Spread {
		return r.AppendSpreadAt(dst, pos, p.n())
	}
	return r.AppendReplicasAt(dst, pos, p.n())
}

// walk is a walk over the distinct nodes clockwise from a position.
type walk struct {
	owners []uint32 // of the ring's tokens
	nodes  int      // of the ring
	at     int      // place of the next token
	unmet  int      // nodes with tokens that have not been met; each has a token ahead, so the walk ends within one round
	met    nodeSet
}

// start makes the zero w a walk over r from pos.
func (w *walk) start(r *Ring, pos uint64) {
	w.owners, w.nodes, w.at, w.unmet = r.owners[:r.NumTokens()], len(r.nodes), r.first(pos), r.live
}

// next returns the index of the next node, or false if all have been met.
func (w *walk) next() (node int, ok bool) {
	for w.unmet > 0 {
		n := w.owners[w.at]
		if w.at++; w.at == len(w.owners) {
			w.at = 0
		}
		if w.met.add(n, w.nodes) {
			w.unmet--
			return int(n), true
		}
	}
	return 0, false
}

// nodeSet is a set of node indexes. It is made to lie on the stack: up to smallNodes it is a bit set; of greater
// indexes a few are held in a list, and if there are more, in a bit set on the heap.
type nodeSet struct {
	small [smallNodes / 64]uint64
	few   [16]uint32
	n     int // of few
	large []uint64
}

const smallNodes = 1024

// add adds node, of so many nodes, and reports whether it was not in the set.
func (s *nodeSet) add(node uint32, nodes int) bool {
	if node < smallNodes {
		return setBit(s.small[:], node)
	}
	if s.large == nil {
		for _, m := range s.few[:s.n] {
			if m == node {
				return false
			}
		}
		if s.n < len(s.few) {
			s.few[s.n] = node
			s.n++
			return true
		}
		s.large = make([]uint64, (nodes+63)/64)
		for _, m := range s.few {
			setBit(s.large, m)
		}
	}
	return setBit(s.large, node)
}

// setBit sets bit i of set and reports whether it was not set.
func setBit(set []uint64, i uint32) bool {
	word, bit := &set[i/64], uint64(1)<<(i%64)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}
