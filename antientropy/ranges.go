package antientropy

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/clockwise-go/hashring"
)

// A position of a range is counted by its offset, from 0 for the first, After+1, to extent for the last, Through. So
// ranges that go round the end of the circle, and the whole circle, are like any other.

// extent returns the offset of the last position of a: one less than the number of its positions, which may be 2^64.
func extent(a hashring.Range) uint64 { return a.Through - a.After - 1 }

// offset returns the offset of pos, which is in a.
func offset(a hashring.Range, pos uint64) uint64 { return pos - a.After - 1 }

// behind returns the part of a that lies behind pos, or false if pos is its last position.
func behind(a hashring.Range, pos uint64) (hashring.Range, bool) {
	return hashring.Range{After: pos, Through: a.Through}, pos != a.Through
}

// atMost returns p, or the number of positions in a if that is less.
func atMost(a hashring.Range, p int) int {
	if e := extent(a); e < uint64(p) {
		return int(e) + 1
	}
	return p
}

// numParts returns into how many parts a is split that has n items: so many that a part has eight or more of them on
// average, for with fewer the fingerprints would take more bytes than they save, but fanOut at most.
func numParts(a hashring.Range, n, fanOut int) int { return atMost(a, min(max(1, n/8), fanOut)) }

// part returns part i of the p parts into which a is split, where p is at most the number of its positions. They are equal
// but for rounding: part i begins at offset floor(i*w/p) for a width of w.
func part(a hashring.Range, i, p int) hashring.Range {
	start := func(i int) uint64 { // i*(extent+1)/p, in 128 bits; i < p, so the quotient is less than 2^64
		hi, lo := bits.Mul64(uint64(i), extent(a))
		lo, carry := bits.Add64(lo, uint64(i), 0)
		q, _ := bits.Div64(hi+carry, lo, uint64(p))
		return q
	}
	b := hashring.Range{After: a.After + start(i), Through: a.Through}
	if i+1 < p {
		b.Through = a.After + start(i+1)
	}
	return b
}

// union returns the ranges that cover what those given cover, without overlaps and as long as they can be, clockwise.
// That which goes round the end of the circle comes last.
func union(ranges []hashring.Range) []hashring.Range {
	if len(ranges) < 2 {
		return slices.Clone(ranges)
	}
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b hashring.Range) int { return cmp.Compare(a.After, b.After) })
	out := sorted[:0]
	for _, a := range sorted {
		if n := len(out); n > 0 && touches(out[n-1], a.After) {
			out[n-1] = joined(out[n-1], a)
		} else {
			out = append(out, a)
		}
	}
	// The last may reach round the end of the circle, over the first ones.
	first, last := 0, len(out)-1
	for ; first < last && touches(out[last], out[first].After); first++ {
		out[last] = joined(out[last], out[first])
	}
	return out[first:]
}

// touches reports whether a range after pos would begin in a or at its end.
func touches(a hashring.Range, pos uint64) bool {
	return pos-a.After <= a.Through-a.After || a.After == a.Through
}

// joined returns a and b together, where b begins in a or at its end.
func joined(a, b hashring.Range) hashring.Range {
	if a.After == a.Through {
		return a
	}
	// Where b ends, counted from a.After: at 2^64 or beyond, it closes the circle.
	end, round := bits.Add64(b.After-a.After, extent(b), 0)
	if round == 0 && end+1 != 0 {
		return hashring.Range{After: a.After, Through: a.After + max(end+1, a.Through-a.After)}
	}
	return hashring.Range{After: a.After, Through: a.After}
}
