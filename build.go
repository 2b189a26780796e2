package hashring

import (
	"cmp"
	"slices"
)

// derive returns the ring of next with the options of r, or r itself if it is that. The nodes of next are checked, and
// in any order unless a Placement says which. call is the list that was given by the caller, for errors.
//
// There is no other way to a ring: New derives from the empty one.
func (r *Ring) derive(next []Node, call []Node) (*Ring, error) {
	opts := r.Options()
	if opts.Placement == nil {
		slices.SortFunc(next, byName)
	}
	if slices.EqualFunc(r.nodes, next, sameNode) {
		return r, nil
	}
	s := &Ring{nodes: next, hash: r.hash, opts: opts, names: make([]string, len(next))}
	for i, n := range next {
		s.names[i] = n.Name
	}
	if opts.Placement == nil {
		s.placeFrom(r)
	} else {
		tokens, owners, err := place(opts.Placement, next, opts.MaxTokens)
		if err != nil {
			return nil, reindex(err, call)
		}
		s.circle = arrange(tokens, owners)
		s.sorted = make([]uint32, len(next))
		for i := range s.sorted {
			s.sorted[i] = uint32(i)
		}
		slices.SortFunc(s.sorted, func(a, b uint32) int { return cmp.Compare(s.names[a], s.names[b]) })
	}
	s.countZones()
	return s, nil
}

// placeFrom sets the tokens of s, whose nodes are set, under the native rule. Nodes that have the same tokens in r, a
// ring with the same options, keep those; only the others' are made and sorted.
func (s *Ring) placeFrom(r *Ring) {
	var fresh []int                       // nodes of s whose tokens are to be made
	to := make([]uint32, len(r.nodes))    // for nodes of r that keep their tokens, the index in s; else gone
	kept, added, i := r.NumTokens(), 0, 0 // of tokens
	drop := func() {
		to[i] = gone
		kept -= tokenCount(r.nodes[i], s.opts.VirtualNodes)
		i++
	}
	for n, node := range s.nodes { // both lists are in the order of names
		for i < len(r.nodes) && r.nodes[i].Name < node.Name {
			drop()
		}
		if i < len(r.nodes) && r.nodes[i].Name == node.Name {
			if sameTokens(r.nodes[i], node, s.opts.VirtualNodes) {
				to[i] = uint32(n)
				i++
				continue
			}
			drop()
		}
		fresh = append(fresh, n)
		added += tokenCount(node, s.opts.VirtualNodes)
	}
	for i < len(r.nodes) {
		drop()
	}
	if added == 0 && kept == r.NumTokens() {
		s.circle = r.circle // only zones, labels or the weights of explicit tokens differ
		return
	}

	tokens, owners := make([]uint64, 0, added), make([]uint32, 0, added)
	for _, n := range fresh {
		if node := s.nodes[n]; node.Tokens != nil {
			tokens = append(tokens, node.Tokens...)
		} else {
			tokens = appendNative(tokens, nativeSeed(node.Name, s.hash), tokenCount(node, s.opts.VirtualNodes))
		}
		for len(owners) < len(tokens) {
			owners = append(owners, uint32(n))
		}
	}
	s.circle = arrange(tokens, owners)
	if kept > 0 {
		s.circle = merge(r.circle, to, kept, s.circle)
	}
}
