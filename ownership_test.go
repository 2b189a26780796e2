package hashring_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

var policies = []hashring.Policy{{}, {N: -3}, {N: 1, Spread: true}, {N: 2}, {N: 2, Spread: true}, {N: 3}, {N: 3, Spread: true}, {N: 5, Spread: true}, {N: 100}, {N: 100, Spread: true}}

// Shares are those that the replicas of each arc give, added up as big integers; they sum to the circle in each rank.
func TestOwnership(t *testing.T) {
	rounds := seed.Rounds(t, 30)
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			rng := seed.Random(t)
			for range rounds {
				var nodes []hashring.Node
				for i := range rng.IntN(9) {
					nodes = append(nodes, w.node(rng, fmt.Sprint("n", i)))
				}
				r := mustNew(t, nodes, &w.opts)
				for _, p := range policies {
					requireOwnership(t, r, p)
				}
			}
		})
	}
}

func requireOwnership(t *testing.T, r *hashring.Ring, p hashring.Policy) {
	t.Helper()
	o := r.Ownership(p)
	require.Len(t, o.Nodes, r.Len())
	holders, counts := map[string]bool{}, map[string]int{}
	var tokens []uint64
	for token, name := range r.Tokens() {
		holders[name] = true
		counts[name]++
		tokens = append(tokens, token)
	}
	ranks := min(max(1, p.N), len(holders))
	want := make([][]*big.Int, r.Len())
	for i := range want {
		for range ranks {
			want[i] = append(want[i], new(big.Int))
		}
	}
	tokens = slices.Compact(tokens)
	for i, token := range tokens {
		a := hashring.Range{After: tokens[(i+len(tokens)-1)%len(tokens)], Through: token}
		at := r.AppendReplicasAt(nil, token, ranks)
		if p.Spread {
			at = r.AppendSpreadAt(nil, token, ranks)
		}
		for k, node := range at {
			want[node][k].Add(want[node][k], exact(a.Share()))
		}
	}

	weights := 0.0
	for _, n := range r.Nodes() {
		weights += n.Weight
	}
	sums := make([]hashring.Share, ranks)
	zones := make(map[string]hashring.ZoneShare)
	peak, deviation, heldPeak, heldDeviation, theory := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, n := range r.Nodes() {
		got := o.Nodes[i]
		require.Equal(t, n.Name, got.Name)
		require.Equal(t, n.Zone, got.Zone)
		require.Equal(t, n.Weight, got.Weight)
		require.Equal(t, counts[n.Name], got.Tokens)
		require.InDelta(t, n.Weight/weights, got.Ideal, 1e-12)
		require.Len(t, got.Ranks, ranks)
		z, ok := zones[n.Zone]
		if !ok {
			z = hashring.ZoneShare{Zone: n.Zone, Ranks: make([]hashring.Share, ranks)}
		}
		z.Nodes++
		z.Ideal += got.Ideal
		held := new(big.Int)
		for k, s := range got.Ranks {
			require.Zero(t, want[i][k].Cmp(exact(s)), "rank %d of %s", k, n.Name)
			held.Add(held, want[i][k])
			sums[k] = sums[k].Add(s)
			z.Ranks[k] = z.Ranks[k].Add(s)
		}
		zones[n.Zone] = z
		require.Zero(t, held.Cmp(exact(got.Held())))
		if ranks == 0 {
			require.Zero(t, got.Owned())
			continue
		}
		require.Equal(t, got.Ranks[0], got.Owned())
		ratio, heldRatio := got.Owned().Fraction()/got.Ideal, got.Held().Fraction()/float64(ranks)/got.Ideal
		peak, heldPeak = max(peak, ratio), max(heldPeak, heldRatio)
		deviation += (ratio - 1) * (ratio - 1) / float64(r.Len())
		heldDeviation += (heldRatio - 1) * (heldRatio - 1) / float64(r.Len())
		mean := float64(got.Tokens) / float64(r.NumTokens())
		variance := mean * (1 - mean) / float64(r.NumTokens()+1) // of a Beta(v, T-v) share
		theory += (variance/got.Ideal/got.Ideal + math.Pow(mean/got.Ideal-1, 2)) / float64(r.Len())
	}
	for _, s := range sums {
		require.Equal(t, hashring.Share{Circles: 1}, s)
	}
	require.InDelta(t, peak, o.Owned.Peak, 1e-9)
	require.InDelta(t, math.Sqrt(deviation), o.Owned.Deviation, 1e-9)
	require.InDelta(t, heldPeak, o.Held.Peak, 1e-9)
	require.InDelta(t, math.Sqrt(heldDeviation), o.Held.Deviation, 1e-9)
	require.InDelta(t, math.Sqrt(theory), o.Theory, 1e-9)

	require.Len(t, o.Zones, len(zones))
	for i, z := range o.Zones {
		want := zones[z.Zone]
		require.InDelta(t, want.Ideal, z.Ideal, 1e-12)
		z.Ideal = want.Ideal
		require.Equal(t, want, z)
		if i > 0 {
			require.Less(t, o.Zones[i-1].Zone, z.Zone)
		}
		sum := hashring.Share{}
		for k, s := range z.Ranks {
			sum = sum.Add(s)
			if k == 0 {
				require.Equal(t, s, z.Owned())
			}
		}
		require.Equal(t, sum, z.Held())
	}
}

