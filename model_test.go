package hashring_test

import (
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// naive is a ring as the definitions have it: the tokens in the order of emission, and a scan over all of them for every
// question. It shares no code with the package but the functions that say which tokens a node has.
type naive struct {
	nodes  []hashring.Node // in the order that the ring must hold them
	tokens []naiveToken
}

type naiveToken struct {
	pos  uint64
	node int
}

// place is how a model learns the tokens of its nodes.
type placeFunc func(nodes []hashring.Node) []naiveToken

func newNaive(nodes []hashring.Node, place placeFunc) *naive {
	return &naive{nodes: nodes, tokens: place(nodes)}
}

// next returns which token comes first clockwise from pos, of those that take accepts; -1 if it accepts none. Of equal
// tokens it is the one emitted first.
func (m *naive) next(pos uint64, take func(naiveToken) bool) int {
	best := -1
	for i, t := range m.tokens {
		if take(t) && (best < 0 || t.pos-pos < m.tokens[best].pos-pos) {
			best = i
		}
	}
	return best
}

func (m *naive) owner(pos uint64) int {
	i := m.next(pos, func(naiveToken) bool { return true })
	if i < 0 {
		return -1
	}
	return m.tokens[i].node
}

// replicas returns all nodes that have tokens, in the order in which they are met.
func (m *naive) replicas(pos uint64) []int {
	met := []int{}
	for {
		i := m.next(pos, func(t naiveToken) bool { return !slices.Contains(met, t.node) })
		if i < 0 {
			return met
		}
		met = append(met, m.tokens[i].node)
	}
}

// spread sorts the replicas by (rank within the zone, place in the walk), which is how Spread is defined.
func (m *naive) spread(pos uint64) []int {
	walk := m.replicas(pos)
	rank, seen := make(map[int]int), make(map[string]int)
	for _, n := range walk {
		zone := m.nodes[n].Zone
		rank[n] = seen[zone]
		seen[zone]++
	}
	sort.SliceStable(walk, func(i, j int) bool { return rank[walk[i]] < rank[walk[j]] })
	return walk
}

// sorted returns the tokens as Ring.Tokens must give them.
func (m *naive) sorted() []naiveToken {
	s := slices.Clone(m.tokens)
	sort.SliceStable(s, func(i, j int) bool { return s[i].pos < s[j].pos })
	return s
}

// positions returns positions at which a ring with these tokens could go wrong: the tokens, their neighbours, the ends.
func (m *naive) positions() []uint64 {
	p := []uint64{0, 1, math.MaxUint64 - 1, math.MaxUint64, 1 << 63, 1<<63 - 1, 1 << 31}
	for _, t := range m.tokens {
		p = append(p, t.pos-1, t.pos, t.pos+1)
	}
	slices.Sort(p)
	return slices.Compact(p)
}

// requireModel checks that r answers as m does at the given positions, in every way that a ring can be asked.
func requireModel(t *testing.T, m *naive, r *hashring.Ring, positions []uint64) {
	t.Helper()
	require.Equal(t, len(m.nodes), r.Len())
	require.Equal(t, len(m.tokens), r.NumTokens())
	name := func(i int) string { return m.nodes[i].Name }
	for i, n := range r.Nodes() {
		require.Equal(t, name(i), n.Name)
		require.Equal(t, name(i), r.Name(i))
	}

	want, got := m.sorted(), []naiveToken{}
	for pos, node := range r.Tokens() {
		got = append(got, naiveToken{pos, slices.IndexFunc(m.nodes, func(n hashring.Node) bool { return n.Name == node })})
	}
	require.True(t, slices.Equal(want, got), "tokens: want %v, got %v", want, got)

	for _, pos := range positions {
		owner := m.owner(pos)
		node, ok := r.OwnerAt(pos)
		require.Equal(t, owner, r.IndexAt(pos), "owner of %d", pos)
		require.Equal(t, owner >= 0, ok)
		if ok {
			require.Equal(t, name(owner), node)
		} else {
			require.Empty(t, node)
		}
		walk, spread := m.replicas(pos), m.spread(pos)
		if !slices.Equal(walk, slices.Collect(r.WalkAt(pos))) {
			require.Equal(t, walk, slices.Collect(r.WalkAt(pos)), "walk from %d", pos)
		}
		if !slices.Equal(spread, slices.Collect(r.SpreadAt(pos))) {
			require.Equal(t, spread, slices.Collect(r.SpreadAt(pos)), "spread from %d", pos)
		}
		for _, n := range []int{-1, 0, 1, 2, 3, len(walk), len(walk) + 1, math.MaxInt} {
			k := min(max(n, 0), len(walk))
			if g := r.AppendReplicasAt([]int{-7}, pos, n); !slices.Equal(append([]int{-7}, walk[:k]...), g) {
				require.Equal(t, walk[:k], g[1:], "%d replicas from %d", n, pos)
			}
			if g := r.AppendSpreadAt([]int{-7}, pos, n); !slices.Equal(append([]int{-7}, spread[:k]...), g) {
				require.Equal(t, spread[:k], g[1:], "spread of %d from %d", n, pos)
			}
		}
	}
}
