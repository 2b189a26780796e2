package bench

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every key is answered by a member, and every member by some key; another one of the same nodes answers alike.
func TestOwnerIsAMember(t *testing.T) {
	nodes := nodeNames(12, 0)
	keys := slices.Concat(keySets()["random"][:5000], keySets()["path"][:5000])
	for _, p := range peers {
		a, b, seen := p.make(nodes), p.make(nodes), make(map[string]bool)
		for _, key := range keys {
			owner := a.Owner(key)
			require.Contains(t, nodes, owner, p.name)
			require.Equal(t, owner, b.Owner(key), p.name)
			seen[owner] = true
		}
		require.Len(t, seen, len(nodes), p.name)
	}
}

// A change answers as a placer of the nodes that are then there does, whether it is in place or not, and taking it back
// answers as before. Only jump, from the middle of the list, moves keys between nodes that did not change.
func TestChange(t *testing.T) {
	nodes, keys := nodeNames(12, 0), keySets()["random"][:5000]
	for _, p := range peers {
		if p.kind == yardstick {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			r := p.make(nodes).(changer)
			was := owners(r, keys)
			joined := r.With(joiner)
			require.Equal(t, owners(p.make(append(slices.Clone(nodes), joiner)), keys), owners(joined, keys))
			require.Zero(t, stray(was, owners(joined, keys), joiner))
			if joined != r {
				require.Equal(t, was, owners(r, keys), "the receiver has changed and is not the result")
			}
			r = joined.Without(joiner)
			require.Equal(t, was, owners(r, keys))

			left := r.Without(nodes[5])
			require.Equal(t, owners(p.make(without(nodes, nodes[5])), keys), owners(left, keys))
			if p.kind == jump {
				require.NotZero(t, stray(was, owners(left, keys), nodes[5]))
			} else {
				require.Zero(t, stray(was, owners(left, keys), nodes[5]))
				require.Equal(t, was, owners(left.With(nodes[5]), keys))
			}
		})
	}
}

func TestReplicas(t *testing.T) {
	nodes, keys := nodeNames(12, 0), keySets()["random"][:2000]
	found := 0
	for _, p := range peers {
		r, ok := p.make(nodes).(replicator)
		if !ok {
			continue
		}
		found++
		var buf [3]string
		for _, key := range keys {
			replicas := r.AppendReplicas(buf[:0], key, 3)
			require.Len(t, replicas, 3, p.name)
			require.Subset(t, nodes, replicas, p.name)
			require.Equal(t, r.Owner(key), replicas[0], p.name)
			slices.Sort(replicas)
			require.Len(t, slices.Compact(replicas), 3, p.name)
		}
	}
	require.Equal(t, 4, found, "hashring, serialx twice, authzed")
}

// What is shared answers with a member while nodes come and go, and at the end as if none had. It means most with -race.
func TestShared(t *testing.T) {
	nodes, keys := nodeNames(12, 0), keySets()["random"][:1000]
	for _, p := range peers {
		if p.kind == yardstick {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			s := p.share(nodes)
			var readers sync.WaitGroup
			defer readers.Wait()
			for range 2 {
				readers.Go(func() {
					for _, key := range keys {
						owner := s.Owner(key)
						if owner != joiner && !slices.Contains(nodes, owner) {
							t.Errorf("%q is nobody", owner)
						}
					}
				})
			}
			for range 10 {
				require.True(t, s.With(joiner) == s)
				require.True(t, s.Without(joiner) == s)
			}
			readers.Wait()
			require.Equal(t, owners(p.make(nodes), keys), owners(s, keys))
		})
	}
}

// The yardstick is hashring's own ring, searched otherwise.
func TestSortSearchIsHashring(t *testing.T) {
	for _, n := range []int{1, 2, 100} {
		nodes := nodeNames(n, 3)
		require.Equal(t, owners(hashringPeer.make(nodes), keySets()["path"]), owners(sortSearchPeer.make(nodes), keySets()["path"]))
	}
}

func TestKeysAndNodes(t *testing.T) {
	for name, keys := range keySets() {
		require.Len(t, keys, 1<<16)
		for _, key := range keys {
			if name == "path" {
				require.Len(t, key, 60)
			} else {
				require.GreaterOrEqual(t, len(key), 16)
				require.LessOrEqual(t, len(key), 24)
			}
		}
		distinct := slices.Clone(keys)
		slices.Sort(distinct)
		require.Len(t, slices.Compact(distinct), 1<<16)
	}
	all := append(slices.Concat(nodeNames(1000, 0), nodeNames(1000, 99)), joiner)
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 2001)
}

// The measure of quality is right where the answer is known: for a placement that gives node i the keys of residue i,
// and one in which one node has all.
func TestQualityOfKnownPlacements(t *testing.T) {
	nodes := nodeNames(4, 0)
	even := []string{nodes[0], nodes[1], nodes[2], nodes[3], nodes[0], nodes[1], nodes[2], nodes[3]}
	peak, squares := spreadOf(even, 4)
	require.Equal(t, 1.0, peak)
	require.Zero(t, squares)

	one := slices.Repeat([]string{nodes[2]}, 8)
	peak, squares = spreadOf(one, 4) // ratios 4, 0, 0, 0
	require.Equal(t, 4.0, peak)
	require.Equal(t, 9.0+1+1+1, squares)

	require.Equal(t, 0, moved(even, even))
	require.Equal(t, 6, moved(even, one))
	require.Equal(t, 4, stray(even, one, nodes[0]), "from the node that changed is no stray")
	require.Equal(t, 0, stray(even, one, nodes[2]), "nor to it")
}

// What BenchmarkQuality reports is what theory expects, of 64 rings of 10 nodes. Names and keys are fixed, so chance can
// not fail it: limits are three times what 640 shares deviate by.
func TestQualityIsNearTheory(t *testing.T) {
	if testing.Short() {
		t.Skip("counts two million keys for each peer, three times")
	}
	const n, keys = 10.0, 1 << 15
	sampling := (n - 1) / keys                             // variance of n counts of random keys, over their squared mean
	theory := 100 * math.Sqrt(sampling+(n-1)/(n*points+1)) // and of arcs between random points
	for _, p := range peers {
		if p.kind == yardstick {
			continue
		}
		q := qualityOf(p, n)
		t.Logf("%-17s deviation %5.2f %%, peak/mean %.3f, join %5.2f %%, leave %5.2f %%, stray %5.2f %%",
			p.name, q.deviation, q.peak, q.join, q.leave, q.stray)
		switch {
		case p.kind != ring:
			require.InEpsilon(t, 100*math.Sqrt(sampling), q.deviation, 0.085, p.name)
		case p.name == groupcachePeer.name: // CRC-32 of short names is less even than random points
			require.Greater(t, q.deviation, 1.5*theory, p.name)
		default:
			require.InEpsilon(t, theory, q.deviation, 0.085, p.name)
		}
		if p.name != groupcachePeer.name {
			require.InEpsilon(t, 100/(n+1), q.join, 0.06, p.name)
		}
		if p.kind == jump {
			require.Greater(t, q.stray, 30.0, p.name)
			continue
		}
		require.InEpsilon(t, 100/n, q.leave, 0.06, p.name)
		require.Zero(t, q.stray, p.name)
	}
}
