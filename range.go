package hashring

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
)

// Range is an arc of the circle: the positions after After, clockwise, up to Through and with it. In a ring each token
// makes one: from the token before it, which is not in it, through itself, which is.
//
//	After < Through      (After, Through]
//	After > Through      (After, 2^64-1] and [0, Through]: it goes round the end
//	After == Through     the whole circle
//
// No Range is empty; the zero Range is the whole circle, as is one made of two equal tokens. Where a ring yields the whole
// circle, both ends are 2^64-1.
type Range struct{ After, Through uint64 }

// Contains reports whether pos is in a.
func (a Range) Contains(pos uint64) bool {
	return pos-a.After-1 <= a.Through-a.After-1 // both count from the first position of a, which is After+1
}

// Intervals yields a as intervals of numbers, first and last position, clockwise: two if it goes on behind 2^64-1, else
// one. They are what a sorted list or a database can be asked for.
func (a Range) Intervals() iter.Seq2[uint64, uint64] {
	return func(yield func(first, last uint64) bool) {
		first := a.After + 1
		if first > a.Through {
			if !yield(first, math.MaxUint64) {
				return
			}
			first = 0
		}
		yield(first, a.Through)
	}
}

// Share returns how much of the circle a is.
func (a Range) Share() Share {
	if a.After == a.Through {
		return Share{Circles: 1}
	}
	return Share{Positions: a.Through - a.After}
}

// Share is an exact part of the circle: a number of positions. It counts whole circles apart, since a circle has 2^64
// positions, one more than a uint64 can hold, and the replicas of all keys make up several circles.
type Share struct {
	Circles   uint64 // of 2^64 positions each
	Positions uint64 // more than those
}

// Add returns s and t together.
func (s Share) Add(t Share) Share {
	positions, carry := bits.Add64(s.Positions, t.Positions, 0)
	return Share{s.Circles + t.Circles + carry, positions}
}

// Compare returns -1 if s is less than t, 0 if it is equal, and +1 if it is more.
func (s Share) Compare(t Share) int {
	return cmp.Or(cmp.Compare(s.Circles, t.Circles), cmp.Compare(s.Positions, t.Positions))
}

// Fraction returns s as a fraction of the circle: 1 is all of it. It is rounded, to a float64, here alone.
func (s Share) Fraction() float64 {
	return float64(s.Circles) + math.Ldexp(float64(s.Positions), -64)
}

// Ranges yields the ranges that the node called name owns, clockwise. Neighbouring ones are merged, so between any two
// there is one of another node. That which goes round the end of the circle, if it is the node's, comes last. There are
// none if the node is not in the ring. It costs O(T), and ranging over it directly does not allocate.
func (r *Ring) Ranges(name string) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		node, ok := r.find(name)
		if !ok {
			return
		}
		for a, owner := range runs(r, r) {
			if owner.old == uint32(node) && !yield(a) {
				return
			}
		}
	}
}

// AllRanges yields the ranges of all nodes with the names of their owners: what [Ring.Ranges] yields for each, together,
// clockwise. It costs O(T).
func (r *Ring) AllRanges() iter.Seq2[Range, string] {
	return func(yield func(Range, string) bool) {
		for a, owner := range runs(r, r) {
			if owner.old != gone && !yield(a, r.names[owner.old]) {
				return
			}
		}
	}
}

// owners are the indexes of the nodes that own a range in two rings; gone stands for none, in a ring without tokens.
type owners struct{ old, new uint32 }

// runs yields the longest ranges on which neither the owner in old nor that in new changes. They cover the circle and
// come clockwise; the one that goes round the end comes last.
//
//	old        10 a          30 b        40 c
//	new                20 a                         50 d
//	           (10,20] b,a  (20,30] b,d  (30,40] c,d  (40,50] a,d  (50,10] a,a
//
// It is one merge of both lists of tokens, O(T), from position 0 to the sentinels: so it meets the range round the end
// first, as [0, 10], which it holds back, and last, as (50, 2^64-1].
func runs(old, new *Ring) iter.Seq2[Range, owners] {
	return func(yield func(Range, owners) bool) {
		oldTokens, oldOwners := old.bounded()
		newTokens, newOwners := new.bounded()
		first := owners{oldOwners[0], newOwners[0]}
		run, by := Range{After: math.MaxUint64}, first // the run that goes on, and who owns it
		head, ended := run, false                      // the first run, once it has ended
		for i, j := 0, 0; ; {
			if here := (owners{oldOwners[i], newOwners[j]}); here != by {
				if !ended {
					head, ended = run, true
				} else if !yield(run, by) {
					return
				}
				run.After, by = run.Through, here
			}
			run.Through = min(oldTokens[i], newTokens[j])
			if run.Through == math.MaxUint64 {
				break
			}
			for oldTokens[i] <= run.Through { // equal ones too: the first owns, the others' arcs are empty
				i++
			}
			for newTokens[j] <= run.Through {
				j++
			}
		}
		switch {
		case !ended: // the whole circle: After is Through
			yield(run, by)
		case by == first:
			yield(Range{run.After, head.Through}, by)
		default: // a token at the end of the circle
			_ = yield(run, by) && yield(head, first)
		}
	}
}

// bounded returns the tokens of r up to a sentinel, and who owns what lies before each: of a ring without tokens too.
func (r *Ring) bounded() ([]uint64, []uint32) {
	if len(r.tokens) == 0 {
		return []uint64{math.MaxUint64}, []uint32{gone}
	}
	return r.tokens, r.owners
}
