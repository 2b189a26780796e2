package hashring

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

// tokenSets are sets of tokens that an index can get wrong, by name.
func tokenSets(rng *rand.Rand) map[string][]uint64 {
	random := func(n int, f func() uint64) []uint64 {
		out := make([]uint64, n)
		for i := range out {
			out[i] = f()
		}
		return out
	}
	sets := map[string][]uint64{
		"one":               {1 << 40},
		"zero":              {0},
		"largest":           {math.MaxUint64},
		"both ends":         {0, math.MaxUint64},
		"three":             {10, 20, 30},
		"all equal":         random(500, func() uint64 { return 1 << 63 }),
		"all largest":       random(100, func() uint64 { return math.MaxUint64 }),
		"random":            random(5000, rng.Uint64),
		"few values":        random(3000, func() uint64 { return rng.Uint64N(7) * (math.MaxUint64 / 7) }),
		"crowded at zero":   random(3000, func() uint64 { return rng.Uint64N(10_000) }),
		"crowded at end":    random(3000, func() uint64 { return -rng.Uint64N(10_000) }),
		"crowded in middle": random(3000, func() uint64 { return 1<<63 + rng.Uint64N(2000) - 1000 }),
		"32 bits":           random(3000, func() uint64 { return rng.Uint64() << 32 }),
		"one far off":       append(random(2000, func() uint64 { return rng.Uint64N(100_000) }), 1<<62),
		"powers of two":     nil,
		"many":              random(coarse+10, rng.Uint64),
		"many, crowded":     random(coarse+10, func() uint64 { return rng.Uint64() >> (rng.Uint64N(4) * 16) }),
	}
	for i := range 64 {
		sets["powers of two"] = append(sets["powers of two"], 1<<i, 1<<i-1, 1<<i+1)
	}
	for _, n := range []int{2, 3, 7, 8, 9, 10, 33, 100} {
		sets["random "+string(rune('A'+n))] = random(n, rng.Uint64)
	}
	return sets
}

// arrange is a stable sort, and locate is sort.Search, on every kind of token set: at random positions, at every token
// and beside it, and at both ends.
func TestArrangeAndLocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, tokens := range tokenSets(rng) {
		owners := make([]uint32, len(tokens)) // the order of emission
		order := make([]int, len(tokens))
		for i := range owners {
			owners[i], order[i] = uint32(i), i
		}
		sort.SliceStable(order, func(a, b int) bool { return tokens[order[a]] < tokens[order[b]] })

		r := new(Ring)
		r.circle = arrange(slices.Clone(tokens), owners)
		require.Equal(t, len(tokens), r.len())
		require.Equal(t, slices.Repeat([]uint64{math.MaxUint64}, sentinels), r.tokens[len(tokens):])
		require.Equal(t, r.owners[0], r.owners[len(tokens)])
		for i, o := range order {
			require.Equal(t, tokens[o], r.tokens[i], name)
			require.Equal(t, uint32(o), r.owners[i], "%s: equal tokens in the order of emission", name)
		}
		require.Equal(t, r.index, newIndex(r.tokens[:len(tokens)], r.shift), name)

		sorted := r.tokens[:len(tokens)]
		check := func(pos uint64) {
			if want := sort.Search(len(sorted), func(i int) bool { return sorted[i] >= pos }); want != r.locate(pos) {
				require.Equal(t, want, r.locate(pos), "%s: %d", name, pos)
			}
		}
		check(0)
		check(math.MaxUint64)
		for _, token := range sorted {
			check(token - 1)
			check(token)
			check(token + 1)
		}
		for range 20_000 {
			check(rng.Uint64())
		}
	}
}

func TestArrangeNothing(t *testing.T) {
	require.Equal(t, circle{}, arrange(nil, nil))
	require.Zero(t, new(circle).len())
	require.Zero(t, new(circle).first(5))
}

