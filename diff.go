package hashring

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Move is a range of the circle that has another owner in one ring than in another. From or To is "" where one of the
// rings has no tokens, so that nothing owns the range.
type Move struct {
	Range
	From, To string
}

// Diff yields what moves from one node to another between two rings: each range as long as it can be, clockwise, the one
// that goes round the end of the circle last. It does not matter how the rings came about, nor what their weights,
// options and placements are. Between rings that [Ring.With] and [Ring.Without] derive, all moves are to or from the nodes
// named in the call.
//
// The error is [ErrHash] if the rings have tokens and another hash of keys each: then a key has two positions, and
// [DiffKeys] says which of your keys move. Diff costs O(T), spent while the moves are ranged over: one merge of both
// lists of tokens.
func Diff(old, new *Ring) (iter.Seq[Move], error) {
	if err := samePositions(old, new); err != nil {
		return nil, err
	}
	return func(yield func(Move) bool) {
		for a, by := range runs(old, new) {
			if m := (Move{a, old.nameOf(by.old), new.nameOf(by.new)}); m.From != m.To && !yield(m) {
				return
			}
		}
	}, nil
}

// nameOf is Name, and "" for gone.
func (r *Ring) nameOf(node uint32) string {
	if node == gone {
		return ""
	}
	return r.names[node]
}

// samePositions returns an error if a key has another position in a than in b, and both place keys.
func samePositions(a, b *Ring) error {
	if a.NumTokens() == 0 || b.NumTokens() == 0 || sameHash(a.hash, b.hash) {
		return nil
	}
	if hashName(a.hash) == hashName(b.hash) {
		return fmt.Errorf("hashring: %w: two hashes called %s give a key two positions", ErrHash, hashName(a.hash))
	}
	return fmt.Errorf("hashring: %w: one ring places keys by %s, the other by %s", ErrHash, hashName(a.hash), hashName(b.hash))
}

// Flow is what moves from one node to another in total. From or To is "" for nobody, as in [Move].
type Flow struct {
	From, To string
	Share    Share
}

// Summary adds up moves by who gives and who takes, the largest flow first, equal ones by name. Of the moves between a
// ring and the same without a node it says who inherits how much:
//
//	without, err := ring.Without("a")
//	moves, err := hashring.Diff(ring, without)
//	heirs := hashring.Summary(moves)
func Summary(moves iter.Seq[Move]) []Flow {
	type pair struct{ from, to string }
	sums := make(map[pair]Share)
	for m := range moves {
		p := pair{m.From, m.To}
		sums[p] = sums[p].Add(m.Share())
	}
	flows := make([]Flow, 0, len(sums))
	for p, share := range sums {
		flows = append(flows, Flow{p.from, p.to, share})
	}
	slices.SortFunc(flows, func(a, b Flow) int {
		return cmp.Or(b.Share.Compare(a.Share), strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
	return flows
}

// KeyMove is a key that has another owner in one ring than in another. From or To is "" as in [Move].
type KeyMove struct{ Key, From, To string }

// DiffKeys yields those of keys that move between two rings, which may have any two hashes of keys. It looks each key up
// in both.
func DiffKeys(old, new *Ring, keys iter.Seq[string]) iter.Seq[KeyMove] {
	return func(yield func(KeyMove) bool) {
		for key := range keys {
			from, _ := old.Owner(key)
			to, _ := new.Owner(key)
			if from != to && !yield(KeyMove{key, from, to}) {
				return
			}
		}
	}
}
