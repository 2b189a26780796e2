package hashring

import (
	"iter"
	"math"
	"slices"
)

// Spread yields the replicas of key so that they lie in as many zones as there are: first the first node of each zone
// along the walk of [Ring.Replicas], in the order of the walk, then the second node of each zone, and so on. Nodes
// without a zone make up one zone like any other.
//
//	walk      a1  a2  b1  a3  c1  b2      (zones a, b, c)
//	round     0   1   0   2   0   1       (its rank within its zone)
//	Spread    a1  b1  c1  a2  b2  a3      (by round, then by place in the walk)
//
// The first n are in min(n, zones) distinct zones. When a node joins, leaves or changes its weight, at most one of them
// changes, and only by that node entering or leaving. When a node changes its zone, at most one changes, and that may be
// another node.
//
// Ranging over the result directly does not allocate with a built-in hash, but as Replicas does, and for more than 16
// zones, 16 rounds, or 32 nodes met ahead of their round. It walks each token once at most, until the round of the nodes
// asked for is complete, so it costs O(T).
func (r *Ring) Spread(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		r.spread(sumOf(r.hash, key), math.MaxInt, func(i int) bool { return yield(r.names[i]) })
	}
}

// AppendSpread appends the first n of [Ring.Spread] to dst, or all of them if there are fewer, and returns it.
func (r *Ring) AppendSpread(dst []string, key string, n int) []string {
	r.spread(sumOf(r.hash, key), n, func(i int) bool {
		dst = append(dst, r.names[i])
		return true
	})
	return dst
}

// SpreadAt is [Ring.Spread] from a position, and yields the indexes of nodes.
func (r *Ring) SpreadAt(pos uint64) iter.Seq[int] {
	return func(yield func(int) bool) { r.spread(pos, math.MaxInt, yield) }
}

// AppendSpreadAt is [Ring.AppendSpread] for a position, and appends the indexes of nodes.
func (r *Ring) AppendSpreadAt(dst []int, pos uint64, n int) []int {
	r.spread(pos, n, func(i int) bool {
		dst = append(dst, i)
		return true
	})
	return dst
}

// zones is what Spread has to know of the nodes' zones.
type zones struct {
	of   []uint32 // by node index, the number of its zone
	n    int      // how many zones there are
	wide []int    // wide[k] is how many zones have more than k nodes with tokens: the size of round k
}

// countZones sets live and zones from the nodes and tokens of a new ring.
func (r *Ring) countZones() {
	var holds []bool // tokens; nil if all do, as under the native rule
	if r.opts.Placement != nil {
		holds = make([]bool, len(r.nodes))
		for _, o := range r.owners {
			holds[o] = true
		}
	}
	r.zones.of = make([]uint32, len(r.nodes))
	number := make(map[string]uint32)
	var size []int // by zone, nodes with tokens
	var z uint32
	for i, n := range r.nodes {
		if i == 0 || n.Zone != r.nodes[i-1].Zone { // else it is that of the node before: often all are in one
			var ok bool
			if z, ok = number[n.Zone]; !ok {
				z = uint32(len(size))
				number[n.Zone] = z
				size = append(size, 0)
			}
		}
		r.zones.of[i] = z
		if holds == nil || holds[i] {
			size[z]++
			r.live++
		}
	}
	r.zones.n = len(size)
	if r.live == 0 {
		return
	}
	r.zones.wide = make([]int, slices.Max(size))
	for _, n := range size {
		for k := range n {
			r.zones.wide[k]++
		}
	}
}

// spread yields up to n nodes in the order of Spread. It walks once, and holds back each node that it meets before the
// round of that node has come.
func (r *Ring) spread(pos uint64, n int, yield func(node int) bool) {
	if n <= 0 || r.live == 0 {
		return
	}
	type heldNode struct{ node, next int } // next: the place in held of the next of its round, plus 1; 0 at the end
	type queue struct{ first, last int }   // of one round: places in held, plus 1
	var (                                  // on the stack, until they are too small
		ranks  [16]uint32
		holds  [32]heldNode
		rounds [16]queue
	)
	rank, held, queues := ranks[:], holds[:0], rounds[:0] // rank: by zone, that of the next node met
	if r.zones.n > len(rank) {
		rank = make([]uint32, r.zones.n)
	}
	hold := func(node, round int) {
		held = append(held, heldNode{node: node})
		for len(queues) <= round {
			queues = append(queues, queue{})
		}
		q := &queues[round]
		if q.first == 0 {
			q.first = len(held)
		} else {
			held[q.last-1].next = len(held)
		}
		q.last = len(held)
	}
	give := func(node int) bool {
		n--
		return yield(node) && n > 0
	}

	round, due := 0, r.zones.wide[0] // due: nodes of this round that are still to be met
	var w walk
	w.start(r, pos)
	for node, ok := w.next(); ok; node, ok = w.next() {
		zone := r.zones.of[node]
		own := int(rank[zone]) // the node's round
		rank[zone]++
		if own > round {
			if own-round < n { // else n are yielded before, as each round has one at least
				hold(node, own)
			}
			continue
		}
		if !give(node) {
			return
		}
		for due--; due == 0; { // the next round begins with those that were held back for it
			if round++; round == len(r.zones.wide) {
				return
			}
			due = r.zones.wide[round]
			if round >= len(queues) {
				continue
			}
			for h := queues[round].first; h > 0; h = held[h-1].next {
				if !give(held[h-1].node) {
					return
				}
				due--
			}
		}
	}
}
