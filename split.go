package hashring

// SplitLargest returns the token that halves the largest range of the ring: for Node.Tokens of a node that joins a range
// ring, one whose nodes have explicit tokens, one or a few each. The node takes the first half, (After, token]. When it
// leaves, its range goes to the next node clockwise. (That is the mirror image of rings whose nodes own [start, end).)
//
//	before     a ───────────────── b     b owns (a, b]
//	after      a ────── new ────── b     new owns (a, new], b keeps (new, b]
//
// The ranges here are those of single tokens, also of two neighbouring ones of a node. Of equal ones it is the first from
// position 0 on. ok is false if the ring has no tokens: the first node owns the whole circle, wherever its token is. It
// costs O(T).
func (r *Ring) SplitLargest() (token uint64, ok bool) {
	return r.split(func(uint32) bool { return true })
}

// SplitLargestOf is [Ring.SplitLargest] among the ranges of the node called name: the busiest, perhaps. ok is false if it
// owns no range of two positions or more.
func (r *Ring) SplitLargestOf(name string) (token uint64, ok bool) {
	node, ok := r.find(name)
	if !ok {
		return 0, false
	}
	return r.split(func(owner uint32) bool { return owner == uint32(node) })
}

// split returns the middle of the largest range of a token whose owner is one of those asked for.
func (r *Ring) split(of func(owner uint32) bool) (token uint64, ok bool) {
	n := r.NumTokens()
	if n == 0 {
		return 0, false
	}
	var most uint64 // what the range has beyond its first position
	after := r.tokens[n-1]
	for i, t := range r.tokens[:n] {
		if i > 0 && t == after {
			continue // the arc of an equal token is empty
		}
		if more := t - after - 1; of(r.owners[i]) && more > most { // 2^64-1 for the whole circle
			most, token = more, after+1+more/2
		}
		after = t
	}
	return token, most > 0
}
