package hashring

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Placement decides the tokens of a whole set of nodes. It sees the set, not one node, because some rules scale every
// node by the total weight, and the order given, because some depend on it. It is for agreement with programs that people
// already run; a ring that has to agree with none of them needs no Placement.
type Placement interface {
	// Name is that of the rule with its parameters, as in "ketama". It is part of the ring's identity and not empty.
	Name() string

	// Hash is the hash of keys that the rule fixes, or nil where any will do and Options.Hash holds.
	Hash() Hash

	// Place calls emit for each token with the index in nodes of the node that holds it, in any order but for equal
	// tokens: of those, the one emitted first owns. A node may get no tokens. It must be pure, and must stop when emit
	// returns false, which it does for an index out of range ([ErrPlacement]) and for a token too many
	// ([ErrTooManyTokens]); a further call of emit does not return. The nodes are a copy.
	Place(nodes []Node, emit func(node int, token uint64) bool) error
}

// nativeRule names the rule of this file. What the rule yields never changes: testdata/native.json holds what it must.
//
// A node of weight w has n = max(1, round(VirtualNodes*w)) tokens. They are the first n outputs of SplitMix64 seeded by
// the node's name: K hash functions a node, at the price of one. So a weight that rises or falls adds or drops tokens
// at the end of that sequence and leaves every other token, of this and of the other nodes, where it was.
const nativeRule = "native/1"

// nativeSeed is where the sequence of a node starts. XXH64 is in it so that two names with one sum under a weak hash
// (in 32 bits that takes some 77,000 names) do not share all their tokens; the ring's own hash, so that a seeded one
// hides the tokens too. Doubling keeps the sum a bijection of XXH64 where that is both.
func nativeSeed(name string, h Hash) uint64 {
	return mix(xxhash.Sum64String(name) + 2*sumOf(h, name))
}

// appendNative appends the first n tokens of a node to dst.
func appendNative(dst []uint64, seed uint64, n int) []uint64 {
	for i := range uint64(n) {
		dst = append(dst, mix(seed+i*gamma))
	}
	return dst
}

// tokenCount returns how many tokens n has without a Placement, or more than any MaxTokens where that is beyond counting.
func tokenCount(n Node, virtualNodes int) int {
	if n.Tokens != nil {
		return len(n.Tokens)
	}
	c := math.Round(float64(virtualNodes) * n.Weight)
	if c > maxMaxTokens {
		return maxMaxTokens + 1
	}
	return max(1, int(c))
}

// sameTokens reports whether two nodes of one name, checked, have the same tokens without a Placement.
func sameTokens(a, b Node, virtualNodes int) bool {
	return tokenCount(a, virtualNodes) == tokenCount(b, virtualNodes) && slices.Equal(a.Tokens, b.Tokens)
}

// place returns the tokens that p gives nodes and their owners, in the order of emission.
func place(p Placement, nodes []Node, maxTokens int) (tokens []uint64, owners []uint32, err error) {
	var fault error         // why emit said stop
	type emittedOn struct{} // thrown where Place does not, and caught here alone
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(emittedOn); !ours {
				panic(r)
			}
			tokens, owners, err = nil, nil, fault
		}
	}()
	err = p.Place(slices.Clone(nodes), func(n int, token uint64) bool {
		switch {
		case fault != nil:
			panic(emittedOn{})
		case n < 0 || n >= len(nodes):
			fault = fmt.Errorf("hashring: %w: %s emitted node index %d of %d nodes", ErrPlacement, p.Name(), n, len(nodes))
		case len(tokens) == maxTokens:
			fault = &NodeError{n, nodes[n].Name, fmt.Errorf("%w: %s emitted more than %d", ErrTooManyTokens, p.Name(), maxTokens)}
		default:
			tokens, owners = append(tokens, token), append(owners, uint32(n))
		}
		return fault == nil
	})
	if fault != nil {
		return nil, nil, fault
	}
	if err != nil {
		if at := new(NodeError); !errors.As(err, &at) {
			err = fmt.Errorf("hashring: %w: %s: %w", ErrPlacement, p.Name(), err)
		}
		return nil, nil, err
	}
	return tokens, owners, nil
}
