package compat

import (
	"iter"

	"github.com/clockwise-go/hashring"
)

// Moves is what a change from one ring to another moves, of some keys.
type Moves struct {
	Keys  int          // that were asked for
	Moved int          // of these, those whose owner is another
	Pairs map[Pair]int // by their owners, how many moved; "" where a ring has none
}

// Pair is the owners of a key before and after.
type Pair struct{ From, To string }

// CountMoves asks both rings for each key. It works for any two rings, also if they hash keys differently, so that no range
// of positions can be compared: it says what a change of program or library costs, over keys of your own. Nodes are the
// same if their names are.
func CountMoves(from, to *hashring.Ring, keys iter.Seq[string]) Moves {
	m := Moves{Pairs: make(map[Pair]int)}
	for key := range keys {
		m.Keys++
		before, _ := from.Owner(key)
		after, _ := to.Owner(key)
		if before != after {
			m.Moved++
			m.Pairs[Pair{before, after}]++
		}
	}
	return m
}
