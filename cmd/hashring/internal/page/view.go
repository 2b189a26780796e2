package page

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/clockwise-go/hashring"
)

// What a page may ask for at most: more could neither be seen nor be drawn in a moment.
const (
	maxNodes        = 64
	maxTokens       = 1 << 14
	maxVirtualNodes = 1024
	maxSteps        = 100 // of a walk
	minWeight       = 1e-3
	maxWeight       = 1e3
)

// Node is a node as the page knows it.
type Node struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
	Zone   string  `json:"zone"`
}

// Question is what the page asks: everything that it shows follows from it, so the server keeps nothing.
type Question struct {
	Nodes        []Node `json:"nodes"`
	Before       []Node `json:"before"` // the nodes before the last change
	VirtualNodes int    `json:"virtualNodes"`
	Hash         string `json:"hash"`
	Key          string `json:"key"`
	Replicas     int    `json:"replicas"`
	Spread       bool   `json:"spread"`
}

// Answer is what the page shows. Places on the circle and lengths are parts of it. Nodes are named by their index in
// Nodes, but in Moved and Flows, where they may be gone.
type Answer struct {
	Nodes       []NodeAnswer `json:"nodes"`
	Tokens      []Place      `json:"tokens"`
	Arcs        []Arc        `json:"arcs"`
	Peak        float64      `json:"peak"`
	Deviation   float64      `json:"deviation"`
	Theory      float64      `json:"theory"`
	Fingerprint string       `json:"fingerprint"`
	Walk        *Walk        `json:"walk"` // null without nodes
	Moved       []Moved      `json:"moved"`
	MovedShare  float64      `json:"movedShare"`
	Flows       []Flow       `json:"flows"`
}

// NodeAnswer is what a node has.
type NodeAnswer struct {
	Node
	Tokens int     `json:"tokens"`
	Share  float64 `json:"share"`
	Ratio  float64 `json:"ratio"` // to what its weight says
}

// Place is a token.
type Place struct {
	At   float64 `json:"at"`
	Node int     `json:"node"`
}

// Arc is a range with its owner.
type Arc struct {
	Start  float64 `json:"start"`
	Length float64 `json:"length"`
	Node   int     `json:"node"`
}

// Walk is the way from a key to its replicas.
type Walk struct {
	At       float64 `json:"at"`
	Position string  `json:"position"` // in hexadecimal
	Nodes    []int   `json:"nodes"`    // the replicas, the owner first
	Steps    []Step  `json:"steps"`
}

// Step is a token that the walk comes to.
type Step struct {
	Place
	Rank int  `json:"rank"` // which replica its node is, from 0, where the node is met first; else -1
	Met  bool `json:"met"`  // the node was met before
}

// Moved is an arc that changed its owner. From or To is "" for nobody.
type Moved struct {
	Start  float64 `json:"start"`
	Length float64 `json:"length"`
	From   string  `json:"from"`
	To     string  `json:"to"`
}

// Flow is what moved from one node to another in total.
type Flow struct {
	From  string  `json:"from"`
	To    string  `json:"to"`
	Share float64 `json:"share"`
}

