package main

import (
	"fmt"
	"slices"

	"github.com/clockwise-go/hashring"
)

// The kinds of change.
const (
	join   = "join"
	leave  = "leave"
	double = "double"
)

// change is a change of one node of a ring.
type change struct {
	kind string
	node hashring.Node  // as it joins, or as it was before
	ring *hashring.Ring // after it
}

// changing are the flags that say which nodes join, leave and double their weight.
type changing struct {
	*flags
	join, joinWeight, leave, double string
	joiner                          hashring.Node // what join and joinWeight say, once read
}

func (f *flags) changing() *changing {
	c := changing{flags: f}
	f.StringVar(&c.join, join, "joiner", "")
	f.StringVar(&c.joinWeight, "joinweight", "1", "") // parsed later, with an error that knows why a weight is not 0
	f.StringVar(&c.leave, leave, "", "")
	f.StringVar(&c.double, double, "", "")
	return &c
}

// read sets joiner to what the flags say.
func (c *changing) read(p *problems) {
	c.joiner = hashring.Node{Name: c.join}
	var err error
	if c.joiner.Weight, err = parseWeight(c.joinWeight); err != nil {
		p.input("-joinweight", "%v", err)
	}
}

// check reports flags that make no change of the nodes in list.
func (c *changing) check(list nodeList, p *problems) {
	has := func(name string) bool {
		return slices.ContainsFunc(list.nodes, func(n hashring.Node) bool { return n.Name == name })
	}
	switch why := unprintable(c.join); {
	case c.join == "":
		p.input("-join", "the name is empty")
	case why != "":
		p.input("-join", "the name %q %s", c.join, why)
	case has(c.join):
		p.input("-join", "%q is one of the nodes; give the one that joins another name", c.join)
	}
	if c.given[leave] && !has(c.leave) {
		p.input("-leave", "there is no node %q", c.leave)
	}
	if c.given[double] && !has(c.double) {
		p.input("-double", "there is no node %q", c.double)
	}
}

// of returns the changes of those kinds of ring, which has nodes. Where no flag says which node it is, it is the first.
func (c *changing) of(ring *hashring.Ring, p *problems, kinds ...string) []change {
	var changes []change
	for _, kind := range kinds {
		name := ring.Name(0)
		switch {
		case kind == leave && c.given[leave]:
			name = c.leave
		case kind == double && c.given[double]:
			name = c.double
		}
		node, _ := ring.Node(name)
		var after *hashring.Ring
		var err error
		switch kind {
		case join:
			node = c.joiner
			after, err = ring.With(node)
		case leave:
			after, err = ring.Without(node.Name)
		case double:
			heavy := node
			heavy.Weight *= 2
			after, err = ring.With(heavy)
		}
		if err != nil {
			p.input("-"+kind, "%v", cause(err))
		}
		changes = append(changes, change{kind, node, after})
	}
	return changes
}

// ideal returns the least part of all keys that the change must move for each node to have what its weight says, of nodes
// that had weights in sum before.
func (c change) ideal(weights float64) float64 {
	switch w := c.node.Weight; c.kind {
	case join:
		return w / (weights + w)
	case leave:
		return w / weights
	default: // 2w/(weights+w) - w/weights
		return w / weights * ((weights - w) / (weights + w))
	}
}

// describe says in words what a change of a node with that weight, before it if it doubles, is.
func describe(kind, node string, w float64) string {
	switch kind {
	case join:
		return fmt.Sprintf("%s joins, weight %s", node, weight(w))
	case leave:
		return node + " leaves"
	default:
		return fmt.Sprintf("%s doubles, weight %s to %s", node, weight(w), weight(2*w))
	}
}

// sumOfWeights returns the weights of all nodes of r together.
func sumOfWeights(r *hashring.Ring) float64 {
	sum := 0.0
	for _, n := range r.Nodes() {
		sum += n.Weight
	}
	return sum
}
