package balance_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/balance"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

func mustBound(t testing.TB, r *hashring.Ring, factor float64) *balance.Bounds {
	t.Helper()
	b, err := balance.NewBounds(r, factor)
	require.NoError(t, err)
	return b
}

// With loads that are counts, the first node of a walk is the one that the rule names, and the others are those within
// their bounds.
func TestWalkIsTheRule(t *testing.T) {
	rng := seed.Random(t)
	for range seed.Rounds(t, 3000) {
		var nodes []hashring.Node
		for i := range rng.IntN(12) {
			nodes = append(nodes, hashring.Node{Name: "n123456789ab"[:1+i], Weight: float64(1 + rng.IntN(4))})
		}
		opts := &hashring.Options{VirtualNodes: 1 + rng.IntN(20)}
		if rng.IntN(3) == 0 {
			opts = &hashring.Options{Placement: starving{}}
		}
		r := mustNew(t, nodes, opts)
		s := sharesOf(r)
		loads, total := make(map[string]int), 0
		for _, n := range nodes {
			loads[n.Name] = rng.IntN(1 + rng.IntN(20))
			if _, ok := s.weight[n.Name]; ok {
				total += loads[n.Name]
			}
		}
		factor := []float64{1, 1.05, 1.25, 2, 1000}[rng.IntN(5)]
		key := fmt.Sprint(rng.Uint64())
		load := func(node string) float64 { return float64(loads[node]) }
		got := slices.Collect(mustBound(t, r, factor).Walk(key, load))

		var want []string
		for name := range r.Replicas(key) {
			if loads[name]+1 <= s.bound(name, factor, total+1) {
				want = append(want, name)
			}
		}
		require.Equal(t, want, got)
		first, within, ok := choose(r, s, key, factor, loads, total, func(string) bool { return true })
		require.Equal(t, r.NumTokens() > 0, ok && within)
		require.Equal(t, ok, len(got) > 0)
		if ok {
			require.Equal(t, first, got[0])
			for n := range mustBound(t, r, factor).Walk(key, load) {
				require.Equal(t, first, n)
				break
			}
		}
	}
}

func TestWalkOfIdleNodesIsTheRings(t *testing.T) {
	r := mustNew(t, weightedNodes(20), nil)
	for _, factor := range []float64{1, 1.25, 1e300} {
		b := mustBound(t, r, factor)
		for _, idle := range []float64{0, -1, math.Inf(-1)} {
			for k := range 20 {
				key := fmt.Sprint("key-", k)
				got := slices.Collect(b.Walk(key, func(string) float64 { return idle }))
				require.Equal(t, r.AppendReplicas(nil, key, 20), got)
			}
		}
	}
}

// A node that is out is as one that is not on the ring.
func TestWalkWithoutThoseThatAreOut(t *testing.T) {
	r := mustNew(t, weightedNodes(12), nil)
	rest, err := r.Without("node-003", "node-007")
	require.NoError(t, err)
	for i, outside := range []float64{math.Inf(1), math.NaN()} {
		load := func(node string) float64 {
			if node == "node-003" || node == "node-007" {
				return outside
			}
			return float64(len(node)+int(node[7])) / 7
		}
		for k := range 50 {
			key := fmt.Sprint("key-", k)
			want := slices.Collect(mustBound(t, rest, 1.01).Walk(key, load))
			require.Equal(t, want, slices.Collect(mustBound(t, r, 1.01).Walk(key, load)), "%v", i)
			require.NotEmpty(t, want)
			require.Less(t, len(want), 10, "some are above their bound")
		}
	}
	require.Empty(t, slices.Collect(mustBound(t, r, 1).Walk("k", func(string) float64 { return math.Inf(1) })))
	require.Empty(t, slices.Collect(mustBound(t, new(hashring.Ring), 1).Walk("k", func(string) float64 { return 0 })))
}

// Loads beside which a request is nothing, and loads that rise while they are asked for: then no node is below its
// bound, and the one with the least load for its weight is left.
func TestWalkWhereNoneHasRoom(t *testing.T) {
	r := mustNew(t, []hashring.Node{{Name: "a"}, {Name: "b", Weight: 2}, {Name: "c"}}, nil)
	b := mustBound(t, r, 1)
	huge := map[string]float64{"a": 1e18, "b": 2e18, "c": 1e18}
	require.Len(t, slices.Collect(b.Walk("k", func(node string) float64 { return huge[node] })), 1)

	calls := 0
	rising := func(node string) float64 {
		calls++
		if calls <= r.Len() {
			return 1
		}
		return map[string]float64{"a": 100, "b": 150, "c": 110}[node]
	}
	require.Equal(t, []string{"b"}, slices.Collect(b.Walk("k", rising)))
	require.Equal(t, 2*r.Len(), calls, "once for each node, and once for each that is met")
}