// answer answers q. The error, of all that is not right, is for who looks at the page.
func answer(q Question) (*Answer, error) {
	var wrong []error
	if q.VirtualNodes < 1 || q.VirtualNodes > maxVirtualNodes {
		wrong = append(wrong, fmt.Errorf("%d virtual nodes are not between 1 and %d", q.VirtualNodes, maxVirtualNodes))
	}
	if q.Replicas < 1 || q.Replicas > maxNodes {
		wrong = append(wrong, fmt.Errorf("%d replicas are not between 1 and %d", q.Replicas, maxNodes))
	}
	hash, ok := hashring.HashNamed(q.Hash)
	if !ok {
		wrong = append(wrong, fmt.Errorf("there is no hash %q", q.Hash))
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	opts := &hashring.Options{Hash: hash, VirtualNodes: q.VirtualNodes, MaxTokens: maxTokens}
	ring, err := build(q.Nodes, opts)
	if err != nil {
		return nil, err
	}
	before, err := build(q.Before, opts)
	if err != nil {
		return nil, err
	}
	a := describe(ring)
	if ring.NumTokens() > 0 {
		a.Walk = walk(ring, q.Key, hashring.Policy{N: q.Replicas, Spread: q.Spread})
	}
	return a, a.addMoves(before, ring)
}

// build returns the ring of nodes.
func build(nodes []Node, opts *hashring.Options) (*hashring.Ring, error) {
	if len(nodes) > maxNodes {
		return nil, fmt.Errorf("there are %d nodes; the page shows %d", len(nodes), maxNodes)
	}
	var wrong []error
	list := make([]hashring.Node, len(nodes))
	for i, n := range nodes {
		if !(n.Weight >= minWeight && n.Weight <= maxWeight) { // 0 too: to drain a node is to remove it
			wrong = append(wrong, fmt.Errorf("node %q: weight %v is not between %v and %v",
				n.Name, n.Weight, minWeight, maxWeight))
		}
		list[i] = hashring.Node{Name: n.Name, Weight: n.Weight, Zone: n.Zone}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return hashring.New(list, opts)
}

// describe returns what a ring is.
func describe(r *hashring.Ring) *Answer {
	o := r.Ownership(hashring.Policy{})
	a := &Answer{
		Nodes: []NodeAnswer{}, Tokens: []Place{}, Arcs: []Arc{}, Moved: []Moved{}, Flows: []Flow{},
		Peak: o.Owned.Peak, Deviation: o.Owned.Deviation, Theory: o.Theory,
		Fingerprint: fmt.Sprintf("%016x", r.Fingerprint()),
	}
	index := make(map[string]int)
	for i, n := range o.Nodes {
		index[n.Name] = i
		share := n.Owned().Fraction()
		a.Nodes = append(a.Nodes, NodeAnswer{Node{n.Name, n.Weight, n.Zone}, n.Tokens, share, share / n.Ideal})
	}
	for token, name := range r.Tokens() {
		a.Tokens = append(a.Tokens, Place{part(token), index[name]})
	}
	for arc, name := range r.AllRanges() {
		a.Arcs = append(a.Arcs, Arc{part(arc.After), arc.Share().Fraction(), index[name]})
	}
	return a
}

// part returns where on the circle pos is.
func part(pos uint64) float64 { return math.Ldexp(float64(pos), -64) }

// walk returns the way from key to its replicas, as far as it is shown.
func walk(r *hashring.Ring, key string, policy hashring.Policy) *Walk {
	pos := r.Position(key)
	w := &Walk{part(pos), "0x" + strconv.FormatUint(pos, 16), policy.AppendAt(nil, r, pos), []Step{}}
	met := make(map[int]bool)
	left := len(w.Nodes)
	for token, node := range r.TokensFrom(pos) {
		step := Step{Place{part(token), node}, -1, met[node]}
		if !met[node] {
			if step.Rank = slices.Index(w.Nodes, node); step.Rank >= 0 {
				left--
			}
		}
		met[node] = true
		if w.Steps = append(w.Steps, step); left == 0 || len(w.Steps) == maxSteps {
			break
		}
	}
	return w
}

// addMoves adds what moved from old to new.
func (a *Answer) addMoves(old, new *hashring.Ring) error {
	moves, err := hashring.Diff(old, new)
	if err != nil {
		return err
	}
	var sum hashring.Share
	for m := range moves {
		a.Moved = append(a.Moved, Moved{part(m.After), m.Share().Fraction(), m.From, m.To})
		sum = sum.Add(m.Share())
	}
	a.MovedShare = sum.Fraction()
	for _, f := range hashring.Summary(moves) {
		a.Flows = append(a.Flows, Flow{f.From, f.To, f.Share.Fraction()})
	}
	return nil
}
