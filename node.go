package hashring

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Node is a member of a ring.
type Node struct {
	// Name is the node's identity: any non-empty bytes, compared byte for byte, unique in a ring. It need not be an
	// address; a name that outlives the machine behind it keeps the node's keys where they are when that is replaced.
	Name string

	// Weight is the node's share relative to the others. 0 stands for 1, in a Go literal, and is stored as 1. Negative,
	// NaN and infinite weights are [ErrInvalidNode]. To drain a node is to remove it.
	Weight float64

	// Zone is the node's failure domain, as a rack or a data centre. [Ring.Spread] keeps replicas in distinct zones.
	Zone string

	// Label is what a [Placement] hashes where that is not the name. The native rule does not look at it.
	Label string

	// Tokens are the node's exact positions, in any order, in place of those of the native rule. Nodes with and without
	// them mix. Weight then counts only for load bounds and reports. A token twice in one node, or tokens together with
	// a Placement, are [ErrInvalidNode].
	Tokens []uint64
}

// Nodes returns nodes of the default weight with the given names.
func Nodes(names ...string) []Node {
	nodes := make([]Node, len(names))
	for i, name := range names {
		nodes[i].Name = name
	}
	return nodes
}

// The causes of errors, for errors.Is.
var (
	ErrInvalidNode   = errors.New("invalid node")      // an empty name, a weight that is not a positive number, a repeated token
	ErrDuplicateNode = errors.New("duplicate node")    // a name twice in one call
	ErrTooManyTokens = errors.New("too many tokens")   // more than Options.MaxTokens
	ErrOptions       = errors.New("invalid options")   // an option out of range, or two that contradict each other
	ErrHash          = errors.New("wrong hash")        // two rings place keys differently, or a ring's hash is not at hand
	ErrPlacement     = errors.New("placement failed")  // a Placement returned an error, named a node that is not there, or is not at hand
	ErrFormat        = errors.New("invalid format")    // what is to be decoded is not the encoding of a ring
	ErrFingerprint   = errors.New("wrong fingerprint") // a decoded ring is not the one that was encoded
)

// NodeError says which node of a call is at fault, and why. [New], [Ring.With] and [Live.Set] report all nodes that are
// not valid, up to 16 problems and then a count, in one error; errors.As finds the first. Of nodes that are valid, but
// too many, they report the first for which there is no room.
type NodeError struct {
	Index int    // in the nodes passed to the call; -1 for one that was in the ring before
	Name  string // of the node
	Err   error  // wraps one of the causes above
}

// Error names the node, by its index unless it was in the ring before, and says what is wrong with it.
func (e *NodeError) Error() string {
	name := e.Name
	if len(name) > 64 {
		name = name[:64] + "…"
	}
	if e.Index < 0 {
		return fmt.Sprintf("hashring: node %q: %v", name, e.Err)
	}
	return fmt.Sprintf("hashring: node %d (%q): %v", e.Index, name, e.Err)
}

// Unwrap returns e.Err.
func (e *NodeError) Unwrap() error { return e.Err }

// checked returns copies of nodes in the form that a ring stores: no weight is 0, tokens are ascending and not shared
// with the caller. It reports every node that is not valid, and every name that is there twice.
func checked(nodes []Node, placed bool) ([]Node, error) {
	var p problems
	out := slices.Clone(nodes)
	seen := make(map[string]struct{}, len(out))
	for i := range out {
		n := &out[i]
		fail := func(cause error, format string, args ...any) {
			p.add(&NodeError{i, n.Name, fmt.Errorf("%w: %s", cause, fmt.Sprintf(format, args...))})
		}
		if _, dup := seen[n.Name]; dup {
			fail(ErrDuplicateNode, "the name is in the list more than once")
		}
		seen[n.Name] = struct{}{}
		if n.Name == "" {
			fail(ErrInvalidNode, "the name is empty")
		}
		if n.Weight == 0 { // and -0
			n.Weight = 1
		} else if !(n.Weight > 0) || math.IsInf(n.Weight, 1) {
			fail(ErrInvalidNode, "weight %v is not a positive number", n.Weight)
		}
		if len(n.Tokens) == 0 {
			n.Tokens = nil
			continue
		}
		if placed {
			fail(ErrInvalidNode, "it has tokens, but the ring's Placement decides those")
		}
		n.Tokens = slices.Clone(n.Tokens)
		slices.Sort(n.Tokens)
		for j := 1; j < len(n.Tokens); j++ {
			if n.Tokens[j] == n.Tokens[j-1] {
				fail(ErrInvalidNode, "token %d is there more than once", n.Tokens[j])
				break
			}
		}
	}
	return out, p.err()
}

// sameNode reports whether a and b, both checked, are equal.
func sameNode(a, b Node) bool {
	return a.Name == b.Name && a.Weight == b.Weight && a.Zone == b.Zone && a.Label == b.Label && slices.Equal(a.Tokens, b.Tokens)
}

func byName(a, b Node) int { return strings.Compare(a.Name, b.Name) }

// clone returns a copy of n that shares no memory that can be written to.
func (n Node) clone() Node {
	n.Tokens = slices.Clone(n.Tokens)
	return n
}

// problems collects errors, but keeps no more than a reader would want to see.
type problems struct {
	kept []error
	more int
}

func (p *problems) add(err error) {
	if len(p.kept) < 16 {
		p.kept = append(p.kept, err)
	} else {
		p.more++
	}
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.kept, fmt.Errorf("hashring: and %d more problems", p.more))...)
	}
	return errors.Join(p.kept...)
}
