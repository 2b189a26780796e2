package main

import (
	"iter"
	"math"

	"github.com/clockwise-go/hashring"
)

// Report is what sim found, and with -json what it prints. Its field names do not change. Shares are parts of 1, rounded
// to 9 digits, which makes them the same on every architecture; ratios are rounded likewise. Without keys, what is a
// share or a ratio of keys is 0.
type Report struct {
	Hash         string         `json:"hash"`          // of keys
	VirtualNodes int            `json:"virtual_nodes"` // per unit of weight
	Tokens       int            `json:"tokens"`        // of all nodes
	Keys         int64          `json:"keys"`          // looked up
	Unique       bool           `json:"unique"`        // no key was counted twice
	Nodes        []NodeReport   `json:"nodes"`         // by name
	Balance      Balance        `json:"balance"`       // of all nodes
	Changes      []ChangeReport `json:"changes"`       // join, leave, double; none without nodes
}

// NodeReport is how much one node got.
type NodeReport struct {
	Name        string  `json:"name"`
	Weight      float64 `json:"weight"`
	Zone        string  `json:"zone"`
	Tokens      int     `json:"tokens"`
	Expected    float64 `json:"expected_share"` // its part of the sum of weights
	Keys        int64   `json:"keys"`           // that it owns
	KeyShare    float64 `json:"key_share"`      // their part of all keys
	KeyRatio    float64 `json:"key_ratio"`      // key_share / expected_share
	CircleShare float64 `json:"circle_share"`   // the part of the circle that it owns, exactly
	CircleRatio float64 `json:"circle_ratio"`   // circle_share / expected_share
}

// Balance is how evenly the nodes share, each measured by the share that its weight says.
type Balance struct {
	Keys   *Evenness `json:"keys"`   // null without keys
	Circle *Evenness `json:"circle"` // null without nodes
}

// Evenness compares the shares with what random tokens give on average.
type Evenness struct {
	Peak      float64 `json:"peak_to_mean"` // the greatest ratio of a node
	Deviation float64 `json:"deviation"`    // the root of the mean square of ratio - 1
	Theory    float64 `json:"theory"`       // what deviation tends to; for keys, if none comes twice
}

// ChangeReport is what one change of the ring moves.
type ChangeReport struct {
	Change        string  `json:"change"` // "join", "leave" or "double"
	Node          string  `json:"node"`   // that changes
	Weight        float64 `json:"weight"` // that it joins with, leaves with, or had before it doubled
	Moved         int64   `json:"moved"`  // keys whose owner is another than before
	MovedShare    float64 `json:"moved_share"`
	Ideal         float64 `json:"ideal_share"`          // the least that gives each node what its weight says
	BetweenOthers int64   `json:"moved_between_others"` // keys that moved though neither owner is the node; always 0
	Modulo        *Modulo `json:"modulo"`               // null for "double": there are no weights in hash % N
}

// Modulo is what the same change moves if key k belongs to node hash(k) % N of a list, in which a node that joins comes
// last, and one that leaves makes room for those behind it.
type Modulo struct {
	Moved      int64   `json:"moved"`
	MovedShare float64 `json:"moved_share"`
}

// simulate looks each of keys up in r, and in r after each of changes. It holds no keys, and takes O(1) time for each.
func simulate(r *hashring.Ring, changes []change, keys iter.Seq[[]byte]) Report {
	movers := make([]mover, len(changes))
	for i, c := range changes {
		movers[i] = newMover(r, c)
	}
	counts := make([]int64, r.Len())
	var total int64
	for key := range keys {
		pos := r.PositionBytes(key) // one for all rings: they have the same hash
		owner := r.IndexAt(pos)
		if owner >= 0 {
			counts[owner]++
		}
		for i := range movers {
			movers[i].look(pos, owner)
		}
		total++
	}

	opts := r.Options()
	rep := Report{
		Hash:         opts.Hash.Name(),
		VirtualNodes: opts.VirtualNodes,
		Tokens:       r.NumTokens(),
		Keys:         total,
		Nodes:        make([]NodeReport, 0, r.Len()),
		Changes:      make([]ChangeReport, 0, len(changes)),
	}
	o := r.Ownership(hashring.Policy{})
	for i, n := range o.Nodes {
		got, share := part(counts[i], total), n.Owned().Fraction()
		rep.Nodes = append(rep.Nodes, NodeReport{
			Name:        n.Name,
			Weight:      n.Weight,
			Zone:        n.Zone,
			Tokens:      n.Tokens,
			Expected:    n.Ideal,
			Keys:        counts[i],
			KeyShare:    got,
			KeyRatio:    got / n.Ideal,
			CircleShare: share,
			CircleRatio: share / n.Ideal,
		})
	}
	rep.Balance = balance(&rep, o)
	weights := sumOfWeights(r)
	for i, c := range changes {
		rep.Changes = append(rep.Changes, movers[i].report(c, weights, total))
	}
	rep.round()
	return rep
}

