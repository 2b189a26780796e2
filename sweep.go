package hashring

import "slices"

// sweep goes over a ring counterclockwise, token by token, and knows the replicas of the arc that it is at. A step costs
// O(n) for n replicas; a walk from every arc would look at ever more tokens, the rarer a zone or the lighter a node is.
//
// The replicas are in rounds: for Spread those of its definition, else one round of all. A round holds one node of each
// group that has so many: a group is a zone for Spread, else each node is its own. Within a round they are in the order
// in which a walk meets them. A token that the sweep passes becomes the first of round 0. The node of its group that was
// there goes on to round 1, the one there to round 2, until the token's own node is found:
//
//	                 round 0     round 1
//	before           b1  a1      b2  a2      (zones a, b)
//	passing a2       a2  b1      a1  b2
//
// Nodes of the last round for which n leaves no room are not held. Every node that is passed comes nearer and none goes
// away, so one that has no room will have none before a token of its zone is passed.
type sweep struct {
	r     *Ring
	at    int      // tokens[at:] have been passed
	held  []met    // the replicas of the positions from tokens[at-1] through tokens[at], in their order
	ends  []int    // of rounds, in held
	group []uint32 // by node; nil if each is its own
}

// met is a node that a walk meets at a place: of a token, counting on behind the last one.
type met struct {
	node, group uint32
	place       int
}

// newSweep returns a sweep over r before its first step: at the positions behind the last token.
func newSweep(r *Ring, p Policy) *sweep {
	s := &sweep{r: r, at: r.NumTokens()}
	n := min(p.n(), r.live)
	if n == 0 {
		return s
	}
	if !p.Spread {
		s.ends = []int{n}
	} else {
		s.group = r.zones.of
		for k, end := 0, 0; end < n; k++ {
			end = min(n, end+r.zones.wide[k])
			s.ends = append(s.ends, end)
		}
	}
	place := make([]int, r.Len()) // of the node's first token
	for i, o := range slices.Backward(r.owners[:s.at]) {
		place[o] = s.at + i
	}
	for _, node := range p.AppendAt(nil, r, 0) {
		s.held = append(s.held, met{uint32(node), s.groupOf(uint32(node)), place[node]})
	}
	return s
}

func (s *sweep) groupOf(node uint32) uint32 {
	if s.group == nil {
		return node
	}
	return s.group[node]
}

// next returns the largest token that has not been passed, if there is one.
func (s *sweep) next() (token uint64, ok bool) {
	if s.at == 0 {
		return 0, false
	}
	return s.r.tokens[s.at-1], true
}

// passTo passes all tokens from pos on. What is held then are the replicas of pos.
func (s *sweep) passTo(pos uint64) {
	for s.at > 0 && s.r.tokens[s.at-1] >= pos {
		s.pass()
	}
}

// pass passes one token.
func (s *sweep) pass() {
	s.at--
	node := s.r.owners[s.at]
	m, start := met{node, s.groupOf(node), s.at}, 0
	for _, end := range s.ends {
		i := start
		for i < end && s.held[i].group != m.group {
			i++
		}
		next := m // what goes on to the next round
		if i < end {
			next = s.held[i]
		} else if i--; s.held[i].place < m.place {
			return // no room in the last round
		}
		for ; i > start && s.held[i-1].place > m.place; i-- {
			s.held[i] = s.held[i-1]
		}
		s.held[i] = m
		if next.node == node { // it was in this round, or there is no round further
			return
		}
		m, start = next, end
	}
}
