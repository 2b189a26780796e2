package hashring

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Ownership says how a ring divides the circle among its nodes. Shares are exact: for each rank those of all nodes add
// up to the whole circle, {1, 0}, or to nothing if the ring has fewer nodes with tokens.
type Ownership struct {
	Nodes []NodeShare // by index in the ring
	Zones []ZoneShare // by name
	Owned Balance     // of what each node owns
	Held  Balance     // of what each node holds as owner or as another replica

	// Theory is the deviation to be expected of Owned if tokens, so many for each node, are at random positions. The share
	// of a node with v of T tokens then has a beta distribution with mean v/T and variance v(T-v) / (T²(T+1)). For N
	// equal nodes of V tokens Theory is sqrt((N-1) / (NV+1)).
	Theory float64
}

// NodeShare is what one node has.
type NodeShare struct {
	Name   string
	Zone   string
	Weight float64
	Tokens int     // how many it has
	Ideal  float64 // its weight as a fraction of that of all nodes
	Ranks  []Share // Ranks[k] is where the node is replica k: Ranks[0] is what it owns
}

// ZoneShare is what the nodes of one zone have together. Ranks[k] is where replica k is in the zone.
type ZoneShare struct {
	Zone  string
	Nodes int
	Ideal float64
	Ranks []Share
}

// Balance compares what nodes have with what is ideal for their weights. A node's ratio is the one divided by the other:
// 1 for all nodes would be even.
type Balance struct {
	Peak      float64 // the largest ratio
	Deviation float64 // the root mean square of how far ratios are from 1
}

// Owned returns what the node owns.
func (n NodeShare) Owned() Share { return rank0(n.Ranks) }

// Held returns what the node holds, as owner or as another replica.
func (n NodeShare) Held() Share { return total(n.Ranks) }

// Owned returns what the nodes of the zone own.
func (z ZoneShare) Owned() Share { return rank0(z.Ranks) }

// Held returns what the nodes of the zone hold, counting each position as often as there are replicas of it.
func (z ZoneShare) Held() Share { return total(z.Ranks) }

func rank0(ranks []Share) Share {
	if len(ranks) == 0 {
		return Share{}
	}
	return ranks[0]
}

func total(ranks []Share) (sum Share) {
	for _, s := range ranks {
		sum = sum.Add(s)
	}
	return sum
}

// Ownership returns the shares of the circle that nodes and zones have in each rank of p, of which there are no more than
// nodes with tokens. It costs O(T*n) for n replicas.
func (r *Ring) Ownership(p Policy) Ownership {
	s := newSweep(r, p)
	o := Ownership{Nodes: make([]NodeShare, r.Len())}
	ranks := len(s.held)
	heaviest := 0.0
	for i, n := range r.nodes {
		o.Nodes[i] = NodeShare{Name: n.Name, Zone: n.Zone, Weight: n.Weight, Ranks: make([]Share, ranks)}
		heaviest = max(heaviest, n.Weight)
	}
	weight := 0.0
	for _, n := range r.nodes {
		weight += n.Weight / heaviest // the sum of the weights themselves may overflow
	}
	tokens := r.tokens[:s.at]
	for s.at > 0 {
		s.pass()
		after := tokens[len(tokens)-1]
		if s.at > 0 {
			if after = tokens[s.at-1]; after == tokens[s.at] {
				continue // the arc of an equal token is empty
			}
		}
		share := Range{after, tokens[s.at]}.Share()
		for k, m := range s.held {
			at := &o.Nodes[m.node].Ranks[k]
			*at = at.Add(share)
		}
	}
	for _, n := range r.owners[:len(tokens)] {
		o.Nodes[n].Tokens++
	}

	zones := make(map[string]*ZoneShare)
	for i := range o.Nodes {
		n := &o.Nodes[i]
		n.Ideal = n.Weight / heaviest / weight
		z := zones[n.Zone]
		if z == nil {
			z = &ZoneShare{Zone: n.Zone, Ranks: make([]Share, ranks)}
			zones[n.Zone] = z
		}
		z.Nodes++
		z.Ideal += n.Ideal
		for k, s := range n.Ranks {
			z.Ranks[k] = z.Ranks[k].Add(s)
		}
	}
	for _, z := range zones {
		o.Zones = append(o.Zones, *z)
	}
	slices.SortFunc(o.Zones, func(a, b ZoneShare) int { return strings.Compare(a.Zone, b.Zone) })
	o.Owned = balance(o.Nodes, min(1, ranks), NodeShare.Owned)
	o.Held = balance(o.Nodes, ranks, NodeShare.Held)
	o.Theory = theory(o.Nodes, len(tokens))
	return o
}

