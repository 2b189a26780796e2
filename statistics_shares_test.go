package hashring_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// ratios returns what each node owns, divided by the mean.
func ratios(t *testing.T, r *hashring.Ring) []float64 {
	t.Helper()
	var sum hashring.Share
	out := make([]float64, r.Len())
	for i, n := range r.Ownership(hashring.Policy{}).Nodes {
		sum = sum.Add(n.Owned())
		out[i] = n.Owned().Fraction() * float64(r.Len())
	}
	require.Equal(t, hashring.Share{Circles: 1}, sum)
	return out
}

// No share of any ring is beyond its limits, for 30 numbers of nodes and virtual nodes, and all shapes of names of which
// there are so many. A limit of a ring is exceeded by chance with a probability of at most 1e-9; 2 limits, 30 cells and 20
// rings make 1.2e-6.
func TestSharesKeepTheirLimits(t *testing.T) {
	s, rings := seed.Of(t), seed.Rounds(t, 20)
	var large []shape
	for _, shape := range nodeShapes(s) {
		if shape.most > 256 {
			large = append(large, shape)
		}
	}
	cell := 0
	for _, n := range []int{3, 10, 30, 100, 300, 1000} {
		for _, v := range []int{16, 40, 100, 160, 512} {
			shape := large[cell%len(large)]
			cell++
			t.Run(fmt.Sprintf("%dx%d %s", n, v, shape.name), func(t *testing.T) {
				t.Parallel()
				lower, upper := shareLimits(n, v, 1e-9)
				least, most := 1.0, 1.0
				for ring := range rings {
					for _, x := range ratios(t, mustNew(t, shape.named(ring*n, n), &hashring.Options{VirtualNodes: v})) {
						least, most = min(least, x), max(most, x)
					}
				}
				t.Logf("%d rings: shares from %.3f to %.3f, limits %.3f and %.3f", rings, least, most, lower, upper)
				require.GreaterOrEqual(t, least, lower)
				require.LessOrEqual(t, most, upper)
			})
		}
	}
}

// The deviation of shares is what theory says, sqrt((N-1)/(NV+1)) of the mean, for every shape of names, for every
// built-in hash, and for a raw FNV-1a given through NewHash. The shares of a ring have N-1 degrees of freedom. Each of the
// 19 fails by chance with a probability of 5.7e-7.
func TestShareDeviationIsTheory(t *testing.T) {
	const v = 160
	requireTheory := func(t *testing.T, s shape, h hashring.Hash) {
		t.Parallel()
		n, rings := 100, seed.Rounds(t, 150)
		if s.most == 256 { // all of these, once
			n, rings = 8, 32
		}
		mean, variance, kurtosis := betaMoments(v, float64(n*v))
		sum := 0.0
		for ring := range rings {
			for _, x := range ratios(t, mustNew(t, s.named(ring*n, n), &hashring.Options{Hash: h, VirtualNodes: v})) {
				sum += (x - 1) * (x - 1)
			}
		}
		ratio := sum / float64(rings*n) / (variance / mean / mean)
		limit := 5 * math.Sqrt((2+kurtosis)/float64(rings*(n-1)))
		t.Logf("variance/theory %.4f of %d rings of %d nodes, limit 1 +- %.4f", ratio, rings, n, limit)
		require.InDelta(t, 1, ratio, limit)
	}
	shapes := nodeShapes(seed.Of(t))
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) { requireTheory(t, s, hashring.XXH64) })
	}
	for _, h := range builtins {
		t.Run(h.Name(), func(t *testing.T) { requireTheory(t, shapes[2], h) })
	}
	t.Run("raw fnv", func(t *testing.T) { requireTheory(t, shapes[2], hashring.NewHash("raw fnv", rawFNV1a)) })
}

// A node of weight w owns w/W of the circle, with the deviation of so many tokens: sqrt((T-v)/(v(T+1))) of its mean. Each of
// the 8 numbers fails by chance with a probability of 5.7e-7.
func TestWeightedSharesAreTheory(t *testing.T) {
	s, rings := seed.Of(t), seed.Rounds(t, 400)
	weights := []float64{0.5, 1, 2, 5}
	owned := make([][]float64, len(weights))
	var all float64
	for ring := range rings {
		var nodes []hashring.Node
		for i, w := range weights {
			nodes = append(nodes, hashring.Node{Name: fmt.Sprint(i, "-", s, "-", ring), Weight: w}) // sorted as they are here
		}
		r := mustNew(t, nodes, nil)
		all = float64(r.NumTokens())
		for i, n := range r.Ownership(hashring.Policy{}).Nodes {
			owned[i] = append(owned[i], n.Owned().Fraction())
		}
	}
	for i, w := range weights {
		mean, variance, kurtosis := betaMoments(160*w, all)
		requireMean(t, mean, variance, owned[i], "weight %v", w)
		requireVariance(t, mean, variance, kurtosis, owned[i], "weight %v", w)
	}
}

// Keys fall on nodes as their arcs say: chi-square of the counts against the exact shares is neither too large nor too
// small, for each built-in hash and five shapes of keys. Each of the 30 fails by chance with a probability of 1e-6.
func TestKeysFallAsTheArcsSay(t *testing.T) {
	const nodes, keys = 21, 20_000 // 20 degrees of freedom
	s, rounds := seed.Of(t), seed.Rounds(t, 10)
	var rings []*hashring.Ring
	for _, h := range builtins {
		rings = append(rings, mustNew(t, nodeShapes(s)[0].named(0, nodes), &hashring.Options{Hash: h}))
	}
	for _, shape := range keyShapes(s) {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			counts := make([][nodes]float64, len(rings))
			for i := range rounds * keys {
				key := shape.of(uint64(i))
				for k, r := range rings {
					counts[k][r.IndexAt(r.Position(key))]++
				}
			}
			for k, r := range rings {
				chi := 0.0
				for i, n := range r.Ownership(hashring.Policy{}).Nodes {
					want := n.Owned().Fraction() * float64(rounds*keys)
					chi += (counts[k][i] - want) * (counts[k][i] - want) / want
				}
				p := aboveChiSquare(chi, nodes-1)
				hash := r.Options().Hash.Name()
				t.Logf("%s: chi-square %.2f of %d keys, above that with probability %.2g", hash, chi, rounds*keys, p)
				require.Greater(t, p, unlikely/2, "%s: too uneven", hash)
				require.Less(t, p, 1-unlikely/2, "%s: too even", hash)
			}
		})
	}
}