// What a node owns is what moves to it from an empty ring, and its Ranges.
func TestOwnershipIsDiffFromNothing(t *testing.T) {
	rng := seed.Random(t)
	for _, w := range worlds() {
		var nodes []hashring.Node
		for i := range 7 {
			nodes = append(nodes, w.node(rng, fmt.Sprint("n", i)))
		}
		r := mustNew(t, nodes, &w.opts)
		owned := make(map[string]hashring.Share)
		for _, m := range mustDiff(t, new(hashring.Ring), r) {
			owned[m.To] = owned[m.To].Add(m.Share())
		}
		for _, n := range r.Ownership(hashring.Policy{}).Nodes {
			require.Equal(t, owned[n.Name], n.Owned())
			sum := hashring.Share{}
			for a := range r.Ranges(n.Name) {
				sum = sum.Add(a.Share())
			}
			require.Equal(t, sum, n.Owned())
		}
	}
}

// Arcs that a sum of floats or a forgotten corner would get wrong.
func TestOwnershipCorners(t *testing.T) {
	node := func(name string, tokens ...uint64) hashring.Node { return hashring.Node{Name: name, Tokens: tokens} }
	for _, c := range []struct {
		nodes []hashring.Node
		want  []float64
	}{
		{[]hashring.Node{node("a", 7)}, []float64{1}},
		{[]hashring.Node{node("a", 0)}, []float64{1}},
		{[]hashring.Node{node("a", math.MaxUint64)}, []float64{1}},
		{[]hashring.Node{node("a", 7), node("b", 7)}, []float64{1, 0}},
		{[]hashring.Node{node("a", 1, 5, math.MaxUint64)}, []float64{1}},
		{[]hashring.Node{node("a", 0), node("b", 1<<63)}, []float64{0.5, 0.5}},
		{[]hashring.Node{node("a", 0, 1<<62), node("b", 0, 1<<63)}, []float64{0.75, 0.25}},
		{[]hashring.Node{node("a", 1<<62, 1<<63), node("b", 1<<63, 3<<62), node("c", 3<<62)}, []float64{0.75, 0.25, 0}},
		{[]hashring.Node{node("a", 5), node("b", 6)}, []float64{1, 0x1p-64}},
		{[]hashring.Node{node("a", 0), node("b", math.MaxUint64)}, []float64{0x1p-64, 1}},
	} {
		var got []float64
		for _, n := range mustNew(t, c.nodes, nil).Ownership(hashring.Policy{}).Nodes {
			got = append(got, n.Owned().Fraction())
		}
		require.Equal(t, c.want, got, "%v", c.nodes)
	}
}

// For equal nodes Theory is the formula in its comment.
func TestTheory(t *testing.T) {
	for _, n := range []int{1, 2, 10, 100} {
		var nodes []hashring.Node
		for i := range n {
			nodes = append(nodes, hashring.Node{Name: fmt.Sprint(i)})
		}
		o := mustNew(t, nodes, &hashring.Options{VirtualNodes: 40}).Ownership(hashring.Policy{})
		require.InDelta(t, math.Sqrt(float64(n-1)/float64(40*n+1)), o.Theory, 1e-12)
	}
}

// No weight makes a report that is not a number; an ideal too small to be one makes the peak infinite.
func TestOwnershipOfExtremeWeights(t *testing.T) {
	token := func(name string, weight float64, at uint64) hashring.Node {
		return hashring.Node{Name: name, Weight: weight, Tokens: []uint64{at}}
	}
	for _, weights := range [][2]float64{{math.MaxFloat64, math.MaxFloat64}, {math.MaxFloat64, math.SmallestNonzeroFloat64}, {1e-300, 1e-300}} {
		r := mustNew(t, []hashring.Node{token("a", weights[0], 1), token("b", weights[1], 1<<63), token("c", weights[1], 1)}, nil)
		o := r.Ownership(hashring.Policy{N: 2})
		for _, x := range []float64{o.Owned.Peak, o.Owned.Deviation, o.Held.Peak, o.Held.Deviation, o.Theory, o.Nodes[0].Ideal, o.Nodes[2].Ideal} {
			require.False(t, math.IsNaN(x), "%v: %+v", weights, o)
		}
		require.Equal(t, weights[0] > 1 && weights[1] < 1, math.IsInf(o.Owned.Peak, 1))
	}
	o := new(hashring.Ring).Ownership(hashring.Policy{N: 3})
	require.Equal(t, hashring.Ownership{Nodes: []hashring.NodeShare{}}, o)
}