// balance compares what nodes have, so many circles together, with their ideals.
func balance(nodes []NodeShare, circles int, have func(NodeShare) Share) (b Balance) {
	if circles == 0 { // no tokens
		return b
	}
	for _, n := range nodes {
		ratio := 0.0
		if share := have(n).Fraction(); share > 0 {
			ratio = share / float64(circles) / n.Ideal
		}
		b.Peak = max(b.Peak, ratio)
		b.Deviation += square(ratio - 1)
	}
	b.Deviation = math.Sqrt(b.Deviation / float64(len(nodes)))
	return b
}

// theory returns Ownership.Theory for so many tokens. The mean of a node's ratio is scale, which is 1 but for weights
// that are rounded to whole tokens; so the mean of (ratio - 1)² is scale² times the relative variance, and (scale - 1)².
func theory(nodes []NodeShare, tokens int) float64 {
	if tokens == 0 {
		return 0
	}
	all, sum := float64(tokens), 0.0
	for _, n := range nodes {
		v, scale := float64(n.Tokens), float64(n.Tokens)/float64(tokens)/n.Ideal
		if n.Tokens > 0 {
			sum += square(scale) * ((all - v) / (v * (all + 1)))
		}
		sum += square(scale - 1)
	}
	return math.Sqrt(sum / float64(len(nodes)))
}

func square(x float64) float64 { return x * x }

// VirtualNodesFor returns how many virtual nodes keep the peak, which is the largest share of a node divided by the
// mean, at or below peak for so many nodes of equal weight, with a probability of at least confidence. For 100 nodes, a
// peak of 1.25 and a confidence of 0.999999 it is 686.
//
// It is V = ln(nodes / (1-confidence)) / (peak - 1 - ln(peak)), rounded up: the Chernoff bound of the gamma
// distribution with mean 1 and shape V, below which a node's share lies in convex order, over all nodes. It is on the
// safe side: half of all rings have a peak that a third of that would do for.
//
// The number is part of a ring's identity. Compute it once and write it down, rather than in each process.
//
// Errors are [ErrOptions] for fewer than 1 nodes, a peak that is not above 1 and finite, or a confidence that is not
// between 0 and 1, and [ErrTooManyTokens] where the nodes would have more tokens than a ring can hold.
func VirtualNodesFor(nodes int, peak, confidence float64) (int, error) {
	var p problems
	fail := func(format string, args ...any) {
		p.add(fmt.Errorf("hashring: %w: %s", ErrOptions, fmt.Sprintf(format, args...)))
	}
	if nodes < 1 {
		fail("%d nodes", nodes)
	}
	if !(peak > 1) || math.IsInf(peak, 1) {
		fail("peak %v is not above 1", peak)
	}
	if !(confidence > 0 && confidence < 1) {
		fail("confidence %v is not between 0 and 1", confidence)
	}
	if err := p.err(); err != nil {
		return 0, err
	}
	excess := peak - 1
	v := math.Ceil(math.Log(float64(nodes)/(1-confidence)) / (excess - math.Log1p(excess)))
	if !(v*float64(nodes) <= maxMaxTokens) { // Inf and NaN too: excess may be lost against 1
		return 0, fmt.Errorf("hashring: %w: %d nodes would need more than %d for a peak of %v", ErrTooManyTokens, nodes, maxMaxTokens, peak)
	}
	return max(1, int(v)), nil
}
