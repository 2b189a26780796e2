package hashring

import (
	"iter"
	"math"
	"slices"
)

// SharedRanges yields the ranges of which the nodes called a and b are both replicas under p, clockwise: what the two
// compare with each other to find out whether either has missed a write. Neighbouring ones are merged, and the one that
// goes round the end of the circle comes last. With a and b the same they are the ranges of which that node is a replica.
// There are none if either is not in the ring. It costs O(T*n) for n replicas, spent before the first range is yielded.
func (r *Ring) SharedRanges(p Policy, a, b string) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		i, ok := r.find(a)
		j, also := r.find(b)
		if !ok || !also {
			return
		}
		for _, c := range r.shared(p, uint32(i), uint32(j)) {
			if !yield(c.Range) {
				return
			}
		}
	}
}

// shared sweeps over the ring as replicaDiff.sweep does over two, and lets a replicaDiff put the ranges in order.
func (r *Ring) shared(p Policy, a, b uint32) []setChange {
	var d replicaDiff
	s := newSweep(r, p)
	for arc, more := (Range{Through: math.MaxUint64}), true; more; arc.Through = arc.After {
		s.passTo(arc.Through)
		if arc.After, more = s.next(); !more { // the rest is [0, Through]
			arc.After = math.MaxUint64
		}
		if !s.holds(a) || !s.holds(b) {
			continue
		}
		if n := len(d.changes); n > 0 && d.changes[n-1].After == arc.Through {
			d.changes[n-1].After = arc.After
		} else {
			d.changes = append(d.changes, setChange{Range: arc})
		}
	}
	return d.clockwise()
}

// holds reports whether node is a replica of the arc that s is at.
func (s *sweep) holds(node uint32) bool {
	return slices.ContainsFunc(s.held, func(m met) bool { return m.node == node })
}
