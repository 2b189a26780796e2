package hashring_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// moved returns what part of the circle moves from old to new; all of it must move to or from the one node named.
func moved(t *testing.T, old, new *hashring.Ring, from, to string) float64 {
	t.Helper()
	var sum hashring.Share
	for m := range must(hashring.Diff(old, new)) {
		if from != "" && m.From != from || to != "" && m.To != to {
			require.Failf(t, "moved", "%v, from another node than %q or to another than %q", m, from, to)
		}
		sum = sum.Add(m.Share())
	}
	return sum.Fraction()
}

// How much moves when a node joins, leaves or becomes heavier: v/(T+v) of the circle goes to one that joins with v tokens a
// ring of T, v/T from one that leaves, both with the deviation of Beta(v, others); dv(T-v)/(T(T+dv)) to one that has dv more;
// a set of n replicas of N equal nodes changes with one that joins for n/(N+1) of the circle; and keys move as arcs do.
//
// Shares of rings with other names are independent. Each of the 7 numbers of the 6 cells fails by chance with a
// probability of up to 1e-6.
func TestMovementIsTheory(t *testing.T) {
	s, rings := seed.Of(t), seed.Rounds(t, 200)
	shapes := nodeShapes(s)
	for i, c := range []struct {
		nodes, virtualNodes int
		weight              float64 // of the node that joins and leaves
	}{{3, 16, 1}, {10, 40, 1}, {10, 160, 1}, {10, 160, 2.5}, {20, 100, 0.25}, {99, 160, 1}} {
		shape := shapes[i%5]
		t.Run(fmt.Sprintf("%dx%d and %v", c.nodes, c.virtualNodes, c.weight), func(t *testing.T) {
			t.Parallel()
			const replicas = 3
			var joins, leaves, heavier, sets []float64
			v, all := float64(c.virtualNodes)*c.weight, float64(c.virtualNodes*c.nodes)
			more := v // tokens that the newcomer gets when its weight is doubled
			keys, keysMoved, keysExpected, keysVariance := 2000, 0, 0.0, 0.0
			for ring := range rings {
				nodes := shape.named(ring*(c.nodes+1), c.nodes+1)
				newcomer := nodes[c.nodes]
				newcomer.Weight = c.weight
				old := mustNew(t, nodes[:c.nodes], &hashring.Options{VirtualNodes: c.virtualNodes})
				new := mustWith(t, old, newcomer)
				p := moved(t, old, new, "", newcomer.Name)
				joins = append(joins, p)
				requireSame(t, mustWithout(t, new, newcomer.Name), old)
				leaves = append(leaves, moved(t, old, mustWithout(t, old, nodes[0].Name), nodes[0].Name, ""))
				newcomer.Weight *= 2
				heavier = append(heavier, moved(t, new, mustWith(t, new, newcomer), "", newcomer.Name))

				var changed hashring.Share
				for m := range must(hashring.DiffReplicas(old, new, hashring.Policy{N: replicas}, hashring.Policy{N: replicas})) {
					if len(m.Gained) != 1 || m.Gained[0] != newcomer.Name || len(m.Lost) != 1 {
						require.Failf(t, "replicas", "%+v, when %s joined", m, newcomer.Name)
					}
					changed = changed.Add(m.Share())
				}
				sets = append(sets, changed.Fraction())

				for k := range keys {
					key := fmt.Sprint("key-", s, "-", ring, "-", k)
					if owner, _ := new.Owner(key); owner == newcomer.Name {
						keysMoved++
					}
				}
				keysExpected += float64(keys) * p
				keysVariance += float64(keys) * p * (1 - p)
			}
			mean, variance, kurtosis := betaMoments(v, all+v)
			requireMean(t, mean, variance, joins, "joins")
			requireVariance(t, mean, variance, kurtosis, joins, "joins")
			mean, variance, kurtosis = betaMoments(float64(c.virtualNodes), all)
			requireMean(t, mean, variance, leaves, "leaves")
			requireVariance(t, mean, variance, kurtosis, leaves, "leaves")
			all += v
			requireMean(t, more*(all-v)/(all*(all+more)), 0, heavier, "twice the weight")
			if c.weight == 1 {
				requireMean(t, replicas/float64(c.nodes+1), 0, sets, "replica sets that change")
			}
			off := (float64(keysMoved) - keysExpected) / math.Sqrt(keysVariance)
			t.Logf("%d of %d keys moved, off by %.2f deviations", keysMoved, keys*rings, off)
			require.Less(t, math.Abs(off), deviations(unlikely/2))
		})
	}
}

// How many tokens a walk looks at for R of N equal nodes: the sum of N/(N-k) on average.
func TestWalkLength(t *testing.T) {
	const n, want = 10, 3 // replicas
	var nodes []hashring.Node
	for i := range n {
		nodes = append(nodes, hashring.Node{Name: fmt.Sprint("n", i)})
	}
	r := mustNew(t, nodes, nil)
	rng := rand.New(rand.NewPCG(3, 4))
	steps, walks := 0, 20_000
	for range walks {
		met := make(map[int]bool)
		for _, i := range r.TokensFrom(rng.Uint64()) {
			steps++
			if met[i] = true; len(met) == want {
				break
			}
		}
	}
	// 10/10 + 10/9 + 10/8 = 3.361; the deviation of one walk is 0.66, but those of one ring overlap: 1600 starts.
	require.InDelta(t, 3.361, float64(steps)/float64(walks), 5*0.66/math.Sqrt(1600))
}
