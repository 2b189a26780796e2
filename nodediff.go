package hashring

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// NodeDiff is a node that is not the same in two rings.
type NodeDiff struct {
	Name string

	// Old and New are the node as the rings hold it. A node that a ring has not is the zero Node there, without a name; then
	// the fields below are all false.
	Old, New Node

	Weight, Zone, Label bool // which of these are not the same

	// Tokens is whether the node holds other tokens on the rings: because it carries others, or because the rings have
	// other options, or because under a Placement its tokens depend on the other nodes.
	Tokens bool
}

// DiffNodes yields the nodes that are not the same in two rings, in the order of names: those that only one has, and
// those of another weight, zone or label, or with other tokens. It is for two processes whose rings should be one and have
// another [Ring.Fingerprint] each: the one sends its ring to the other, as [Ring.AppendBinary] encodes it, and that lists
// what they disagree about.
//
// Rings that have no such node and yet other fingerprints have other options, or under a Placement another order of
// nodes: [Ring.String] shows the former. It costs O(T) and memory for all tokens, spent before the first node is yielded.
func DiffNodes(old, new *Ring) iter.Seq[NodeDiff] {
	return func(yield func(NodeDiff) bool) {
		oldNodes, newNodes := old.heldNodes(), new.heldNodes()
		for len(oldNodes) > 0 || len(newNodes) > 0 {
			var d NodeDiff
			var a, b *heldNode
			order := 0
			switch {
			case len(oldNodes) == 0:
				order = 1
			case len(newNodes) == 0:
				order = -1
			default:
				order = strings.Compare(oldNodes[0].Name, newNodes[0].Name)
			}
			if order <= 0 {
				a, oldNodes = &oldNodes[0], oldNodes[1:]
				d.Name, d.Old = a.Name, a.clone()
			}
			if order >= 0 {
				b, newNodes = &newNodes[0], newNodes[1:]
				d.Name, d.New = b.Name, b.clone()
			}
			if order == 0 {
				d.Weight, d.Zone, d.Label = a.Weight != b.Weight, a.Zone != b.Zone, a.Label != b.Label
				d.Tokens = !slices.Equal(a.held, b.held)
				if !d.Weight && !d.Zone && !d.Label && !d.Tokens {
					continue
				}
			}
			if !yield(d) {
				return
			}
		}
	}
}

// heldNode is a node with the tokens that it holds on a ring, ascending.
type heldNode struct {
	Node
	held []uint64
}

// heldNodes returns the nodes of r by name.
func (r *Ring) heldNodes() []heldNode {
	nodes, counts := make([]heldNode, len(r.nodes)), make([]int, len(r.nodes))
	owners := r.owners[:r.NumTokens()]
	for _, o := range owners {
		counts[o]++
	}
	all := make([]uint64, len(owners))
	for i, n := range r.nodes {
		nodes[i] = heldNode{n, all[:0:counts[i]]}
		all = all[counts[i]:]
	}
	for i, o := range owners {
		nodes[o].held = append(nodes[o].held, r.tokens[i])
	}
	slices.SortFunc(nodes, func(a, b heldNode) int { return cmp.Compare(a.Name, b.Name) })
	return nodes
}

// String describes d in one line, as in "b: weight 1 and 2, other tokens".
func (d NodeDiff) String() string {
	if d.New.Name == "" {
		return fmt.Sprintf("%q: in the old ring only", d.Name)
	}
	if d.Old.Name == "" {
		return fmt.Sprintf("%q: in the new ring only", d.Name)
	}
	var what []string
	if d.Weight {
		what = append(what, fmt.Sprintf("weight %v and %v", d.Old.Weight, d.New.Weight))
	}
	if d.Zone {
		what = append(what, fmt.Sprintf("zone %q and %q", d.Old.Zone, d.New.Zone))
	}
	if d.Label {
		what = append(what, fmt.Sprintf("label %q and %q", d.Old.Label, d.New.Label))
	}
	if d.Tokens {
		what = append(what, "other tokens")
	}
	return fmt.Sprintf("%q: %s", d.Name, strings.Join(what, ", "))
}
