package balance

import (
	"fmt"
	"iter"
	"math"

	"github.com/clockwise-go/hashring"
)

// Load is what a node has, and what it may have.
type Load struct {
	Node  string
	Count int // leases that are out, or partitions
	Bound int // what Count may rise to, up to math.MaxInt32; 0 for a node that has left, or has no tokens
}

// Bounds is the bound on the load of each node of a ring, for callers who know the loads themselves. It is immutable
// and safe for any number of goroutines. It is of one ring: a change of nodes takes another.
type Bounds struct {
	ring    *hashring.Ring
	factor  float64
	weights []float64 // by index, scaled by a power of two so that their sum is finite; 0 if and only if without tokens
	sum     float64   // of weights
}

// NewBounds returns the bounds of r's nodes. The factor is a finite number of at least 1; others are
// [hashring.ErrOptions]. It costs O(T) for T tokens.
func NewBounds(r *hashring.Ring, factor float64) (*Bounds, error) {
	if !(factor >= 1) || math.IsInf(factor, 1) {
		return nil, fmt.Errorf("balance: %w: the factor is %v, not a finite number of at least 1", hashring.ErrOptions, factor)
	}
	return newBounds(r, factor), nil
}

func newBounds(r *hashring.Ring, factor float64) *Bounds {
	b := &Bounds{ring: r, factor: factor, weights: make([]float64, r.Len())}
	weights, largest := make([]float64, r.Len()), 0.0
	for i, n := range r.Nodes() {
		weights[i] = n.Weight
		largest = max(largest, n.Weight)
	}
	_, exp := math.Frexp(largest)
	for i := range r.WalkAt(0) { // meets the nodes that have tokens
		b.weights[i] = max(math.Ldexp(weights[i], -exp), math.SmallestNonzeroFloat64)
		b.sum += b.weights[i]
	}
	return b
}

// limit returns what the load of node i has to be below for one more, when there are to be total of all.
//
// For a count that is the same as to stay within the bound: n+1 <= ceil(limit) if and only if n < limit. The limits of
// all nodes add up to factor*total, so while the loads add up to less, one of them is below its limit. Rounding does
// not change that for counts as long as total times the number of nodes is below 2^53.
func (b *Bounds) limit(i int, total float64) float64 { return b.factor * total * b.weights[i] / b.sum }

// room reports whether a node with this load is below limit. An idle one is, also where a tiny weight makes that 0.
func room(load, limit float64) bool { return load <= 0 || load < limit }

// bound returns ceil(limit) as room understands it, or 0 if node i has no tokens, or if none has.
func (b *Bounds) bound(i int, total float64) int {
	if b.weights[i] == 0 {
		return 0
	}
	return int(min(max(1, math.Ceil(b.limit(i, total))), math.MaxInt32))
}

// Walk yields the nodes whose load is below their bound, clockwise from key, for as many as the caller asks: the first
// is where a request for key should go, the next where it should go if that one cannot be reached. There is always a
// first if any node is there to take it. If no load is above 0 it is the owner.
//
// Loads are in any unit in which a request is about 1; the total is that of all nodes. The caller's function is asked
// once for each node and again for each node that is met, so it should be cheap, and give about the same both times. A
// load of +Inf or NaN takes a node out, as if it were not on the ring: use it for a node that is down. A negative
// load counts as 0. Where rounding or loads that change meanwhile leave no node below its bound, the one with the least
// load for its weight is yielded.
//
// Ranging over the result costs O(N) and allocates as [hashring.Ring.Replicas] does.
func (b *Bounds) Walk(key string, load func(node string) float64) iter.Seq[string] {
	return func(yield func(string) bool) { b.walk(key, load, yield) }
}

func (b *Bounds) walk(key string, load func(node string) float64, yield func(string) bool) {
	in, total := *b, 1.0 // in is the bounds of the nodes that are not out
	in.sum = 0
	for i, w := range b.weights {
		if w == 0 {
			continue
		}
		if l := load(b.ring.Name(i)); !out(l) {
			total += max(l, 0)
			in.sum += w
		}
	}
	var least leastLoaded
	found := false
	for i := range b.ring.WalkAt(b.ring.Position(key)) {
		name := b.ring.Name(i)
		l := load(name)
		switch {
		case out(l):
		case !room(l, in.limit(i, total)):
			least.meet(i, l, b.weights[i])
		default:
			found = true
			if !yield(name) {
				return
			}
		}
	}
	if !found && least.met {
		yield(b.ring.Name(least.node))
	}
}

// out reports whether a load says that its node cannot be used.
func out(load float64) bool { return math.IsNaN(load) || math.IsInf(load, 1) }

// leastLoaded finds the first of the nodes met that have the least load for their weight.
type leastLoaded struct {
	met   bool
	node  int
	ratio float64
}

func (l *leastLoaded) meet(node int, load, weight float64) {
	if ratio := load / weight; !l.met || ratio < l.ratio {
		*l = leastLoaded{true, node, ratio}
	}
}
