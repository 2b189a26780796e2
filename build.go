package hashring

import (
	"cmp"
	"math"
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
		s.tokens, s.owners, s.index = arrange(tokens, owners)
		s.sorted = make([]uint32, len(next))
		for i := range s.sorted {
			s.sorted[i] = uint32(i)
		}
		slices.SortFunc(s.sorted, func(a, b uint32) int { return cmp.Compare(s.names[a], s.names[b]) })
	}
	s.countZones()
	return s, nil
}

// gone stands for the index of a node that is not in a ring, or has other tokens there.
const gone = math.MaxUint32

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
		s.tokens, s.owners, s.index = r.tokens, r.owners, r.index // only zones, labels or the weights of explicit tokens differ
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
	s.tokens, s.owners, s.index = arrange(tokens, owners)
	if kept > 0 {
		s.tokens, s.owners = merge(s.tokens[:added], s.owners[:added], r, to, kept)
		s.index = newIndex(s.tokens[:len(s.tokens)-1])
	}
}

// merge returns the tokens of r that are kept, owned by what to says, merged with those given, and a sentinel. Equal
// tokens are put in the order of their owners.
func merge(tokens []uint64, owners []uint32, r *Ring, to []uint32, kept int) ([]uint64, []uint32) {
	n := kept + len(tokens)
	outT, outO := make([]uint64, 0, n+1), make([]uint32, 0, n+1)
	j := 0
	for i, t := range r.tokens[:r.NumTokens()] {
		o := to[r.owners[i]]
		if o == gone {
			continue
		}
		for j < len(tokens) && (tokens[j] < t || tokens[j] == t && owners[j] < o) {
			outT, outO = append(outT, tokens[j]), append(outO, owners[j])
			j++
		}
		outT, outO = append(outT, t), append(outO, o)
	}
	outT, outO = append(outT, tokens[j:]...), append(outO, owners[j:]...)
	return append(outT, math.MaxUint64), append(outO, outO[0])
}

// arrange returns tokens and their owners in ascending order, equal ones in the order given, with a sentinel, and their
// index. Without tokens it returns nothing.
//
// It is a bucket sort into the buckets of the index, which fall out of it: in O(n) where tokens are spread evenly. A
// bucket in which they crowd is sorted by comparisons, so that the worst case is O(n log n).
func arrange(tokens []uint64, owners []uint32) ([]uint64, []uint32, []uint32) {
	if len(tokens) == 0 {
		return nil, nil, nil
	}
	n := buckets(len(tokens))
	index := make([]uint32, n+1)
	for _, t := range tokens {
		index[bucketOf(t, n)+1]++
	}
	for b := range n {
		index[b+1] += index[b]
	}
	outT, outO := make([]uint64, len(tokens)+1), make([]uint32, len(tokens)+1)
	for i, t := range tokens { // moves the start of each bucket to its end, the start of the next
		b := bucketOf(t, n)
		outT[index[b]], outO[index[b]] = t, owners[i]
		index[b]++
	}
	copy(index[1:], index[:n])
	index[0] = 0
	for b := range n {
		if i, end := index[b], index[b+1]; end-i > 1 {
			sortBucket(outT[i:end], outO[i:end])
		}
	}
	outT[len(tokens)], outO[len(tokens)] = math.MaxUint64, outO[0]
	return outT, outO, index
}

// sortBucket sorts tokens with their owners, equal ones in the order given.
func sortBucket(tokens []uint64, owners []uint32) {
	if len(tokens) > 4*crowd {
		sortCrowd(tokens, owners)
		return
	}
	for i := 1; i < len(tokens); i++ {
		t, o, j := tokens[i], owners[i], i
		for ; j > 0 && tokens[j-1] > t; j-- {
			tokens[j], owners[j] = tokens[j-1], owners[j-1]
		}
		tokens[j], owners[j] = t, o
	}
}

// sortCrowd is sortBucket for many tokens.
func sortCrowd(tokens []uint64, owners []uint32) {
	type held struct {
		token        uint64
		place, owner uint32
	}
	all := make([]held, len(tokens))
	for i, t := range tokens {
		all[i] = held{t, uint32(i), owners[i]}
	}
	slices.SortFunc(all, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.place, b.place))
	})
	for i, h := range all {
		tokens[i], owners[i] = h.token, h.owner
	}
}
