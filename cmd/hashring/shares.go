package main

import (
	"math"
	"math/bits"

	"github.com/clockwise-go/hashring"
)

// circleShares returns by node index which part of the circle each node of r owns. The widths are added up as integers,
// so a share is off by no more than the rounding of one float64.
func circleShares(r *hashring.Ring) []float64 {
	type width struct{ hi, lo uint64 } // up to 2^64, which is what the whole circle measures
	widths := make([]width, r.Len())
	add := func(node int, arc uint64) {
		w := &widths[node]
		var carry uint64
		w.lo, carry = bits.Add64(w.lo, arc, 0)
		w.hi += carry
	}

	var first, prev uint64
	owner := -1 // of the first token
	for token, node := range r.TokensFrom(0) {
		switch {
		case owner < 0:
			first, owner = token, node
		case token != prev: // of equal tokens the first owns, and the others' arcs are empty
			add(node, token-prev)
		}
		prev = token
	}
	switch {
	case owner < 0:
	case first == prev: // one position: its arc goes all the way round
		widths[owner].hi++
	default:
		add(owner, first-prev)
	}

	shares := make([]float64, r.Len())
	for i, w := range widths {
		shares[i] = float64(w.hi) + math.Ldexp(float64(w.lo), -64)
	}
	return shares
}