// The limits of the Chernoff bound that are known for so many nodes and virtual nodes, to three decimals: the number for
// such a peak is that one. Computed independently, by solving V(u-1-ln u) = ln(N/d) for u.
func TestVirtualNodesFor(t *testing.T) {
	for _, row := range []struct {
		nodes, virtualNodes int
		millionth           float64 // the peak at a confidence of 1 - 1e-6
		billionth           float64 // at 1 - 1e-9
	}{
		{3, 160, 1.496, 1.617}, {10, 40, 2.184, 2.487}, {10, 100, 1.680, 1.840}, {10, 160, 1.518, 1.636}, {10, 256, 1.398, 1.486},
		{100, 100, 1.736, 1.890}, {100, 160, 1.559, 1.673}, {100, 256, 1.429, 1.513}, {100, 512, 1.293, 1.348},
		{1000, 160, 1.599, 1.708}, {1000, 256, 1.458, 1.539}, {1000, 512, 1.312, 1.365}, {10000, 160, 1.636, 1.742}, {10000, 512, 1.331, 1.382},
	} {
		for _, limit := range []struct{ peak, confidence float64 }{{row.millionth, 1 - 1e-6}, {row.billionth, 1 - 1e-9}} {
			most := must(hashring.VirtualNodesFor(row.nodes, limit.peak-0.0005, limit.confidence))
			least := must(hashring.VirtualNodesFor(row.nodes, limit.peak+0.0005, limit.confidence))
			require.LessOrEqual(t, least, row.virtualNodes, "%+v", row)
			require.GreaterOrEqual(t, most, row.virtualNodes, "%+v", row)
		}
	}
	require.Equal(t, 686, must(hashring.VirtualNodesFor(100, 1.25, 0.999999)))
	require.Equal(t, 1, must(hashring.VirtualNodesFor(1, 100, 0.01)))

	for _, bad := range []struct {
		nodes            int
		peak, confidence float64
		says             string
	}{
		{0, 1.2, 0.9, "0 nodes"}, {-1, 1.2, 0.9, "-1 nodes"}, {10, 1, 0.9, "peak 1 "}, {10, 0, 0.9, "peak 0 "}, {10, math.NaN(), 0.9, "peak NaN"},
		{10, math.Inf(1), 0.9, "peak +Inf"}, {10, 1.2, 0, "confidence 0 "}, {10, 1.2, 1, "confidence 1 "}, {10, 1.2, math.NaN(), "confidence NaN"},
	} {
		_, err := hashring.VirtualNodesFor(bad.nodes, bad.peak, bad.confidence)
		require.ErrorIs(t, err, hashring.ErrOptions)
		require.ErrorContains(t, err, bad.says)
	}
	for _, peak := range []float64{1.00001, math.Nextafter(1, 2)} {
		_, err := hashring.VirtualNodesFor(1000, peak, 0.9)
		require.ErrorIs(t, err, hashring.ErrTooManyTokens)
	}
	require.Equal(t, 1, must(hashring.VirtualNodesFor(1<<30-1, 1e6, 0.9)), "as many tokens as a ring may have")
	_, err := hashring.VirtualNodesFor(1<<30, 1e6, 0.9)
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)
}

// Rings with as many virtual nodes as VirtualNodesFor says keep below the peak. At a confidence of 1-1e-9 a ring in 1e9
// may be above it; the names are fixed.
func TestVirtualNodesForIsEnough(t *testing.T) {
	for _, n := range []int{3, 10, 50} {
		for _, peak := range []float64{1.3, 2, 4} {
			v := must(hashring.VirtualNodesFor(n, peak, 1-1e-9))
			for round := range 20 {
				var nodes []hashring.Node
				for i := range n {
					nodes = append(nodes, hashring.Node{Name: fmt.Sprint(round, "-", i)})
				}
				o := mustNew(t, nodes, &hashring.Options{VirtualNodes: v}).Ownership(hashring.Policy{})
				require.Less(t, o.Owned.Peak, peak, "%d nodes of %d", n, v)
			}
		}
	}
}