// The index has one entry more than buckets, ascends, and ends with the number of tokens, however they crowd. A bucket
// has between 3/8 and 3/4 of a token.
func TestIndexIsWellFormed(t *testing.T) {
	for name, tokens := range tokenSets(rand.New(rand.NewPCG(7, 8))) {
		c := arrange(tokens, make([]uint32, len(tokens)))
		index := c.index
		require.Len(t, index, 1<<(64-c.shift)+1, name)
		load := float64(len(tokens)) / float64(len(index)-1)
		require.True(t, load >= 3.0/8 && load < 3.0/4 || len(tokens) < 2, "%s: %v", name, load)
		require.True(t, slices.IsSorted(index), name)
		require.Equal(t, uint32(len(tokens)), index[len(index)-1], name)
	}
}

// merge gives the circle that arrange makes of all tokens, index and all, whatever comes, goes and collides.
func TestMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for name, tokens := range tokenSets(rng) {
		for _, nodes := range []int{1, 2, 10, 300} {
			var have, want, more [2][]uint64 // tokens, and their owners in the old ring or in the new one
			to := make([]uint32, nodes)
			left := 0
			for i := range to {
				if to[i] = uint32(2 * (i - left)); rng.IntN(4) == 0 { // even: those that stay; odd: those that come
					to[i] = gone
					left++
				}
			}
			for i := range tokens {
				o := uint32(rng.IntN(nodes))
				have[0], have[1] = append(have[0], tokens[i]), append(have[1], uint64(o))
				if to[o] != gone {
					want[0], want[1] = append(want[0], tokens[i]), append(want[1], uint64(to[o]))
				}
				if rng.IntN(nodes) == 0 {
					token := []uint64{rng.Uint64(), tokens[rng.IntN(len(tokens))]}[rng.IntN(2)]
					more[0], more[1] = append(more[0], token), append(more[1], uint64(2*rng.IntN(nodes)+1))
				}
			}
			kept := len(want[0])
			if kept == 0 {
				continue
			}
			want[0], want[1] = append(want[0], more[0]...), append(want[1], more[1]...)
			old, fresh := circleOf(have), circleOf(more)
			got := merge(old, to, kept, fresh)
			require.True(t, reflect.DeepEqual(circleOf(want), got), "%s, %d nodes", name, nodes)
			require.True(t, reflect.DeepEqual(circleOf(have), old), "what is merged stays as it was")
			require.True(t, reflect.DeepEqual(circleOf(more), fresh), "what is merged stays as it was")
		}
	}
}

// As many tokens as any ring may have are counted, and more are one more.
func TestTokenCountOfTheLargest(t *testing.T) {
	require.Equal(t, maxMaxTokens, tokenCount(Node{Weight: 1}, maxMaxTokens))
	require.Equal(t, maxMaxTokens+1, tokenCount(Node{Weight: 1.01}, maxMaxTokens))
}

// A walk over a large ring takes a bit a node, and no more.
func TestSizeOfANodeSet(t *testing.T) {
	for _, nodes := range []uint32{0, 1, smallNodes, smallNodes + 16, smallNodes + 17, 2048, 2049, 3000} {
		var s nodeSet
		for i := nodes; i > 0; i-- {
			require.True(t, s.add(i-1, int(nodes)))
		}
		require.LessOrEqual(t, 64*len(s.large), int(nodes)+63)
	}
}

// circleOf returns the circle of tokens, given in any order, and their owners: equal tokens by owner.
func circleOf(in [2][]uint64) circle {
	order := make([]int, len(in[0]))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(in[1][a], in[1][b]) })
	tokens, owners := make([]uint64, len(order)), make([]uint32, len(order))
	for i, k := range order {
		tokens[i], owners[i] = in[0][k], uint32(in[1][k])
	}
	return arrange(tokens, owners)
}

// A change of zones, labels or of the weights of explicit tokens copies no token.
func TestChangeOfZoneSharesTheTokens(t *testing.T) {
	r, err := New([]Node{{Name: "a"}, {Name: "b"}, {Name: "e", Tokens: []uint64{5}}}, nil)
	require.NoError(t, err)
	s, err := r.With(Node{Name: "a", Zone: "z"}, Node{Name: "e", Tokens: []uint64{5}, Weight: 9})
	require.NoError(t, err)
	require.Same(t, &r.tokens[0], &s.tokens[0])
	require.Same(t, &r.owners[0], &s.owners[0])
	require.Same(t, &r.index[0], &s.index[0])
}
