package compat

import (
	"cmp"
	"slices"
)

// circle says how a program's points and its search become tokens and the ring's search.
type circle struct {
	narrow  bool // points have 32 bits; else 64
	strict  bool // a point owns the hashes below it, not its own
	nearest bool // a point owns what is nearer to it than to any other; halfway belongs to the lower of two
}

// token returns the token of a point. Not with nearest.
func (c circle) token(point uint64) uint64 {
	if c.narrow {
		point <<= 32
	}
	if c.strict {
		point-- // and 0 wraps to the largest position: only going round reaches it, which is what it is for
	}
	return point
}

// emitTokens emits the tokens of the points of servers.
func (c circle) emitTokens(servers []server, expand expander, emit func(node int, token uint64) bool) {
	if c.nearest {
		emitNearest(servers, expand, emit)
		return
	}
	for _, s := range servers {
		if !expand(s, func(point uint64) bool { return emit(s.node, c.token(point)) }) {
			return
		}
	}
}

// emitNearest emits a token for each of the points of servers, which are distinct, on a circle of 32 bits: halfway to the
// next point, rounded down, since beyond that the next is nearer. The distance is taken along the circle, so the token of
// the last point may lie beyond 0. It holds all points before it emits the first token.
//
//	points    10(a)        20(b)      29(c)
//	tokens         15(a)       24(b)         the next: over 0
//	owners   ...aaaaaabbbbbbbbbbcccc...
func emitNearest(servers []server, expand expander, emit func(node int, token uint64) bool) {
	type held struct {
		point uint32
		node  int
	}
	var points []held
	for _, s := range servers {
		expand(s, func(point uint64) bool {
			points = append(points, held{uint32(point), s.node})
			return true
		})
	}
	slices.SortFunc(points, func(a, b held) int { return cmp.Compare(a.point, b.point) })
	for i, p := range points {
		next := points[(i+1)%len(points)].point
		if !emit(p.node, uint64(p.point+(next-p.point)/2)<<32) {
			return
		}
	}
}