// mover counts what a change moves. Nodes are known by their index in the ring before it; one that joins has the index
// behind those.
type mover struct {
	kind       string
	ring       *hashring.Ring
	node       int   // that changes
	before     []int // by index in ring: the index before
	nodes      int   // how many there were
	moved      int64
	others     int64 // moved from and to nodes that did not change
	movedByMod int64
}

func newMover(r *hashring.Ring, c change) mover {
	m := mover{kind: c.kind, ring: c.ring, node: r.Len(), nodes: r.Len()}
	index := make(map[string]int, r.Len())
	for i, n := range r.Nodes() {
		index[n.Name] = i
	}
	if i, ok := index[c.node.Name]; ok {
		m.node = i
	}
	for _, n := range c.ring.Nodes() {
		i, ok := index[n.Name]
		if !ok {
			i = r.Len()
		}
		m.before = append(m.before, i)
	}
	return m
}

// look counts the key at pos, which had the given owner, or -1 if the ring was empty.
func (m *mover) look(pos uint64, owner int) {
	now := m.ring.IndexAt(pos)
	if now >= 0 {
		now = m.before[now]
	}
	if now != owner {
		m.moved++
		if now != m.node && owner != m.node {
			m.others++
		}
	}
	if m.kind != double && m.moduloAfter(pos) != modulo(pos, m.nodes) {
		m.movedByMod++
	}
}

// moduloAfter returns which node hash % N gives pos after the change.
func (m *mover) moduloAfter(pos uint64) int {
	if m.kind == join {
		return modulo(pos, m.nodes+1)
	}
	i := modulo(pos, m.nodes-1)
	if i >= m.node {
		i++
	}
	return i
}

// modulo returns pos % n, or -1 if there is nothing to choose from.
func modulo(pos uint64, n int) int {
	if n == 0 {
		return -1
	}
	return int(pos % uint64(n))
}

func (m *mover) report(c change, weights float64, keys int64) ChangeReport {
	rep := ChangeReport{
		Change:        c.kind,
		Node:          c.node.Name,
		Weight:        c.node.Weight,
		Moved:         m.moved,
		MovedShare:    part(m.moved, keys),
		Ideal:         c.ideal(weights),
		BetweenOthers: m.others,
	}
	if c.kind != double {
		rep.Modulo = &Modulo{Moved: m.movedByMod, MovedShare: part(m.movedByMod, keys)}
	}
	return rep
}

// balance returns how evenly the nodes of rep, whose ring has the ownership o, share.
//
// K distinct keys are K draws from shares that are random themselves; see [hashring.Ownership] for their variance.
func balance(rep *Report, o hashring.Ownership) Balance {
	if len(rep.Nodes) == 0 {
		return Balance{}
	}
	circle := &Evenness{o.Owned.Peak, o.Owned.Deviation, o.Theory}
	if rep.Keys == 0 {
		return Balance{Circle: circle}
	}
	var keys Evenness
	total, drawn := float64(rep.Tokens), 0.0
	for _, n := range rep.Nodes {
		keys.Peak = max(keys.Peak, n.KeyRatio)
		keys.Deviation += square(n.KeyRatio - 1)

		p := float64(n.Tokens) / total
		drawn += square(p/n.Expected) * drawVariance(n.Tokens, rep.Tokens) / float64(rep.Keys)
	}
	nodes := float64(len(rep.Nodes))
	keys.Deviation = math.Sqrt(keys.Deviation / nodes)
	keys.Theory = math.Sqrt(square(o.Theory) + drawn/nodes)
	return Balance{&keys, circle}
}

// shareVariance returns the variance of the share of a node with so many of all tokens, relative to its mean squared.
func shareVariance(tokens, all int) float64 {
	v, t := float64(tokens), float64(all)
	return (t - v) / (v * (t + 1))
}

// drawVariance returns what K draws from that share add to its variance, times K, likewise: p(1-p) less the variance.
func drawVariance(tokens, all int) float64 {
	p := float64(tokens) / float64(all)
	return (1-p)/p - shareVariance(tokens, all)
}

func square(x float64) float64 { return x * x }

// part returns n / total, and 0 of nothing.
func part(n, total int64) float64 {
	if total == 0 {
		return 0
	}
	return float64(n) / float64(total)
}
