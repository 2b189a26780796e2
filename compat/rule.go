package compat

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/clockwise-go/hashring"
)

// Rule is the placement of one program under one configuration, for [hashring.Options]. It fixes the hash of keys, so
// Options.Hash must be nil. The rings of two rules with the same name agree on every key. It never changes, and any
// number of goroutines may use it.
//
// Every change of the nodes places all of them anew, at one hash for each token or four. Which keys move is the program's
// doing: a rule that scales a node by the total weight moves keys between nodes that did not change.
type Rule struct {
	name string
	keys hashring.Hash

	// label returns what the program hashes for a node, or why it refuses the node.
	label func(hashring.Node) (string, error)

	// order is the order in which the program takes servers; nil is that of the list.
	order func(a, b server) int

	// distinct says that the program refuses two servers with one label, and total, if it is not 0, that it cannot add up
	// more weight.
	distinct bool
	total    float64

	// plan sets how many batches of points each server has, which may depend on all of them, and returns what makes them.
	plan func([]server) expander

	// circle is the program's, on which the points lie.
	circle circle

	// lastWins says that of equal points that of the last server owns, not that of the first.
	lastWins bool
}

// server is a node as the program sees it.
type server struct {
	node   int    // index in the list of nodes
	label  string // what is hashed
	weight float64
	count  uint64 // of batches of points
}

// expander calls emit for the points of a server, until it returns false; then it returns false too.
type expander func(s server, emit func(point uint64) bool) bool

// Name returns the program and its settings, as in "twemproxy,hash=md5". [Named] returns the rule again.
func (r *Rule) Name() string { return r.name }

// Hash returns the program's hash of keys, as positions on the ring. A ring of the native rule over it can be compared
// with one of this rule range by range.
func (r *Rule) Hash() hashring.Hash { return r.keys }

// Place emits the tokens of nodes, as [hashring.Placement] says. An error joins a [*hashring.NodeError] for each node
// that the program would refuse, up to 16 and then a count.
func (r *Rule) Place(nodes []hashring.Node, emit func(node int, token uint64) bool) error {
	servers, err := r.admit(nodes)
	if err != nil {
		return err
	}
	if r.order != nil {
		slices.SortStableFunc(servers, r.order)
	}
	expand := r.plan(servers)
	if r.lastWins {
		slices.Reverse(servers)
	}
	r.circle.emitTokens(servers, expand, emit)
	return nil
}

// admit returns nodes as the program sees them, or why it refuses them.
func (r *Rule) admit(nodes []hashring.Node) ([]server, error) {
	servers := make([]server, 0, len(nodes))
	labels := make(map[string]bool)
	total := 0.0
	var refused []error
	for i, n := range nodes {
		label, err := r.label(n)
		switch {
		case err != nil:
		case r.distinct && labels[label]:
			err = refuse("%q is hashed for another server too", label)
		case r.total > 0 && total+n.Weight > r.total:
			err = refuse("with weight %v the weights add up to more than %.0f", n.Weight, r.total)
		}
		if err != nil {
			refused = append(refused, &hashring.NodeError{Index: i, Name: n.Name, Err: err})
			continue
		}
		if r.distinct {
			labels[label] = true
		}
		total += n.Weight
		servers = append(servers, server{node: i, label: label, weight: n.Weight})
	}
	if more := len(refused) - maxProblems; more > 0 {
		refused = append(refused[:maxProblems], fmt.Errorf("compat: and %d more problems", more))
	}
	return servers, errors.Join(refused...)
}

// maxProblems is how many nodes at fault an error names.
const maxProblems = 16

// refuse returns why a program does not take a node.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", hashring.ErrInvalidNode, fmt.Sprintf(format, args...))
}

// badOption returns why a program does not take a setting.
func badOption(format string, args ...any) error {
	return fmt.Errorf("compat: %w: %s", hashring.ErrOptions, fmt.Sprintf(format, args...))
}

// Limits of weights.
const (
	noLimit   = 1 << 53 // up to which a float64 holds every whole number
	maxInt32  = math.MaxInt32
	maxUint32 = math.MaxUint32
)

// whole says why program does not take the weight of n, if that is not a whole number from 1 to limit.
func whole(n hashring.Node, program string, limit float64) error {
	if n.Weight < 1 || n.Weight > limit || n.Weight != math.Trunc(n.Weight) {
		return refuse("weight %v is not a whole number from 1 to %.0f, as %s takes", n.Weight, limit, program)
	}
	return nil
}

// unweighted says why program, which has no weights, does not take n, if its weight is not 1.
func unweighted(n hashring.Node, program string) error {
	if n.Weight != 1 {
		return refuse("weight %v, but %s has no weights", n.Weight, program)
	}
	return nil
}

// labelOf returns the label of n, or its name if it has none.
func labelOf(n hashring.Node) string {
	if n.Label != "" {
		return n.Label
	}
	return n.Name
}

// fixed returns a plan that gives every server batches times its weight.
func fixed(batches uint64, expand expander) func([]server) expander {
	return func(servers []server) expander {
		for i := range servers {
			servers[i].count = batches * uint64(servers[i].weight)
		}
		return expand
	}
}
